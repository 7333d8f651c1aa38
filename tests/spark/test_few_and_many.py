"""Few rows by plans made before, few or many over temporary views: the answers are the same."""

import json
import random
import re
import shutil

import pytest

from bestbefore.engine import answering, query_run
from bestbefore.spark import buffer
from bestbefore.spark.jobs import PlannedAnswers, Planner, ViewJobs

from .conftest import EX, Bench, TableService, query

FEW = {"planned": 50_000, "mixed": 12, "many": 0}
QUERIES = {
    "influencers": query("SELECT DISTINCT ?user ?followers", rest="FILTER(?followers > 200)"),
    "posts": query("SELECT ?user ?post ?followers"),
    "count": query("SELECT ?user (COUNT(?post) AS ?n)", rest="} GROUP BY ?user #"),
    "came": query().replace("RSTREAM", "ISTREAM"),
}


@pytest.fixture
def used(monkeypatch):
    """How often job A and job B ran by plans made before, and over temporary views."""
    counts = dict.fromkeys(("A planned", "A views", "B planned", "B views"), 0)

    def count(name, original):
        def counted(*given, **named):
            found = original(*given, **named)
            counts[name] += found is not None
            return found

        return counted

    planned = count("A planned", answering.planned_statistics)
    monkeypatch.setattr(answering, "planned_statistics", planned)
    monkeypatch.setattr(ViewJobs, "statistics", count("A views", ViewJobs.statistics))
    monkeypatch.setattr(PlannedAnswers, "lines", count("B planned", PlannedAnswers.lines))
    for method in ("lines", "frame"):
        original = getattr(ViewJobs, method)
        monkeypatch.setattr(ViewJobs, method, count("B views", original))
    return counts


def limit_few(monkeypatch, rows):
    for module in (answering, query_run, buffer):
        monkeypatch.setattr(module, "FEW_ROWS", rows)


def fill(bench, seed):
    """Mentions with repeated triples, some windows empty, some files that bring several slides."""
    rng, time = random.Random(seed), 1_000
    for _ in range(3):
        events = []
        for _ in range(rng.randint(1, 9)):
            time += rng.choice([0, 300, 1_200, 4_000])
            post = rng.randint(1, 5)
            events.append((time, f"<{EX}u{rng.randint(0, 9)}> <{EX}isMentionedIn> <{EX}p{post}> ."))
        time += rng.choice([0, 0, 21_000])
        bench.feed(events)
    bench.feed([(time + 60_000, f"<{EX}u1> <{EX}isMentionedIn> <{EX}p1> .")])


def outcome(bench):
    """The answers of all queries, and what is told of them."""
    service = TableService({f"<{EX}u{number}>": number * 100 for number in range(8)})
    jobs = [
        bench.job(
            text.replace(":out", f":{name}"),
            sink={"path": name, "quality": f"{name}-quality", "row_freshness": True},
        )
        for name, text in QUERIES.items()
    ]
    bench.run_together(jobs, service)
    told = [without_times(record) for record in bench.reports]
    return {name: bench.answers(name) for name in QUERIES}, told


def without_times(record):
    """What a record tells but for times that were measured."""
    told = json.loads(record.to_json())
    measured = ("service_s", "answered_ms", "batch_s")
    return {key: value for key, value in told.items() if key not in measured}


def test_answers_and_records_are_the_same_whatever_runs_them(spark, tmp_path, monkeypatch, used):
    found, ran = {}, {}
    for kind in ("planned", "mixed"):
        limit_few(monkeypatch, FEW[kind])
        bench = Bench(spark, tmp_path / kind)
        fill(bench, seed=11)
        used.update(dict.fromkeys(used, 0))
        found[kind], ran[kind] = outcome(bench), dict(used)
    # What came is compared with the answer before, over views.
    assert ran["planned"]["B planned"] == 3 * ran["planned"]["B views"] > 0
    # A triple that came again is found out by a first look at what is new.
    assert ran["planned"]["A planned"] >= 3 * ran["planned"]["A views"] > 0
    for job in "AB":
        assert 0 < ran["mixed"][f"{job} planned"] < ran["planned"][f"{job} planned"]
    assert found["mixed"] == found["planned"]
    assert all(len(answers) > 5 for answers in found["planned"][0].values())


