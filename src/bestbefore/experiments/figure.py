"""The picture of a simulation: freshness over the budget, a line per policy."""

from collections.abc import Sequence
from pathlib import Path
from statistics import mean, stdev

from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from bestbefore.simulator import Result

_SIZE_IN, _DPI = (8.0, 5.0), 130
_INK, _GRID = "#333333", "#E4E4E4"


def draw(results: Sequence[Result], path: Path) -> None:
    """Write the picture; the ending of the path says in which format."""
    figure = Figure(figsize=_SIZE_IN, dpi=_DPI, facecolor="white")
    axes = figure.add_axes((0.09, 0.12, 0.62, 0.78))
    names = _by_last_freshness(results)
    for number, name in enumerate(names):
        colour = colormaps["tab20" if len(names) > 10 else "tab10"](number)
        _plot(axes, [result for result in results if result.policy == name], name, colour)
    _frame(axes, results)
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


def _frame(axes: Axes, results: Sequence[Result]) -> None:
    seeds = len({result.seed for result in results})
    axes.set_title(
        f"Freshness of the answers by refresh budget (mean and spread of {seeds} seeds)",
        fontsize=10,
        color=_INK,
        loc="left",
    )
    axes.set_xlabel("refresh budget γ per evaluation", color=_INK)
    axes.set_ylabel("freshness", color=_INK)
    axes.set_ylim(0.0, 1.02)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(color=_GRID)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=9)
