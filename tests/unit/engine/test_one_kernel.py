"""The engine's view and the simulator's, given the same trace, are maintained in the same way."""

from dataclasses import replace

import pytest

from bestbefore.maintenance import Need, policy_names, resolve_policy
from tests.one_kernel import (
    BUDGET,
    SEED,
    Case,
    TraceService,
    iri,
    make_traces,
    record_engine,
    simulated,
    times_asked,
    write_intervals,
)

from .conftest import query

CASES = [
    Case("WSJ-WBM"),
    Case("WSJ-WBM(fill=true)"),
    Case("WSJ-LRU"),
    Case("GNR-RND"),
    Case("TTL(ttl=12s)"),
    Case("MP(CWSJ,TTL(ttl=12s),LRU)", capacity=6),
    Case("FBA(LRU)"),
    Case("FBA(WBM)"),
    Case("Filter", ">40"),
    Case("LRU.F+", ">30"),
    Case("WBM.F*(alpha=0.5)", "<60"),
    Case("MP(CWSJ,WBM,FRP)", capacity=5),
    Case("MP(CWSJ,LRU,LRU)", capacity=6),
    Case("MP(AW,RND,FRP)", capacity=5),
    Case("IBM-BGP", linked=True),
    Case("SBM-BGP", linked=True),
    Case("FBA(IBM-BGP)", linked=True),
    Case("WSJ-WBM", learned=True),
    Case("EFG"),
    Case("EFG", learned=True),
    Case("EFG", linked=True, learned=True),
    Case("price(EFG)", learned=True),
    Case("MP(AW,EFG,EFG)", capacity=5, learned=True),
    Case("MP(CWSJ,WBM,LRU)", capacity=5, learned=True),
    Case("SBM-Agg", linked=True, aggregate="sum"),
    Case("IBM-Agg", linked=True, aggregate="sum"),
    Case("EFG", linked=True, learned=True, aggregate="sum"),
]


def case_of(policy):
    """A policy by its name, with what it needs of query and view."""
    needs = policy.needs
    aggregate = "sum" if Need.AGGREGATE in needs else None
    return Case(
        policy.name,
        ">30" if Need.FILTER in needs else None,
        capacity=5 if policy.fetches_missing else None,
        linked=aggregate is not None,
        aggregate=aggregate,
    )


def every_policy():
    """All policies that engine and simulator both run, those above left out."""
    policies = map(resolve_policy, policy_names())
    cases = [case_of(policy) for policy in policies if not policy.simulator_only]
    # Who fetches what is missing does not know which units a missing join key has.
    runnable = [case for case in cases if not (case.linked and case.capacity)]
    return [case for case in runnable if case not in CASES and case.policy != "WST"]


def maintained(rig, case, traces, times, folder, monkeypatch):
    """What the engine's view went through, evaluation by evaluation, in one batch."""
    write_intervals(folder / "intervals.csv")
    linked = "?user :owns ?unit . ?unit :price ?price"
    if case.aggregate:
        linked = f"SELECT ?user (SUM(?price) AS ?sum) {{ {linked} }} GROUP BY ?user"
    run = rig(
        case.policy,
        text=query(
            linked if case.linked else "?user :hasFollowers ?followers",
            f"FILTER(?followers {case.condition})" if case.condition else "",
        ),
        budget=BUDGET,
        **({} if case.learned else {"interval_file": str(folder / "intervals.csv")}),
        **({"capacity": case.capacity} if case.capacity else {}),
        **({"refresh_key": ["unit"]} if case.linked else {}),
    )
    run.job = replace(run.job, seed=SEED, view=replace(run.job.view, learned=case.learned))
    run.service = TraceService(traces, times)
    stream = zip(traces.stream.ts_ms.tolist(), traces.stream.key, strict=True)
    done = record_engine(monkeypatch)
    run.run([(ts, iri(key)) for ts, key in stream], batches=[list(range(1, 12))])
    return done


@pytest.mark.parametrize("case", [*CASES, *every_policy()], ids=str)
def test_the_same_elections_evictions_sets_and_estimates(rig, case, tmp_path, monkeypatch):
    traces = make_traces(linked=case.linked)
    scenario, series, expected = simulated(case, traces, monkeypatch)
    assert scenario.evaluations == range(1, 12)
    assert series.refreshes.sum() > 11 or case not in CASES
    times = times_asked(scenario, series)
    found = maintained(rig, case, traces, times, tmp_path, monkeypatch)
    for engine, simulator in zip(found, expected, strict=True):
        assert engine == simulator
    evicts = case in CASES and case.capacity is not None
    assert not evicts or sum(len(outcome["evicted"]) for outcome in found) > 0
