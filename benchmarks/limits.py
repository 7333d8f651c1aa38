"""Why some cells of the page on EFG, told nothing, cannot be won: bounds and ablations."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from typing import ClassVar, cast

import numpy as np

from benchmarks import columns
from benchmarks.columns import FILTERED, LEARNED, TRUE, TWITTER, cell, markdown
from bestbefore.arrays import Numbers, Scores
from bestbefore.experiments.runs import Simulation, Task
from bestbefore.experiments.simulation import prepare
from bestbefore.generators import make_traces
from bestbefore.maintenance import resolve_policy
from bestbefore.maintenance.candidates import CandidateSet, Moment
from bestbefore.maintenance.rankers.expected_gain import ExpectedGain
from bestbefore.maintenance.rankers.ranker import Need, only
from bestbefore.simulator.run import PLAIN, TraceView, run

SEEDS, LENGTHS, BUDGET = 5, (1, 4, 16), 5
COUNTED, DRAWN = "the changes counted in the trace", "the rates they are drawn from"
LEARNING = (
    ("`twitter-like`", "twitter-like", {}, ("minutes", 158)),
    ("`poisson changes=poisson`", "poisson", {"changes": "poisson"}, ("duration_ms", 9_480_000)),
)
HARD = (
    *((name, budget) for name in ("DEC40", "DEC70", "INC40", "INC70") for budget in (1,)),
    *((name, budget) for name in ("MIX40", "MIX70") for budget in (1, 3, 5)),
    *((name, budget) for name in ("DS10", "DS20") for budget in (1, 3, 5)),
)

Found = Mapping[str, float]


def what_learning_costs() -> Iterable[str]:
    """Told nothing against told the rates, the longer the more alike."""
    yield f"## What it costs to learn: freshness, γ = {BUDGET}\n"
    yield "`EFG`, told nothing, told the rates that changes are drawn from, and told as above: as"
    yield "often as a unit turns out to change in this trace. The difference is to the second."
    yield "The same data for 4 and 16 times as long; of each the last quarter of the evaluations"
    yield f"counts, so that it is seen what remains when there was time to learn. {SEEDS} data sets"
    yield "each. The difference goes away with time: it is that of what can be known after few"
    yield "refreshes, less than two per unit in the shortest, not of what is made of them.\n"
    head = ["data", "length", "nothing", DRAWN, COUNTED, "nothing − rates"]
    lines = []
    for title, data, parameters, (name, once) in LEARNING:
        for length in LENGTHS:
            of = _gather(_learning, (data, {**parameters, name: once * length}))
            cells = [cell(of[told]) for told in ("nothing", DRAWN, COUNTED)]
            paired = _difference(of["nothing"] - of[DRAWN])
            lines.append([title, f"× {length}", *cells, paired])
    yield markdown(head, lines)


def what_filters_leave() -> Iterable[str]:
    """With a FILTER and little budget: what those could win who know more."""
    yield "## FILTER with little budget: what more knowledge would win\n"
    yield "The cumulative Jaccard distance of `EFG`, told nothing and told true intervals; of `EFG`"
    yield "that refreshes only what has changed, as if told of every change at once; and of someone"
    yield "who sees which rows are wrong, and refreshes those that are needed longest: what γ"
    yield f"refreshes can do at best for what is wrong by now. {SEEDS} data sets each, the first of"
    yield "those above, where the best of the papers' policies are.\n"
    yield "True rates win little: a third at DS20 (γ = 3), a fifth at DS10 (γ = 1), else a tenth"
    yield "at most. Where there is one refresh only, not even news of every change brings what"
    yield "was aimed at, 0.6 of the best of the papers' for DEC and INC and 0.85 for MIX, in four"
    yield "of six cells. With more, most of what there is to be won lies in when a single change"
    yield "comes: a feed of changes would bring it, polls do not.\n"
    head = ["data", "γ", *FILTERING]
    lines = []
    for name, budget in HARD:
        of = _gather(_filtering, (name, budget))
        lines.append([name, str(budget), *(cell(of[told], ".1f") for told in FILTERING)])
    yield markdown(head, lines)


@dataclass(frozen=True)
class SeesChanges:
    """EFG that is told at once of every change, but not what has become of the value."""

    needs: ClassVar[frozenset[Need]] = frozenset({Need.ORACLE, Need.FILTER})

    def score(self, candidates: CandidateSet, moment: Moment) -> Scores:
        """The expected gain of what has changed."""
        return only(candidates.truth[0], ExpectedGain().score(candidates, moment))


@dataclass(frozen=True)
class SeesWrong:
    """Someone who sees which candidates are on the wrong side of the threshold."""

    needs: ClassVar[frozenset[Need]] = frozenset({Need.ORACLE, Need.FILTER})

    def score(self, candidates: CandidateSet, moment: Moment) -> Scores:  # noqa: ARG002
        """For how many evaluations a wrong one is still needed."""
        view, unit = cast("TraceView", candidates.oracle), candidates.unit
        ours, true = view.version[unit], view.remote.version[unit]
        above = [view.background.number[each] > candidates.threshold for each in (ours, true)]
        return only(above[0] != above[1], candidates.remaining.astype(np.float64))


FILTERING = {
    "told nothing": (LEARNED, ExpectedGain()),
    "told true intervals": (TRUE, ExpectedGain()),
    "sees what has changed": (TRUE, SeesChanges()),
    "sees what is wrong": (TRUE, SeesWrong()),
}


def _learning(seed: int, data: str, parameters: Mapping[str, object]) -> Found:
    traces = make_traces(data, seed, **parameters)
    counted, learning = (prepare(traces, intervals=told, **TWITTER) for told in (TRUE, LEARNED))
    drawn = prepare(traces, intervals=traces.interval_ms or {}, **TWITTER)
    found = {"nothing": learning, DRAWN: replace(drawn, setting=PLAIN), COUNTED: counted}
    return {told: _late_freshness(each, seed) for told, each in found.items()}


def _late_freshness(simulation: Simulation, seed: int) -> float:
    freshness = simulation.run_task(Task("EFG", BUDGET, seed)).freshness
    return float(np.nanmean(freshness[-(len(freshness) // 4) :]))


def _filtering(seed: int, data: str, budget: int) -> Found:
    traces, found = make_traces(data, seed), {}
    for name, (told, ranker) in FILTERING.items():
        simulation = prepare(traces, intervals=told, **FILTERED)
        policy = replace(resolve_policy("EFG"), ranker=ranker)
        scenario, setting = simulation.scenario, simulation.setting
        series = run(scenario, policy, budget=budget, seed=seed, setting=setting)
        found[name] = float(series.jaccard.sum())
    return found


def _gather(one: Callable[..., Found], arguments: Sequence[object]) -> Mapping[str, Numbers]:
    """The figures of each seed, by name."""
    with ProcessPoolExecutor(columns.PROCESSES) as pool:
        jobs = [pool.submit(one, seed, *arguments) for seed in range(SEEDS)]
        found = [job.result() for job in jobs]
    return {name: np.array([each[name] for each in found]) for name in found[0]}


def _difference(paired: Numbers) -> str:
    return f"{paired.mean():+.3f} ±{paired.std(ddof=1) / np.sqrt(len(paired)):.3f}"
