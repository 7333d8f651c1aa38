"""Why some cells of the page on EFG, told nothing, cannot be won: bounds and ablations."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, ClassVar
from unittest import mock

import numpy as np

import bestbefore
from benchmarks import columns
from benchmarks.columns import (
    BIPARTITE,
    LEARNED,
    PAPERS,
    TRUE,
    TWITTER,
    cell,
    markdown,
)
from bestbefore.arrays import Integers, Numbers, Scores
from bestbefore.experiments.runs import Simulation, Task
from bestbefore.experiments.simulation import prepare
from bestbefore.generators import make_traces
from bestbefore.maintenance import election, resolve_policy
from bestbefore.maintenance.allocation import elect_flexibly
from bestbefore.maintenance.candidates import CandidateSet, Moment
from bestbefore.simulator.run import PLAIN, run
from bestbefore.view import ChangeRates

SEEDS, LENGTHS, BUDGET = 5, (1, 4, 16), 5
COUNTED, DRAWN = "the changes counted in the trace", "the rates they are drawn from"
LEARNING = (
    ("`twitter-like`", "twitter-like", {}, ("minutes", 158)),
    ("`poisson changes=poisson`", "poisson", {"changes": "poisson"}, ("duration_ms", 9_480_000)),
)
LEADS, DISTRIBUTION = (3, 5, 10), "told the distribution of rates"
SHORT_LIVED = {"interval_low_ms": 800, "interval_high_ms": 1200}
BORROWING, PRICED = "FBA(IBM-BGP)", "price(EFG)"

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
            of = gather(_learning, (data, {**parameters, name: once * length}))
            cells = [cell(of[told]) for told in ("nothing", DRAWN, COUNTED)]
            paired = _difference(of["nothing"] - of[DRAWN])
            lines.append([title, f"× {length}", *cells, paired])
    yield markdown(head, lines)


def what_a_lead_takes() -> Iterable[str]:
    """Told nothing against the papers' policies told the truth: with time to learn, or a prior."""
    yield "## 1:1 joins, changes at random: what the lead over the papers' policies lacks\n"
    yield "`EFG`, told nothing, − the best of the papers' policies, told true intervals, as above."
    yield "The aim is 0.015 on average. Once more where `EFG` is told the"
    yield "distribution that the rates of all units are drawn from, but no unit's own: all that"
    yield "can be known of a unit before its first refresh. And once more for data that are 4 times"
    yield f"as long, with all evaluations, those of learning included. {columns.SEEDS} data sets"
    yield "each.\n"
    yield "To know the distribution brings little: it is learned well. What lacks is each"
    yield "unit's own rate, of which the shortest data tell little; the longer ones are enough.\n"
    kinds = {"as above": 1, DISTRIBUTION: 1, "4 times as long": 4}
    lines, means = [], {kind: list[float]() for kind in kinds}
    for title, data, parameters, (name, once) in LEARNING:
        for kind, length in kinds.items():
            given = (data, {**parameters, name: once * length}, kind)
            of = gather(_leading, given, seeds=columns.SEEDS)
            found = []
            for budget in LEADS:
                best = max((of[f"{policy} {budget}"] for policy in PAPERS), key=np.mean)
                found.append(of[f"EFG {budget}"] - best)
            means[kind] += [float(each.mean()) for each in found]
            lines.append([title, kind, *map(_difference, found)])
    yield markdown(["data", "", *(f"γ = {budget}" for budget in LEADS)], lines, names=2)
    told = ", ".join(f"{kind} {np.mean(each):+.3f}" for kind, each in means.items())
    yield f"On average: {told}.\n"


