"""The engine on Spark and the simulator, given the same trace, do the same."""

import numpy as np
import pytest

from tests.one_kernel import (
    BUDGET,
    EX,
    SEED,
    Case,
    TraceService,
    make_traces,
    record_engine,
    simulated,
    times_asked,
    write_intervals,
)
from tests.spark.conftest import query

CASES = [
    Case("WSJ-WBM(fill=true)"),
    Case("FBA(LRU)"),
    Case("LRU.F+", ">30"),
    Case("MP(CWSJ,WBM,FRP)", capacity=5),
    Case("IBM-BGP", linked=True),
    Case("SBM-Agg", linked=True, aggregate="sum"),
    Case("IBM-Agg", linked=True, aggregate="sum"),
    Case("EFG", linked=True, learned=True, aggregate="sum"),
]


def run_engine(bench, traces, case, service):
    stream = zip(traces.stream.ts_ms.tolist(), traces.stream.key, strict=True)
    mentions = [f"<{EX}{key}> <{EX}isMentionedIn> <{EX}p{ts}> ." for ts, key in stream]
    bench.feed(list(zip(traces.stream.ts_ms.tolist(), mentions, strict=True)))
    write_intervals(bench.folder / "intervals.csv")
    value = "?user :owns ?unit . ?unit :price ?n" if case.linked else "?user :hasFollowers ?n"
    if case.aggregate:
        value = f"SELECT ?user (SUM(?n) AS ?sum) {{ {value} }} GROUP BY ?user"
    text = query(
        "SELECT ?user ?sum" if case.aggregate else "SELECT ?user ?n",
        service=value,
        rest=f"FILTER(?n {case.condition})" if case.condition else "",
    )
    view = {} if case.learned else {"interval_file": "intervals.csv"}
    view |= {"capacity": case.capacity} if case.capacity else {}
    view |= {"refresh_key": ["unit"]} if case.linked else {}
    job = bench.job(
        text,
        budget={"refreshes": BUDGET},
        policy={"name": case.policy, "seed": SEED},
        view=view,
    )
    bench.run(job, service)
    return sorted(bench.reports, key=lambda record: record.evaluation)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_same_maintenance_answers_and_estimates(bench, case, monkeypatch):
    traces = make_traces(linked=case.linked)
    scenario, series, expected = simulated(case, traces, monkeypatch)
    service = TraceService(traces, times_asked(scenario, series))
    found = record_engine(monkeypatch)
    records = run_engine(bench, traces, case, service)

    for engine, simulator in zip(found, expected, strict=True):
        assert engine == simulator
    assert [record.evaluation for record in records] == list(scenario.evaluations)
    assert [record.candidates for record in records] == series.candidates.tolist()
    assert [record.elected for record in records] == series.refreshes.tolist()
    assert [record.saved for record in records] == series.saved.tolist()
    assert [record.sets for record in records] == [each["sets"].sizes() for each in expected]
    assert [record.answers for record in records] == (series.correct + series.wrong).tolist()
    estimates = [
        np.nan if record.estimated_freshness is None else record.estimated_freshness
        for record in records
    ]
    assert estimates == pytest.approx(series.estimated.tolist(), abs=1e-6, nan_ok=True)
    rows = bench.rows()
    for number, correct in zip(scenario.evaluations, series.correct, strict=True):
        truth = service.values(scenario.window.closing(number))
        assert correct == sum(is_right(row, truth, case, traces) for row in rows[number])


def is_right(row, truth, case, traces):
    """Whether a row of the answer is one that the service would give now."""
    user, value = row[0].removeprefix(EX), row[1]
    if case.condition:
        return int(truth[user]) > 30
    if not case.linked:
        return truth[user] == value
    links = zip(traces.links.join_key, traces.links.unit, strict=True)
    if case.aggregate:
        return int(value) == sum(int(truth[unit]) for key, unit in links if key == user)
    return value in {truth[unit] for key, unit in links if key == user}
