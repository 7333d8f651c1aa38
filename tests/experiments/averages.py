"""Simulations over several generated data sets, averaged."""

from collections.abc import Callable, Sequence
from statistics import mean

from bestbefore.experiments import simulate
from bestbefore.generators import make_traces
from bestbefore.simulator import Result

Table = dict[tuple[str, int], float]


def averages(
    name: str,
    *,
    policies: Sequence[str],
    budgets: Sequence[int],
    seeds: int,
    figure: Callable[[Result], float | None] = lambda each: each.freshness,
    parameters: dict[str, object] | None = None,
    **settings: object,
) -> Table:
    """The mean of a figure per policy and budget; every seed has a data set of its own."""
    results: list[Result] = []
    for seed in range(seeds):
        traces = make_traces(name, seed, **(parameters or {}))
        results += simulate(traces, policies=policies, budgets=budgets, seeds=[seed], **settings)  # type: ignore[arg-type]
    found: dict[tuple[str, int], list[float]] = {}
    for each in results:
        found.setdefault((each.policy, each.budget), []).append(figure(each) or 0.0)
    return {key: mean(values) for key, values in found.items()}
