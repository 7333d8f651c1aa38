"""The picture of a simulation: freshness over the budget, and whether estimates come true."""

from collections.abc import Sequence
from pathlib import Path
from statistics import mean, stdev

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from bestbefore.simulator import Result
from bestbefore.simulator.result import CALIBRATION

_SIZE_IN, _DPI = (12.5, 5.0), 130
_INK, _GRID = "#333333", "#E4E4E4"
# The area of a dot that stands for all answers of a policy, in square points.
_ALL_ANSWERS = 400


def draw(results: Sequence[Result], path: Path) -> None:
    """Write the picture; the ending of the path says in which format."""
    figure = Figure(figsize=_SIZE_IN, dpi=_DPI, facecolor="white")
    by_budget = figure.add_axes((0.06, 0.12, 0.40, 0.78))
    reliability = figure.add_axes((0.53, 0.12, 0.29, 0.78))
    names = _by_last_freshness(results)
    for number, name in enumerate(names):
        colour = colormaps["tab20" if len(names) > 10 else "tab10"](number)
        own = [result for result in results if result.policy == name]
        _plot(by_budget, own, name, colour)
        _plot_reliability(reliability, own, colour)
    seeds = len({result.seed for result in results})
    _frame(by_budget, f"Freshness of the answers by refresh budget (mean, spread of {seeds} seeds)")
    by_budget.set_xlabel("refresh budget γ per evaluation", color=_INK)
    by_budget.set_ylabel("freshness", color=_INK)
    by_budget.xaxis.set_major_locator(MaxNLocator(integer=True))
    _frame_reliability(reliability)
    figure.legend(loc="upper left", bbox_to_anchor=(0.83, 0.91), frameon=False, fontsize=9)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


def _by_last_freshness(results: Sequence[Result]) -> list[str]:
    """The policies as their lines end, the highest first, as the legend should list them."""
    largest = max(result.budget for result in results)
    ends: dict[str, list[float]] = {}
    for result in results:
        if result.budget == largest:
            ends.setdefault(result.policy, []).append(result.freshness or 0.0)
    return sorted(ends, key=lambda name: -mean(ends[name]))


def _plot(axes: Axes, results: Sequence[Result], name: str, colour: object) -> None:
    groups: dict[int, list[float]] = {result.budget: [] for result in results}
    for result in results:
        if result.freshness is not None:
            groups[result.budget].append(result.freshness)
    budgets = sorted(groups)
    centre = [mean(groups[budget]) if groups[budget] else float("nan") for budget in budgets]
    spread = [stdev(groups[budget]) if len(groups[budget]) > 1 else 0.0 for budget in budgets]
    axes.errorbar(
        budgets, centre, yerr=spread, label=name, color=colour, marker="o", markersize=4, capsize=2
    )


def _plot_reliability(axes: Axes, results: Sequence[Result], colour: object) -> None:
    """The share of correct answers over what was predicted: a dot per tenth, of all runs."""
    tenths = [[result.calibration[name] for name in CALIBRATION] for result in results]
    answers, predicted, correct = np.sum(tenths, axis=0)
    some = answers > 0
    answers, predicted, correct = answers[some], predicted[some], correct[some]
    area = _ALL_ANSWERS * answers / answers.sum()
    axes.plot(predicted / answers, correct / answers, color=colour, linewidth=1)
    axes.scatter(
        predicted / answers, correct / answers, s=area, color=colour, alpha=0.6, clip_on=False
    )


def _frame_reliability(axes: Axes) -> None:
    axes.plot([0, 1], [0, 1], color=_INK, linewidth=0.8, linestyle=":", zorder=0)
    _frame(axes, "Do estimates come true? (a dot's area: its answers)")
    axes.set_xlabel("estimated probability that an answer is fresh", color=_INK)
    axes.set_ylabel("correct answers", color=_INK)
    axes.set_xlim(0.0, 1.02)
    axes.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))


def _frame(axes: Axes, title: str) -> None:
    axes.set_title(title, fontsize=10, color=_INK, loc="left")
    axes.set_ylim(0.0, 1.02)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.grid(color=_GRID)
    axes.spines[["top", "right"]].set_visible(False)