def what_never_lasts() -> Iterable[str]:
    """M:N where nothing is still right at the next evaluation, the longer the better learned."""
    yield "## M:N, I in 800–1200: what it costs to learn that nothing lasts\n"
    yield "Every unit changes about once per evaluation: what is refreshed now is wrong at the"
    yield "next, with γ = 10. Then all that counts is how many rows a unit has a part in now, and"
    yield "`IBM-BGP`, told nothing, ranks by that as soon as it takes all intervals for a slide."
    yield "`EFG` has to find out that nothing lasts, from 10 refreshes per evaluation; until then"
    yield "it gives units that it has not refreshed for long a part of the budget, for what they"
    yield "might be worth later. The ablation, `EFG` for this evaluation alone, ranks by the rows"
    yield "times the probability that they are wrong, and does not lose. The same data for 4 and"
    yield "16 times as long, told nothing; of each, all but the first tenth and the last quarter of"
    yield f"the evaluations. {columns.SEEDS} data sets each. The difference goes away with time.\n"
    head = ["length", "evaluations", *NEVER_LASTING, "`EFG` − `IBM-BGP`", "ablation − `IBM-BGP`"]
    lines = []
    for length in LENGTHS:
        of = gather(_never_lasting, (length,), seeds=columns.SEEDS)
        for part in ("all", "last quarter"):
            paper, ours, now = (of[f"{name}, {part}"] for name in NEVER_LASTING)
            leads = [_difference(each - paper, ".4f") for each in (ours, now)]
            lines.append([f"× {length}", part, *map(cell, (paper, ours, now)), *leads])
    yield markdown(head, lines, names=2)


def what_borrowing_brings() -> Iterable[str]:
    """`price`, which borrows nothing, against FBA, which does, on the non-homogeneous stream."""
    yield f"## Budget over time: `{PRICED}` against `{BORROWING}`\n"
    yield "The non-homogeneous stream, both told true intervals and phases. `FBA` may spend what"
    yield "later evaluations would have, and at the end of a run owes them some; `price` spends"
    yield "only what it has, and at the end has some left. So they make different numbers of"
    yield f"requests per evaluation, in parentheses. `{PRICED}` with as many requests as"
    yield f"`{BORROWING}` is interpolated between γ and γ + 1. `FBA` that borrows nothing plans as"
    yield "ever, and refreshes of what it has chosen for now as much as it has saved and γ allow."
    yield f"{columns.SEEDS} data sets each.\n"
    yield "What is lost to `FBA` is what it borrows: with as many requests there is no difference"
    yield "beyond two standard errors, and without borrowing `price` is better.\n"
    names = [f"`{BORROWING}`", f"`{PRICED}`", f"`{BORROWING}`, borrows nothing"]
    leads = [f"`{PRICED}` − `{BORROWING}`", "with as many requests", "if nothing is borrowed"]
    lines = []
    for budget in (5, 10, 15):
        of = gather(_borrowing, (budget,), seeds=columns.SEEDS)
        told = [f"{cell(of[name])} ({of[f'{name}, spent'].mean():.2f})" for name in names]
        paired = of[names[1]] - of[names[0]], of["as many"] - of[names[0]]
        paired = *paired, of[names[1]] - of[names[2]]
        lines.append([str(budget), *told, *(_difference(each, ".4f") for each in paired)])
    yield markdown(["γ", *names, *leads], lines)


@dataclass(frozen=True)
class ThisEvaluation:
    """EFG for this evaluation alone: the rows that are wrong now."""

    ranks_missing: ClassVar[bool] = True

    def score(self, candidates: CandidateSet, moment: Moment) -> Scores:
        """The rows, times the probability that they are wrong."""
        fresh = candidates.units.fresh_probability(candidates.unit, moment.t_ms)
        return candidates.mappings * (1.0 - fresh)


NEVER_LASTING = {
    "`IBM-BGP`": resolve_policy("IBM-BGP"),
    "`EFG`": resolve_policy("EFG"),
    "`EFG` for this evaluation alone": replace(resolve_policy("EFG"), ranker=ThisEvaluation()),
}


def _learning(seed: int, data: str, parameters: Mapping[str, object]) -> Found:
    traces = make_traces(data, seed, **parameters)
    counted, learning = (prepare(traces, intervals=told, **TWITTER) for told in (TRUE, LEARNED))
    drawn = prepare(traces, intervals=traces.interval_ms or {}, **TWITTER)
    found = {"nothing": learning, DRAWN: replace(drawn, setting=PLAIN), COUNTED: counted}
    return {told: _late_freshness(each, seed) for told, each in found.items()}


