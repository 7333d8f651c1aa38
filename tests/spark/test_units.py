"""Units, capacity, thresholds and allocation on real Spark."""

import json
from collections import Counter
from dataclasses import asdict

import pytest

from bestbefore.errors import StateError, WorkError
from tests.row_service import RowService

from .conftest import EX, INTEGER, Bench, TableService, query

U = [f"{EX}u{number}" for number in range(8)]
LINKED = query("SELECT ?user ?unit ?price", service="?user :owns ?unit . ?unit :price ?price")


class Crash(Exception):
    """The end of the process, as far as the engine can tell."""


def edges(price):
    """User n owns the units n, n + 1 and n + 3; every unit has its price."""
    owned = [(user, (user + step) % 8) for user in range(8) for step in (0, 1, 3)]
    return [
        (f"<{EX}u{user}>", f"<{EX}i{unit}>", f'"{price(unit)}"{INTEGER}') for user, unit in owned
    ]


def joined(mentions, rows, window):
    """The answer of one window, found by nested loops."""
    opening, closing = window
    found = Counter()
    for time, user in mentions:
        for owner, unit, price in rows:
            if opening < time <= closing and owner == f"<{U[user]}>":
                found[U[user], unit[1:-1], price.split('"')[1]] += 1
    return found


MENTIONS = [(1_000, 1), (2_000, 2), (3_000, 1), (6_000, 5), (8_000, 1), (11_000, 0), (14_000, 2)]


def test_rows_link_users_with_units_and_one_request_refreshes_the_rows_of_several(bench):
    service = RowService(edges(lambda unit: unit), key=(1,))
    job = bench.job(
        LINKED,
        view={"refresh_key": ["unit"], "change_interval": "4s"},
        policy={"name": "IBM-BGP"},
        budget={"refreshes": 1},
    )
    bench.mention(*MENTIONS[:4])
    bench.run(job, service)
    answers = bench.answers()
    assert Counter(bench.rows()[1]) == joined(MENTIONS, service.rows, answers[1]["window"])
    # In (−5, 5] u1 has two mappings and u2 one: i2 serves all three, no other unit does.
    assert service.asked == [[(f"<{EX}i2>",)]]
    service.rows = edges(lambda unit: 100 + unit)
    bench.mention(*MENTIONS[4:])
    running = bench.run(job, service)
    # In (0, 10] i2 has four answers, the units of u1 alone three: it is asked for again.
    assert service.asked[1:] == [[(f"<{EX}i2>",)]]
    mixed = edges(lambda unit: 102 if unit == 2 else unit)
    window = bench.answers()[2]["window"]
    assert Counter(bench.rows()[2]) == joined(MENTIONS, mixed, window)
    assert {user for user, _, price in bench.rows()[2] if price == "102"} == {U[1], U[2]}
    assert bench.reports[-1].requests == 1
    assert running.processor.answering.served[0].view.join_key == ("user",)


def test_a_linked_job_with_budget_enough_answers_as_the_service_would(bench):
    service = RowService(edges(lambda unit: unit), key=(1,))
    job = bench.job(
        LINKED,
        view={"refresh_key": ["unit"]},
        policy={"name": "WSJ-LRU"},
        budget={"refreshes": 8},
    )
    bench.mention(*MENTIONS[:5])
    bench.run(job, service)
    # Units change hands, and what was sold last is no longer there.
    service.rows = [(f"<{U[1]}>", unit, price) for _, unit, price in edges(lambda n: n + 7)[:12]]
    bench.mention(*MENTIONS[5:])
    bench.run(job, service)
    bench.mention((21_000, 0))
    bench.run(job, service)
    for number, each in bench.answers().items():
        expected = edges(lambda unit: unit) if number == 1 else service.rows
        assert Counter(bench.rows()[number]) == joined(MENTIONS, expected, each["window"])
    record = bench.reports[-1]
    assert (record.evaluation, record.missing) == (4, 2)
    assert record.completeness == pytest.approx(0)


def crowd():
    """The mentions of five slides: u1, u2 and u0 stay, others come and go."""
    steps = ((1_000, 1), (1_500, 2), (2_000, None), (2_500, 0))
    return [
        (5_000 * slide + step, 3 + slide if user is None else user)
        for slide in range(5)
        for step, user in steps
    ]


