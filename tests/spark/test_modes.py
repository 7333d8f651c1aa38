"""How a run ends and how time goes on: finite replay, heartbeats, arrival time."""

import json
from collections import Counter
from dataclasses import replace
from time import monotonic, sleep

import pyarrow.parquet as pq
import pytest

from bestbefore.engine import Engine
from bestbefore.errors import StateError, WorkError
from bestbefore.spark.event_lines import elements_of
from bestbefore.time import wall_clock_ms

from .conftest import EX, PREFIX, query

U = [f"{EX}u{number}" for number in range(8)]


def until(condition, seconds=30):
    deadline = monotonic() + seconds
    while not condition():
        assert monotonic() < deadline, "nothing happened"
        sleep(0.02)


@pytest.fixture
def to_the_end(bench):
    return replace(bench.job(), trigger="until-end")


def test_a_finite_run_closes_the_last_windows_once_and_goes_on_soundly(bench, service, to_the_end):
    bench.mention((1_000, 1), (6_000, 2))
    assert bench.run(bench.job(), service).state.next_evaluation == 2
    # (5, 15] is the last window with an element: it closes at 15.
    ended = bench.run(to_the_end, service)
    assert [record.at for record in bench.reports] == [5_000, 10_000, 15_000]
    assert bench.rows()[3] == [(U[2], "200")]
    again = bench.run(to_the_end, service)
    assert again.state == replace(ended.state, views=again.state.views)
    assert len(bench.reports) == 3
    # What is older than the end is late; what is later is not.
    bench.mention((14_000, 3), (16_000, 4))
    later = bench.run(to_the_end, service)
    assert later.state.late == 1
    assert [record.at for record in bench.reports[3:]] == [20_000, 25_000]
    assert bench.rows()[4] == bench.rows()[5] == [(U[4], "400")]


def test_a_crash_while_the_last_windows_close_repeats_just_that(bench, service, to_the_end):
    bench.mention((1_000, 1), (6_000, 2))
    bench.run(bench.job(), service)
    asked = len(service.asked)

    def crashing(answers, batch):
        raise OSError("no space left")

    with pytest.raises(WorkError, match="no space left"):
        bench.run(to_the_end, service, sink=crashing)
    once = len(service.asked)
    assert once > asked
    # Even a run that is not to the end finishes what had begun, before it reads on.
    bench.mention((9_000, 3))
    running = bench.run(bench.job(), service)
    assert sorted(bench.rows()) == [1, 2, 3]
    assert running.state.late == 1
    assert len(service.asked) == once


def test_the_end_of_windows_of_so_many_elements(bench):
    text = query(rest="").replace("[RANGE PT10S STEP PT5S]", "[ELEMENTS 2 STEP 1]")
    text = text.split(" SERVICE")[0].replace("SELECT ?user ?followers", "SELECT ?user") + " }"
    bench.mention((1_000, 1), (2_000, 2), (3_000, 3))
    job = replace(bench.job(text), trigger="until-end")
    bench.run(job)
    bench.run(job)
    assert bench.rows()[3] == [(U[2],), (U[3],)]
    assert len(bench.reports) == 3


@pytest.fixture
def clock():
    """A clock that tests set."""

    class Clock:
        now = 7_000

        def __call__(self):
            return self.now

    return Clock()


def test_a_heartbeat_closes_windows_although_no_element_comes(bench, service, clock):
    bench.mention((1_000, 1), (6_000, 2))
    job = bench.job(
        query={"text": query(), "trigger": "100ms", "heartbeat": "1s"},
        stream={"allowed_lateness": "2s"},
    )
    engine = Engine(bench.spark, clock)
    started = engine.start(job, services={"bkg": service}, on_quality=bench.reports.append)
    with started as running:
        until(lambda: running.state.batch == 0)
        sleep(0.6)
        assert bench.reports == []
        # 1 s of silence and 2 s of patience: the window (-5, 5] is over, (0, 10] is not.
        clock.now = 12_900
        until(lambda: bench.reports)
        clock.now = 13_002
        until(lambda: len(bench.reports) == 2)
        bench.mention((9_000, 3), (10_500, 4), (12_000, 5))
        until(lambda: running.state.elements == 4)
        assert running.state.late == 1
        jobs = bench.spark.sparkContext.statusTracker().getJobIdsForGroup(str(running.query.runId))
        until(lambda: running.query.status["message"].startswith("Waiting"))
    assert [(record.at, record.latency_ms) for record in bench.reports] == [
        (5_000, 7_900),
        (10_000, 3_002),
    ]
    assert [len(answer["rows"]) for answer in bench.answers().values()] == [1, 2]
    # Beats that make nothing due are no jobs: these took in two files.
    assert len(jobs) == 2
    assert running.state.batch == 3
    assert running.state.source_batch == 1


def test_a_heartbeat_that_fails_ends_the_query_and_is_finished_by_the_next_run(
    bench, service, clock
):
    bench.mention((1_000, 1), (4_000, 2))
    job = bench.job(query={"text": query(), "trigger": "100ms", "heartbeat": "1s"})

    def full(answers, batch):
        raise OSError("no space left")

    running = Engine(bench.spark, clock).start(job, services={"bkg": service}, sink=full)
    until(lambda: running.state.batch == 0)
    clock.now = 9_000
    with pytest.raises(WorkError, match="^the query stopped: no space left$"):
        running.wait(60)
    bench.run(replace(job, trigger="available-now"), service)
    assert bench.rows() == {1: [(U[1], "100"), (U[2], "200")]}


