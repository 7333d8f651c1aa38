"""The engine on real Spark, with a service in memory."""

import json
from dataclasses import replace

import pytest

from bestbefore.errors import InputError, WorkError

from .conftest import EX, INTEGER, query

U = [f"{EX}u{number}" for number in range(8)]


def test_windows_are_open_closed_and_wait_for_a_later_element(bench, service):
    bench.mention((1_000, 1), (5_000, 2), (5_001, 3))
    bench.mention((10_000, 4), (10_001, 5))
    bench.run(bench.job(), service)
    # (−5, 5], (0, 10]; the window that closes at 15 waits.
    assert bench.rows() == {
        1: [(U[1], "100"), (U[2], "200")],
        2: [(U[1], "100"), (U[2], "200"), (U[3], "300"), (U[4], "400")],
    }
    answer = bench.answers()[2]
    assert (answer["at"], answer["window"]) == (10_000, [0, 10_000])
    assert answer["rows"][0]["followers"] == {
        "type": "literal",
        "value": "100",
        "datatype": "http://www.w3.org/2001/XMLSchema#integer",
    }


def test_a_width_that_is_no_multiple_of_the_slide(bench, service):
    bench.mention((1_000, 1), (4_000, 2), (7_000, 3), (12_000, 4), (16_000, 5))
    bench.run(bench.job(query(width="PT7S", slide="PT5S")), service)
    # Windows (−2, 5], (3, 10], (8, 15].
    assert bench.rows() == {
        1: [(U[1], "100"), (U[2], "200")],
        2: [(U[2], "200"), (U[3], "300")],
        3: [(U[4], "400")],
    }


def test_slides_beyond_the_width_leave_gaps(bench, service):
    bench.mention((1_000, 1), (4_000, 2), (9_000, 3), (16_000, 4))
    bench.run(bench.job(query(width="PT2S", slide="PT5S")), service)
    assert bench.rows() == {1: [(U[2], "200")], 2: [(U[3], "300")], 3: []}


def test_repeated_triples_count_once_with_their_latest_time(bench, service):
    triple = f"<{EX}u1> <{EX}isMentionedIn> <{EX}p> ."
    bench.feed([(1_000, triple), (1_000, triple), (6_000, triple), (21_000, triple)])
    bench.run(bench.job(), service)
    # One mapping in (−5, 5], (0, 10] and, thanks to its latest time 6, in (5, 15].
    assert {number: len(rows) for number, rows in bench.rows().items()} == {1: 1, 2: 1, 3: 1, 4: 0}


def test_joins_inside_the_window_and_filters_on_both_sides(bench, service):
    bench.feed(
        [
            (1_000, f"<{EX}p1> <{EX}by> <{EX}u3> ."),
            (1_000, f'<{EX}p1> <{EX}lang> "en" .\n<{EX}p2> <{EX}lang> "de" .'),
            (2_000, f"<{EX}p2> <{EX}by> <{EX}u4> ."),
            (3_000, f'<{EX}p3> <{EX}by> <{EX}u1> .\n<{EX}p3> <{EX}lang> "en" .'),
            (6_000, f"<{EX}x> <{EX}by> <{EX}x> ."),
        ]
    )
    text = query(
        "SELECT ?user ?post ?followers",
        window='?post :by ?user ; :lang ?l FILTER(?l = "en")',
        rest="FILTER(?followers >= 300 && STRENDS(STR(?user), '3'))",
    )
    bench.run(bench.job(text), service)
    assert bench.rows() == {1: [(U[3], f"{EX}p1", "300")]}


def test_a_string_that_looks_like_a_variable_of_spark_is_itself(bench, service):
    bench.mention((1_000, 1), (6_000, 2))
    text = query("SELECT ?user ?text", rest='BIND("${spark.app.name} ${x}" AS ?text)')
    bench.run(bench.job(text), service)
    assert bench.rows() == {1: [(U[1], "${spark.app.name} ${x}")]}


def test_construct_gives_each_triple_once(bench, service):
    bench.mention((1_000, 1), (1_500, 1), (2_000, 2), (6_000, 3))
    bench.run(
        bench.job(query("CONSTRUCT { ?user a :Influencer ; :has [ :n ?followers ] }")), service
    )
    rows = bench.rows()[1]
    typed = [row for row in rows if row[2] == f"{EX}Influencer"]
    assert [row[0] for row in typed] == [U[1], U[2]]
    blank = {row[0]: row[2] for row in rows if row[1] == f"{EX}n"}
    # A blank node per solution: u1 has two posts, hence two mappings and two blank nodes.
    assert sorted(blank.values()) == ["100", "100", "200"]