def feed_crowd(bench, *, files):
    """Add the crowd in so many files, the last with an element that closes all its windows."""
    mentions = [*crowd(), (26_000, 0)]
    size = -(-len(mentions) // files)
    for first in range(0, len(mentions), size):
        bench.mention(*mentions[first : first + size])


def run_crowd(spark, folder, service, policy):
    folder.mkdir()
    bench = Bench(spark, folder)
    feed_crowd(bench, files=2)
    job = bench.job(policy={"name": policy}, view={"capacity": 3}, budget={"refreshes": 2})
    bench.run(job, service)
    return bench


def test_completeness_first_holds_no_more_than_the_capacity_and_misses_less(
    spark, tmp_path, service
):
    complete = run_crowd(spark, tmp_path / "a", service, "MP(CWSJ,LRU,LRU)")
    fresh = run_crowd(spark, tmp_path / "b", service, "MP(FWSJ,LRU,LRU)")
    for bench in (complete, fresh):
        for record in bench.reports:
            sets = record.sets
            assert sets["A"] + sets["B"] + sets["C"] + sets["D"] <= 3
            assert sets["E"] + sets["F"] + sets["G"] == sum(
                record.window[0] < time <= record.window[1] for time, _ in crowd()
            )
            assert record.missing == sets["G"]
            # Only what the view holds is in the answer, and all of it.
            assert record.answers == sets["E"] + sets["F"]
            assert record.completeness < 1
            assert record.elected <= 2
    assert sum(each.evicted for each in complete.reports) > 0
    better, worse = (
        sum(each.completeness for each in bench.reports) for bench in (complete, fresh)
    )
    assert better > worse


def test_a_key_that_came_to_the_service_after_the_load_is_fetched(bench, service):
    newcomer = f"<{EX}u99>"
    job = bench.job(policy={"name": "CWSJ-LRU"}, budget={"refreshes": 1})
    bench.mention((1_000, 99), (1_500, 98), (1_600, 1), (6_000, 1))
    bench.mention((11_000, 1))
    service.load = TableService(dict(service.followers)).load
    service.followers[newcomer] = 990
    running = bench.run(job, service)
    # One of the two a time; u98 is nowhere and known to be so.
    assert {key for keys in service.asked for key in keys} == {(newcomer,), (f"<{EX}u98>",)}
    assert (f"{EX}u99", "990") in bench.rows()[2]
    assert [record.missing for record in bench.reports] == [1, 0]
    assert bench.reports[1].completeness == 1.0
    assert len(running.processor.answering.served[0].view) == 10


def test_a_filter_policy_asks_for_what_is_nearest_to_the_threshold(bench, service):
    bench.mention((1_000, 1), (1_000, 4), (1_000, 6), (6_000, 2))
    text = query(rest="FILTER(420 < ?followers && ?user != :u5)")
    bench.run(bench.job(text, policy={"name": "Filter"}, budget={"refreshes": 1}), service)
    assert service.asked == [[(f"<{U[4]}>",)]]
    assert bench.rows()[1] == [(U[6], "600")]


def told(bench):
    """What the quality records say, but for how long it took."""
    clocks = ("service_s", "answered_ms", "batch_s")
    return [{**asdict(each), **dict.fromkeys(clocks)} for each in bench.reports]


@pytest.mark.parametrize(
    ("policy", "view"),
    [("MP(CWSJ,WBM,LRU)", {"capacity": 3}), ("FBA(SBM-BGP)", {"change_interval": "6s"})],
)
def test_a_run_that_crashes_between_batches_goes_on_as_if_nothing_had_happened(
    spark, tmp_path, service, policy, view, monkeypatch
):
    monkeypatch.setattr("bestbefore.engine.served_view._SNAPSHOT_EVERY", 1)
    benches, asked = [], []
    for name in ("whole", "crashing"):
        (tmp_path / name).mkdir()
        bench = Bench(spark, tmp_path / name)
        feed_crowd(bench, files=2)
        job = bench.job(policy={"name": policy}, view=view, budget={"refreshes": 2})
        service.asked = []
        if name == "crashing":
            with pytest.raises(WorkError, match="batch 1"):
                bench.run(job, service, sink=crash_at(1, bench))
        running = bench.run(job, service)
        benches.append((bench, running))
        asked.append(service.asked)
    (whole, first), (crashed, second) = benches
    assert asked[0] == asked[1]
    assert whole.rows() == crashed.rows()
    assert told(whole) == told(crashed)
    views = [each.processor.answering.served[0].view for each in (first, second)]
    assert views[0].keys == views[1].keys
    for column in ("refreshed_ms", "best_before_ms", "used_ms", "held"):
        one, other = (getattr(each.units, column) for each in views)
        assert one.tolist() == other.tolist()
    assert first.state.view("bkg").saved == second.state.view("bkg").saved


def crash_at(batch, bench):
    from bestbefore.engine.sinks import sink_of  # noqa: PLC0415
    from bestbefore.job.job import SinkSettings  # noqa: PLC0415

    write = sink_of(SinkSettings(path=str(bench.folder / "answers")), bench.spark)

    def sink(answers, number):
        if number == batch:
            raise Crash(f"batch {batch}")
        write(answers, number)

    return sink


def test_flexible_budget_that_a_crash_wasted_is_spent(bench, service):
    answer, calls = service.fetch, []

    def fetch(keys, **limits):
        calls.append(list(keys))
        found = answer(keys, **limits)
        if len(calls) in (1, 3):
            raise Crash("after the request was sent")
        return found

    service.fetch = fetch
    feed_crowd(bench, files=3)
    job = bench.job(
        policy={"name": "FBA(SBM-BGP)"}, view={"change_interval": "3s"}, budget={"refreshes": 1}
    )
    for _ in range(2):
        with pytest.raises(WorkError, match="after the request was sent"):
            bench.run(job, service)
    running = bench.run(job, service)
    evaluations = len(bench.reports)
    assert evaluations == 5
    # At most the budgets of all evaluations and of one more, to which the last may look ahead.
    spent = sum(map(len, calls))
    assert spent <= evaluations + 1
    assert spent > sum(record.elected for record in bench.reports)
    assert running.state.view("bkg").saved == bench.reports[-1].saved == evaluations - spent
    lines = [line for file in sorted(bench.folder.glob("quality/*.jsonl"))
             for line in file.read_text().splitlines()]  # fmt: skip
    assert [json.loads(line)["saved"] for line in lines] == [each.saved for each in bench.reports]
    assert set(json.loads(lines[0])["sets"]) == set("ABCDEFG")


def test_another_refresh_key_or_too_small_a_capacity_for_a_checkpoint_is_refused(bench, service):
    bench.mention((1_000, 1), (6_000, 2))
    bench.run(bench.job(), service)
    with pytest.raises(StateError, match=r"has units by \?user, the job by \?followers"):
        bench.run(bench.job(view={"refresh_key": ["followers"]}), service)
    with pytest.raises(StateError, match="view.capacity = 5, but the view .* holds 8 units"):
        bench.run(bench.job(policy={"name": "AW-LRU"}, view={"capacity": 5}), service)
