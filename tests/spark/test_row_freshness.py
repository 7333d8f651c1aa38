"""How probably each row is fresh, in the answer."""

import pytest

from .conftest import PREFIX, Bench, query

TOLD = {"row_freshness": True}


def run(bench, service, form, **options):
    """Ten seconds after the first window u1 and u2 are old, then u2 is refreshed."""
    bench.mention((1_000, 1), (1_000, 2), (6_000, 1), (6_000, 2), (11_000, 1), (11_000, 2))
    bench.mention((16_000, 3))
    settings = {"policy": {"name": "WSJ-LRU"}, "budget": {"refreshes": 1}, **options}
    bench.run(bench.job(form, **settings), service)


def by_user(answer):
    users = (row["user"]["value"][-2:] for row in answer["rows"])
    return dict(zip(users, answer["fresh"], strict=True))


def test_every_row_tells_how_probably_it_is_fresh(bench, service):
    run(bench, service, query(), sink=TOLD)
    answers = bench.answers()
    for record in bench.reports:
        told = answers[record.evaluation]["fresh"]
        assert len(told) == len(answers[record.evaluation]["rows"]) == record.answers
        assert sum(told) / len(told) == pytest.approx(record.estimated_freshness, abs=1e-5)
    # One is refreshed per evaluation, the other is a slide old.
    last = by_user(answers[3])
    assert max(last.values()) == 1.0
    assert 0 < min(last.values()) < 1.0


def test_without_being_asked_an_answer_does_not_tell(bench, service):
    run(bench, service, query())
    assert all("fresh" not in answer for answer in bench.answers().values())


def test_a_sink_of_sparks_has_the_column(bench, service, tmp_path):
    run(bench, service, query(), sink={**TOLD, "format": "parquet"})
    found = bench.spark.read.parquet(f"{tmp_path}/answers").orderBy("evaluation").collect()
    told = [fresh for row in found for fresh in row["fresh"]]
    assert 0 < min(told) < max(told) == 1.0
    means = [sum(row["fresh"]) / len(row["fresh"]) for row in found]
    estimates = [record.estimated_freshness for record in bench.reports]
    assert means == pytest.approx(estimates, abs=1e-5)
    assert all(len(row["fresh"]) == len(row["rows"]) for row in found)


def test_a_triple_is_as_fresh_as_the_freshest_row_behind_it(bench, service):
    form = "CONSTRUCT { ?user :has ?followers . :all :have :users }"
    run(bench, service, query(form), sink=TOLD)
    answer = bench.answers()[3]
    told = {
        row["subject"]["value"].rpartition("/")[2]: fresh
        for row, fresh in zip(answer["rows"], answer["fresh"], strict=True)
    }
    assert told["all"] == max(told["u1"], told["u2"]) > min(told["u1"], told["u2"])


def test_a_sum_is_as_fresh_as_all_of_its_units_together(spark, service, tmp_path):
    single, summed = (Bench(spark, tmp_path / name) for name in ("single", "summed"))
    for bench, form in ((single, "SELECT ?user"), (summed, "SELECT (SUM(?followers) AS ?sum)")):
        run(bench, service, query(form), budget={"refreshes": 0}, sink=TOLD)
    units = by_user(single.answers()[3])
    # Both were loaded when the view was: equally fresh, and two all the same.
    assert 0 < units["u1"] == units["u2"] < 1
    assert summed.answers()[3]["fresh"] == [pytest.approx(units["u1"] ** 2, abs=1e-5)]


def test_what_needs_no_service_is_fresh(bench):
    window = "FROM NAMED WINDOW :w ON :s [RANGE PT10S STEP PT5S]"
    where = "WHERE { WINDOW :w { ?user :isMentionedIn ?post } }"
    run(bench, None, f"{PREFIX}REGISTER RSTREAM :out AS SELECT ?user {window} {where}",
        policy={}, budget={}, sink=TOLD)  # fmt: skip
    assert [answer["fresh"] for answer in bench.answers().values()] == [
        [1.0] * len(answer["rows"]) for answer in bench.answers().values()
    ]


def test_equal_rows_that_came_share_the_mean_of_theirs(spark, service, tmp_path):
    benches = {name: Bench(spark, tmp_path / name) for name in ("RSTREAM", "ISTREAM")}
    for operator, bench in benches.items():
        text = query("SELECT ?x", rest="BIND(1 AS ?x)").replace("RSTREAM", operator)
        run(bench, service, text, sink=TOLD)
    each, shared = (bench.answers()[2]["fresh"] for bench in benches.values())
    assert min(each) < max(each)
    # Four equal rows, of which two came: which ones, nobody knows.
    assert shared == [pytest.approx(sum(each) / 4, abs=1e-5)] * 2