def _leading(seed: int, data: str, parameters: Mapping[str, object], kind: str) -> Found:
    traces = make_traces(data, seed, **parameters)
    counted, learning = (prepare(traces, intervals=told, **TWITTER) for told in (TRUE, LEARNED))
    true = np.array(list((traces.interval_ms or {}).values()))
    fit = _fit_to(true) if kind == DISTRIBUTION else ChangeRates._fit
    with mock.patch.object(ChangeRates, "_fit", fit):
        found = _by_budget(learning, "EFG", seed)
    return found | {
        key: each for name in PAPERS for key, each in _by_budget(counted, name, seed).items()
    }


def _by_budget(simulation: Simulation, policy: str, seed: int) -> dict[str, float]:
    tasks = {f"{policy} {budget}": Task(policy, budget, seed) for budget in LEADS}
    return {
        name: float(np.nanmean(simulation.run_task(task).freshness)) for name, task in tasks.items()
    }


def _fit_to(interval_ms: Numbers) -> Callable[[ChangeRates], None]:
    """A fit that knows the change intervals of all units, but not which unit has which."""

    def fit(rates: ChangeRates) -> None:
        distance = np.log(rates.rate) + np.log(interval_ms)[:, None]
        counts = np.bincount(np.abs(distance).argmin(axis=1), minlength=len(rates.rate))
        rates.prior = counts / counts.sum() + 1e-12

    return fit


def _late_freshness(simulation: Simulation, seed: int) -> float:
    freshness = simulation.run_task(Task("EFG", BUDGET, seed)).freshness
    return float(np.nanmean(freshness[-(len(freshness) // 4) :]))


def _never_lasting(seed: int, length: int) -> Found:
    traces = make_traces("bipartite", seed, duration_ms=51_000 * length, **SHORT_LIVED)
    options = {name: each for name, each in BIPARTITE.items() if name != "warmup"}
    simulation, found = prepare(traces, intervals=LEARNED, **options), {}
    for name, policy in NEVER_LASTING.items():
        scenario, setting = simulation.scenario, simulation.setting
        freshness = run(scenario, policy, budget=10, seed=seed, setting=setting).freshness
        count = len(freshness)
        found[f"{name}, all"] = float(np.nanmean(freshness[count // 10 :]))
        found[f"{name}, last quarter"] = float(np.nanmean(freshness[-(count // 4) :]))
    return found


def _borrowing(seed: int, budget: int) -> Found:
    traces = make_traces("bipartite", seed, arrival_factor=0.95)

    def freshness(policy: str, budget: int) -> tuple[float, float]:
        (result,) = bestbefore.simulate(
            traces, policies=[policy], budgets=[budget], seeds=[seed], intervals=TRUE, **BIPARTITE
        )
        return float(result.freshness or 0.0), result.spent

    found = {f"`{name}`": freshness(name, budget) for name in (BORROWING, PRICED)}
    (low, few), (high, more) = found[f"`{PRICED}`"], freshness(PRICED, budget + 1)
    wanted = found[f"`{BORROWING}`"][1]
    with mock.patch.object(election, "elect_flexibly", _without_borrowing(budget)):
        found[f"`{BORROWING}`, borrows nothing"] = freshness(BORROWING, budget)
    spent = {f"{name}, spent": each for name, (_, each) in found.items()}
    as_many = {"as many": low + (high - low) * (wanted - few) / (more - few)}
    return {**{name: each for name, (each, _) in found.items()}, **spent, **as_many}


def _without_borrowing(budget: int) -> Callable[..., Integers]:
    """FBA's election, of which no more is done now than γ and what is saved allow."""

    def elect(*given: Any, pool: int, **named: Any) -> Integers:  # noqa: ANN401 - as FBA calls it
        chosen = elect_flexibly(*given, pool=pool, **named)
        return chosen[: max(0, pool - (given[-1].horizon - 1) * budget)]

    return elect


def gather(
    one: Callable[..., Found], arguments: Sequence[object], *, seeds: int = SEEDS
) -> Mapping[str, Numbers]:
    """The figures of each seed, by name."""
    with ProcessPoolExecutor(columns.PROCESSES) as pool:
        jobs = [pool.submit(one, seed, *arguments) for seed in range(seeds)]
        found = [job.result() for job in jobs]
    return {name: np.array([each[name] for each in found]) for name in found[0]}


def _difference(paired: Numbers, form: str = ".3f") -> str:
    return f"{paired.mean():+{form}} ±{paired.std(ddof=1) / np.sqrt(len(paired)):{form}}"