def test_distinct_and_bag_semantics(bench, service):
    bench.mention((1_000, 1), (2_000, 1), (6_000, 1))
    bench.run(bench.job(), service)
    assert bench.rows()[1] == [(U[1], "100")] * 2
    other = bench.job(
        query("SELECT DISTINCT ?user ?followers"),
        checkpoint={"path": "c2"},
        sink={"path": "answers2", "quality": "quality2"},
    )
    bench.run(other, service)
    (file,) = [f for f in bench.folder.glob("answers2/*/*.json") if f.read_text()]
    assert len(json.loads(file.read_text())["rows"]) == 1


def test_a_budget_above_the_candidates_is_as_good_as_asking_for_everything(bench, service):
    bench.mention((1_000, 1), (2_000, 2), (6_000, 3))
    job = bench.job(policy={"name": "WSJ-RND"}, budget={"refreshes": 100})
    bench.run(job, service)
    service.followers = {user: count + 7 for user, count in service.followers.items()}
    bench.mention((11_000, 4))
    bench.run(job, service)
    assert bench.rows()[2] == [(U[1], "107"), (U[2], "207"), (U[3], "307")]


def test_a_budget_of_zero_answers_from_the_initial_view(bench, service):
    job = bench.job(budget={"refreshes": 0})
    bench.mention((1_000, 1), (6_000, 2))
    bench.run(job, service)
    service.followers = dict.fromkeys(service.followers, 1)
    bench.mention((11_000, 3))
    bench.run(job, service)
    assert service.asked == []
    assert bench.rows()[2] == [(U[1], "100"), (U[2], "200")]


def test_a_unit_that_is_gone_leaves_the_answer(bench, service):
    job = bench.job(policy={"name": "WSJ-RND"}, budget={"refreshes": 9})
    bench.mention((1_000, 1), (6_000, 2))
    bench.run(job, service)
    del service.followers[f"<{U[1]}>"]
    bench.mention((11_000, 3))
    bench.run(job, service)
    assert bench.rows()[2] == [(U[2], "200")]


def test_the_budget_holds_and_only_the_window_s_units_are_asked(bench, service):
    bench.mention(*((1_000 + 10 * n, n % 5) for n in range(100)), (6_000, 0))
    bench.mention((11_000, 0), (21_000, 0))
    bench.run(bench.job(policy={"name": "WSJ-LRU"}), service)
    assert [len(keys) for keys in service.asked] == [2, 2, 1, 1]
    assert {key for keys in service.asked for (key,) in keys} <= {f"<{u}>" for u in U[:5]}
    assert [record.budget for record in bench.reports] == [2] * 4


def test_a_service_that_is_down_is_said_and_tried_again(bench, service):
    job = bench.job(policy={"name": "WSJ-RND"}, budget={"refreshes": 9})
    bench.mention((1_000, 1), (6_000, 2))
    bench.run(job, service)
    service.followers[f"<{U[1]}>"] = 111
    service.down = "no connection to 127.0.0.1:9"
    bench.mention((11_000, 3))
    bench.run(job, service)
    record = bench.reports[-1]
    assert record.service_status == "failed: no connection to 127.0.0.1:9"
    assert (record.refreshed, record.failed, record.answers) == (0, 2, 2)
    assert bench.rows()[2] == [(U[1], "100"), (U[2], "200")]
    service.down = ""
    bench.mention((12_000, 1), (16_000, 1), (21_000, 3))
    bench.run(job, service)
    # A unit that failed waits for an evaluation, lest it eats the budget of the others.
    assert (U[1], "100") in bench.rows()[3]
    assert (U[1], "111") in bench.rows()[4]
    assert [record.waiting for record in bench.reports] == [0, 0, 2, 0]


def test_quality_records_are_written_beside_the_answers(bench, service):
    bench.mention((1_000, 1), (1_000, 99), (6_000, 2))
    bench.mention((500, 5), (11_000, 3))
    bench.run(bench.job(), service)
    files = sorted(bench.folder.glob("quality/*.jsonl"))
    records = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    assert [each["evaluation"] for each in records] == [1, 2]
    assert records[0]["estimated_freshness"] == 1.0
    assert records[0]["completeness"] == 0.5
    assert (records[0]["elements"], records[1]["late"]) == (3, 1)
    # u1 aged five seconds of the interval of ten that it is given without further knowledge.
    assert 0.6 < records[1]["estimated_freshness"] <= 1.0


def test_counts_of_a_batch_that_closes_no_window_come_with_the_next_record(bench, service):
    bench.mention((1_000, 1), (3_000, 2))
    bench.mention((2_000, 3), (3_500, 4))
    bench.mention((6_000, 5))
    bench.run(bench.job(), service)
    (record,) = bench.reports
    assert (record.elements, record.late) == (4, 1)