def test_triples_that_came_once_are_not_sorted_and_others_are(
    spark, service, tmp_path, monkeypatch
):
    """Batches with one triple each; the third brings that of the second once more."""
    repeating, original = [], ViewJobs.statistics

    def noted(jobs, *given, **named):
        repeating.append(jobs.compiled.repeating)
        return original(jobs, *given, **named)

    monkeypatch.setattr(ViewJobs, "statistics", noted)
    found = {}
    for kind in ("planned", "many"):
        limit_few(monkeypatch, FEW[kind])
        bench = Bench(spark, tmp_path / kind)
        for number, post in enumerate((1, 2, 2, 4, 5, 6, 7)):
            time = 5_000 * number + 1_000
            bench.feed([(time, f"<{EX}u{post}> <{EX}isMentionedIn> <{EX}p{post}> .")])
        bench.run(bench.job(query("SELECT ?user ?post", width="PT10S", slide="PT5S")), service)
        found[kind] = bench.answers()
    assert found["many"] == found["planned"]
    # One batch finds out and begins anew, some know, and once it has left, all is well again.
    first = repeating.index(True)
    assert repeating[:first] == [False] * first
    assert repeating[first:].count(True) >= 2
    assert repeating[-1] is False


def test_what_earlier_batches_brought_is_looked_at_once(spark, service, tmp_path, monkeypatch):
    """Panes: a wide window, elements out of order, a triple that comes again, merged segments."""
    looked_at, original = [], ViewJobs.statistics

    def noted(jobs, *given, **named):
        looked_at.append(jobs.spark.table("elements").count())
        return original(jobs, *given, **named)

    rng, posts = random.Random(5), iter(range(1_000))
    batches = [
        [(4_000 * number + rng.randint(-3_000, 4_000) + 10_000, next(posts)) for _ in range(4)]
        for number in range(16)
    ]
    batches[3][0] = (batches[2][1][0] + 500, batches[2][1][1])
    monkeypatch.setattr(buffer, "_MOST_SEGMENTS", 7)
    text = query("SELECT DISTINCT ?user ?followers", width="PT15S", slide="PT4S")
    found, told = {}, {}
    for kind in ("without panes", "planned", "many"):
        limit_few(monkeypatch, FEW.get(kind, FEW["planned"]))
        monkeypatch.setattr(answering, "has_panes", lambda plan, kind=kind: kind in FEW)
        if kind == "many":
            monkeypatch.setattr(ViewJobs, "statistics", noted)
        bench = Bench(spark, tmp_path / kind)
        job = bench.job(text, stream={"allowed_lateness": "5s"})
        for part in (batches[:14], batches[14:]):
            for batch in part:
                said = "<{0}u{1}> <{0}isMentionedIn> <{0}p{2}> ."
                bench.feed([(at, said.format(EX, post % 8, post)) for at, post in batch])
            bench.run(job, service)
        found[kind] = bench.answers()
        told[kind] = [without_times(record) for record in bench.reports]
    for kind in FEW.keys() & found.keys():
        assert found[kind] == found["without panes"]
        assert told[kind] == told["without panes"]
    # Only what is new, until a triple comes again; all of it after a restart, then what is new.
    assert looked_at[:4] == [8, 4, 4, 16]
    assert looked_at[-2:] == [28, 4]