def test_arrival_time_is_that_of_the_batch_however_often_it_is_repeated(bench, monkeypatch):
    text = (
        f"{PREFIX}REGISTER RSTREAM :out AS SELECT ?user FROM NAMED WINDOW :w ON :s "
        "[RANGE PT10S STEP PT5S] WHERE { WINDOW :w { ?user :isMentionedIn ?post } }"
    )
    statement = f"<{EX}u1> <{EX}isMentionedIn> <{EX}p> ."
    bench.feed([json.dumps({"data": statement}), json.dumps({"ts": "never", "data": statement})])
    job = replace(bench.job(text, stream={"time": "arrival"}), trigger="until-end")
    before = wall_clock_ms()

    def full(commits, state):
        raise OSError("no space left")

    def crash():
        with monkeypatch.context() as patch:
            patch.setattr("bestbefore.checkpoint.relied_on.Commits.commit", full)
            with pytest.raises(WorkError, match="no space left"):
                bench.run(job)
        (file,) = bench.folder.glob("checkpoint/buffer/*/*.parquet")
        return pq.read_table(file)["time"].to_pylist()

    (time, same_time) = crash()
    assert before <= time == same_time <= wall_clock_ms()
    assert crash() == [time, time]
    bench.run(job)
    assert [record.at for record in bench.reports] == [
        time + 5_000 - time % 5_000 if time % 5_000 else time,
        time + 10_000 - time % 5_000 if time % 5_000 else time + 5_000,
    ]
    assert Counter(map(len, bench.rows().values())) == {1: 2}
    # After that end the clock of what arrives is behind; all the same, nothing is late.
    bench.feed([json.dumps({"data": statement.replace("u1", "u2")})])
    assert bench.run(job).state.late == 0
    assert list(bench.rows().values())[2:] == [[(U[2],)], [(U[2],)]]


STATEMENT = f"<{EX}u1> <{EX}p> <{EX}o> ."
TRIPLE = {"subject": f"{EX}{{s}}", "predicate": f"{EX}p", "object": {"iri": f"{EX}{{o}}"}}


@pytest.mark.parametrize(
    ("kind", "lines", "keys"),
    [
        ("jsonl", [json.dumps({"data": STATEMENT})], {}),
        ("tsv", ["never\t" + STATEMENT.removesuffix(" .").replace(" ", "\t")], {}),
        ("nquads", [f"never\t{STATEMENT}"], {}),
        ("csv", ["s,o", "u1,o"], {"triples": [TRIPLE]}),
        ("json", [json.dumps({"s": "u1", "o": "o"})], {"triples": [TRIPLE]}),
    ],
)
def test_every_format_can_have_the_time_of_arrival(taken_in, kind, lines, keys):
    before = wall_clock_ms()
    (row,), bad = taken_in(lines, format=kind, time="arrival", **keys)
    assert bad == []
    assert before <= row["time"] <= wall_clock_ms()
    assert [row[part] for part in "spo"] == [f"<{EX}{name}>" for name in ("u1", "p", "o")]


def test_a_frame_can_have_the_time_of_arrival(spark):
    terms = [f"<{EX}{name}>" for name in ("u1", "p", "o")]
    (row,) = elements_of(spark.createDataFrame([terms], list("spo")), arrival=True).collect()
    assert row["time"] <= wall_clock_ms()
    assert row["reason"] is None


def test_a_checkpoint_and_a_folder_of_answers_are_for_one_run(bench, service):
    bench.mention((1_000, 1), (6_000, 2))
    job = replace(bench.job(), trigger="1s")
    with Engine(bench.spark).start(job, services={"bkg": service}):
        with pytest.raises(StateError, match="checkpoint is in use by process"):
            bench.run(bench.job(), service)
        with pytest.raises(StateError, match=r"sink.quality.*belongs to .*/checkpoint, and .*/c2:"):
            bench.run(bench.job(checkpoint={"path": "c2"}), service)
    bench.mention((11_000, 1))
    bench.run(bench.job(), service)
    before = bench.answers()
    assert sorted(before) == [1, 2]
    other = bench.job(checkpoint={"path": "c2"})
    bench.run(other, service, overwrite=True)
    assert bench.answers() == before
    with pytest.raises(StateError, match=r"belongs to .*/c2, and this is .*/checkpoint:"):
        bench.run(bench.job(), service)


def test_spark_s_progress_comes_with_the_quality_of_the_answers(bench, service):
    told = []
    job = replace(bench.job(policy={"name": "WSJ-LRU"}), trigger="100ms")
    with Engine(bench.spark).start(job, services={"bkg": service}) as running:
        running.on_progress(lambda progress, figures: told.append((progress, figures)))
        bench.mention((1_000, 1), (4_000, 2), (11_000, 3))
        until(lambda: told)
    progress, figures = told[0]
    assert progress.batchId == 0
    assert progress.numInputRows == 3
    assert (figures.evaluations, figures.rows, figures.refreshes) == (2, 4, 4)
    assert figures.completeness == 1
    assert figures.latency_ms > 1_000_000
    assert 0 < figures.to_dict()["estimated_freshness"] <= 1