def test_late_elements_are_counted_and_dropped_beyond_the_allowed_lateness(bench, service):
    bench.mention((1_000, 1), (9_000, 2))
    bench.mention((6_000, 3), (7_500, 4), (30_000, 5))
    running = bench.run(bench.job(stream={"allowed_lateness": "2s"}), service)
    assert running.state.late == 1
    # The window (0, 10] was still open: of the two stragglers only the one within 2 s is in it.
    assert (U[4], "400") in bench.rows()[2]
    assert (U[3], "300") not in bench.rows()[2]


def test_wrong_lines_are_counted_and_quarantined_and_the_run_goes_on(bench, service):
    good = f"<{EX}u1> <{EX}isMentionedIn> <{EX}p> ."
    bench.feed(
        [
            (1_000, good),
            json.dumps({"ts": "yesterday", "data": good}),
            json.dumps({"ts": 1_500, "data": "this is no N-Triples"}),
            json.dumps({"ts": 10**14, "data": good}),
            json.dumps({"data": good}),
            "{not json",
            json.dumps({"ts": 2_000, "data": good.replace("u1", "u 1")}),
            json.dumps({"ts": "1970-01-01T00:00:02Z", "data": good.replace("u1", "u2")}),
            (6_000, good),
        ]
    )
    running = bench.run(bench.job(), service)
    assert bench.rows() == {1: [(U[1], "100"), (U[2], "200")]}
    assert (running.state.elements, running.state.quarantined) == (3, 6)
    reasons = sorted(each["reason"] for each in bench.quarantine())
    assert reasons == [
        "'data' is not N-Triples",
        "'data' is not N-Triples",
        "no field 'ts' in a JSON object",
        "no field 'ts' in a JSON object",
        "the timestamp is neither milliseconds nor ISO 8601: yesterday",
        "the timestamp lies ahead of the clock",
    ]
    assert any("yesterday" in each["raw"] for each in bench.quarantine())


def test_hostile_literals_pass_through_unharmed(bench, service):
    hostile = '"\\u0022 } DELETE \\\\ \\U0001F600' + "x" * 200_000 + '"@EN'
    bench.feed(
        [
            (1_000, f"<{EX}u1> <{EX}says> {hostile} ."),
            (1_000, '"' * 100_000),
            (6_000, f"<{EX}x> <{EX}y> <{EX}z> ."),
        ]
    )
    running = bench.run(bench.job(query("SELECT ?t", window="?user :says ?t")), service)
    ((text,),) = bench.rows()[1]
    assert text == '" } DELETE \\ 😀' + "x" * 200_000
    assert running.state.quarantined == 1


def test_a_leap_in_time_does_not_answer_millions_of_empty_windows(bench, service):
    bench.mention((1_000, 1), (10**12, 2), (10**12 + 6_000, 3))
    running = bench.run(bench.job(), service)
    assert running.state.next_evaluation == 200_000_002
    answered = bench.rows()
    assert answered[1] == [(U[1], "100")]
    assert len(answered) < 10
    assert bench.reports[0].skipped_empty > 199_000_000


def test_full_windows_only_and_t0(bench, service):
    text = query()
    bench.mention((3_000, 1), (4_000, 2), (17_500, 3))
    bench.run(bench.job(query={"text": text, "t0": 2_000, "full_windows_only": True}), service)
    assert {number: each["window"] for number, each in bench.answers().items()} == {
        2: [2_000, 12_000],
        3: [7_000, 17_000],
    }


def test_tsv_and_json_ld_sources(bench, service):
    line = f"1000\t<{EX}u1>\t<{EX}isMentionedIn>\t<{EX}p1>"
    later = f"6000\t<{EX}u2>\t<{EX}isMentionedIn>\t<{EX}p1>"
    bench.feed([line, "1000\t<a>\t<b>", "1000\tu1\tp\to", later], name="a.tsv")
    running = bench.run(bench.job(stream={"format": "tsv"}), service)
    assert bench.rows() == {1: [(U[1], "100")]}
    assert running.state.quarantined == 2


def test_json_ld_events(bench, service):
    def event(ts, user):
        return json.dumps(
            {"ts": ts, "data": {"@id": user, f"{EX}isMentionedIn": {"@id": f"{EX}p"}}}
        )

    remote = {"@context": "http://127.0.0.1:9/context", "@id": U[3], "isMentionedIn": "x"}
    bench.feed([event(1_000, U[1]), json.dumps({"ts": 1_000, "data": remote}), event(6_000, U[2])])
    running = bench.run(bench.job(stream={"payload": "json-ld"}), service)
    assert bench.rows() == {1: [(U[1], "100")]}
    assert running.state.quarantined == 1
    assert bench.quarantine()[0]["reason"] == "'data' is not JSON-LD"