def test_what_was_looked_at_is_not_looked_at_again_when_it_is_merged(
    spark, service, tmp_path, monkeypatch
):
    """Merged by the driver and by Spark, the large segment of the first batch with no others."""
    monkeypatch.setattr(buffer, "_MOST_SEGMENTS", 4)
    monkeypatch.setattr(buffer, "_MERGED_AT_LEAST", 2)
    found, merged, looked_at = {}, {}, []
    merge, reduced = buffer.Buffer.merge, answering.Answering._reduced

    def noted(self, spark, new, due):
        looked_at.append(new.elements)
        return reduced(self, spark, new, due)

    for kind in ("planned", "many"):
        limit_few(monkeypatch, FEW[kind])
        names = merged.setdefault(kind, [])

        def listed(self, spark, parts, name, *, names=names, **others):
            names.append(parts)
            return merge(self, spark, parts, name, **others)

        monkeypatch.setattr(buffer.Buffer, "merge", listed)
        monkeypatch.setattr(answering.Answering, "_reduced", noted)
        bench = Bench(spark, tmp_path / kind)
        bench.mention(*((100 * number, number % 8) for number in range(1, 40)))
        for second in range(5, 14):
            bench.mention((second * 1_000, second % 8))
        text = query("SELECT DISTINCT ?user ?followers", width="PT20S", slide="PT1S")
        bench.run(bench.job(text), service)
        found[kind] = bench.answers()
    assert found["planned"] == found["many"]
    assert len(found["many"]) == 12
    assert looked_at == 2 * [39, *[1] * 9]
    assert merged["planned"] == merged["many"]
    # Each takes over the one before, and the two batches since; that of the first has more.
    assert [[name.lstrip("batch-0") for name in parts] for parts in merged["many"]] == [
        ["1", "2", "3"],
        ["4-merged", "4", "5"],
        ["6-merged", "6", "7"],
    ]


@pytest.mark.parametrize("window", ["[RANGE PT4S STEP PT2S]", "[ELEMENTS 6 STEP 4]"])
def test_windows_without_elements_and_windows_of_elements(
    spark, service, tmp_path, monkeypatch, window
):
    """Between two batches all elements leave the buffer, and the next windows hold none."""
    found = {}
    for kind in ("planned", "many"):
        limit_few(monkeypatch, FEW[kind])
        bench = Bench(spark, tmp_path / kind)
        for number, start in enumerate((1_000, 2_500, 31_000, 32_500, 90_000)):
            times = range(start, start + 1_200, 300)
            bench.mention(*((time, (number + time // 300) % 8) for time in times))
        text = re.sub(r"\[RANGE[^]]*\]", window, query("SELECT DISTINCT ?user ?followers"))
        bench.run(bench.job(text, view={"change_interval": "1h"}), service)
        found[kind] = bench.answers()
    assert found["many"] == found["planned"]
    assert any(answer["rows"] for answer in found["many"].values())


def test_plans_that_keep_results_are_not_used_again(bench, service, monkeypatch, used):
    monkeypatch.setattr("bestbefore.spark.jobs.is_reusable", lambda _: False)
    bench.mention((1_000, 1), (2_000, 2))
    bench.mention((6_000, 4), (11_000, 5))
    running = bench.run(bench.job(), service)
    planner = running.processor.answering.planner
    assert isinstance(planner, Planner)
    assert not planner.usable
    assert (used["A planned"], used["B planned"]) == (0, 0)
    assert len(bench.rows()) == 2


def test_what_draws_or_tells_the_time_is_planned_anew(bench, service, used):
    text = query("SELECT ?user ?drawn", rest="BIND(RAND() AS ?drawn)")
    for second in range(1, 30, 5):
        bench.mention((second * 1_000, 1))
    bench.run(bench.job(text), service)
    drawn = [values for rows in bench.rows().values() for _, values in rows]
    assert used["A planned"] == used["B planned"] == 0
    assert len(set(drawn)) == len(drawn) > 3


def test_a_buffer_of_many_batches_lets_go_of_what_no_window_needs(bench, service, monkeypatch):
    monkeypatch.setattr(buffer, "_MOST_SEGMENTS", 4)
    for second in range(1, 18):
        bench.mention((second * 1_000, second % 8))
    running = bench.run(bench.job(query(width="PT6S", slide="PT1S")), service)
    held = sum(segment.elements for segment in running.state.segments)
    # Whenever four segments are there the next one takes over what is still needed of them.
    assert 6 <= held <= 6 + 4
    assert len(bench.rows()[16]) == 6


def test_a_checkpoint_goes_on_without_the_files_of_the_run_before(bench, service, used):
    bench.mention((1_000, 1), (2_000, 2))
    bench.mention((6_000, 4))
    bench.run(bench.job(), service)
    shutil.rmtree(bench.folder / "checkpoint" / "inbox", ignore_errors=True)
    bench.mention((11_000, 5))
    bench.run(bench.job(), service)
    assert used["A planned"] == used["B planned"] == 2
    assert [len(rows) for rows in bench.rows().values()] == [2, 3]