def test_a_streaming_dataframe_that_the_caller_hands_over(bench, service):
    (bench.folder / "rows").mkdir()
    rows = [{"ts": 1_000, "s": f"<{U[1]}>", "p": f"<{EX}isMentionedIn>", "o": '"x"'}]
    rows.append({**rows[0], "ts": 6_000})
    lines = "\n".join(json.dumps(each) for each in rows)
    (bench.folder / "rows" / "a.json").write_text(lines)
    schema = "ts long, s string, p string, o string"
    frame = bench.spark.readStream.schema(schema).json(str(bench.folder / "rows"))
    job = bench.job()
    job = replace(job, streams=(replace(job.streams[0], source=None),))
    with pytest.raises(InputError, match="'s' has source = 'dataframe': hand one over"):
        bench.run(job, service)
    bench.run(job, service, streams={"s": frame})
    assert bench.rows() == {1: [(U[1], "100")]}
    static = bench.spark.createDataFrame([], schema)
    with pytest.raises(InputError, match="is not streaming"):
        bench.run(job, service, streams={"s": static})
    with pytest.raises(InputError, match="lacks the column 'o'"):
        bench.run(job, service, streams={"s": frame.drop("o")})


def test_a_stream_folder_that_is_not_there(bench, service):
    job = bench.job(stream={"path": "nowhere"})
    with pytest.raises(InputError, match="no such folder: .*nowhere"):
        bench.run(job, service)


def test_intervals_from_the_service_s_own_column(bench, service):
    service.rows = lambda user: ((user, f'"{service.followers[user] + 60}"{INTEGER}'),)
    bench.mention((1_000, 1), (6_000, 2))
    running = bench.run(bench.job(view={"interval_variable": "?followers"}), service)
    units = running.processor.answering.served[0].view.units
    assert units.interval_ms.tolist()[:3] == [60_000, 160_000, 260_000]


def test_a_failing_sink_ends_the_run_with_one_line(bench, service):
    def full(answers, batch):
        raise OSError("no space left on the sink")

    bench.mention((1_000, 1), (6_000, 2))
    with pytest.raises(WorkError, match="^the query stopped: no space left on the sink$"):
        bench.run(bench.job(), service, sink=full)


@pytest.mark.parametrize("value", ['"abc"', '"x"@en', f"<{EX}iri>", '""', '"1e999"'])
def test_a_value_of_the_wrong_type_costs_its_own_row(bench, service, value):
    window = "?user :score ?n BIND(?n + 1 AS ?more) FILTER(REGEX(STR(?n), '.') && 10 / ?n < 9)"
    score = f"<{EX}score>"
    bench.feed(
        [
            (1_000, f"<{EX}u1> {score} {value} ."),
            (2_000, f'<{EX}u2> {score} "0"{INTEGER} .'),
            (3_000, f'<{EX}u3> {score} "5"{INTEGER} .'),
            (6_000, f"<{EX}u4> {score} {value} ."),
        ]
    )
    job = bench.job(query("SELECT ?user ?more", window=window))
    bench.run(job, service)
    assert bench.rows() == {1: [(f"{EX}u3", "6")]}


def test_the_buffer_keeps_only_what_a_window_can_look_at(bench, service):
    """Other triples are counted, and they move time on."""
    mention = f"<{EX}u1> <{EX}isMentionedIn> <{EX}p> ."
    other = "\n".join(f"<{EX}x{each}> <{EX}likes> <{EX}p> ." for each in range(9))
    bench.feed([(1_000, f"{mention}\n{other}"), (6_000, other)])
    running = bench.run(bench.job(), service)
    (segment,) = running.state.segments
    assert (segment.elements, segment.brought) == (1, 19)
    (record,) = bench.reports
    assert record.elements == 19
    assert bench.rows() == {1: [(f"{EX}u1", "100")]}


def test_a_report_on_content_keeps_all_of_it(bench, service):
    bench.feed([(1_000, f"<{EX}x> <{EX}likes> <{EX}p> ."), (6_000, f"<{EX}x> <{EX}a> <{EX}b> .")])
    running = bench.run(bench.job(query={"text": query(), "report": "non-empty"}), service)
    (segment,) = running.state.segments
    assert (segment.elements, segment.brought) == (2, 2)
    assert sorted(bench.answers()) == [1]
