"""The picture of a simulation: freshness over the budget, a line per policy."""

from collections.abc import Sequence
from pathlib import Path
from statistics import mean, stdev

from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from bestbefore.simulator import Result

_SIZE_IN, _DPI = (8.0, 5.0), 130
_INK, _GRID = "#333333", "#E4E4E4"


def draw(results: Sequence[Result], path: Path) -> None:
    """Write the picture; the ending of the path says in which format."""
    figure = Figure(figsize=_SIZE_IN, dpi=_DPI, facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.09, 0.12, 0.62, 0.78))
    names = _by_last_freshness(results)
    for place, name in enumerate(names):
        colour = colormaps["tab20" if len(names) > 10 else "tab10"](place)
        _plot(axes, [each for each in results if each.policy == name], name, colour)
    _frame(axes, results)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


def _by_last_freshness(results: Sequence[Result]) -> list[str]:
    """The policies as their lines end, the highest first, as the legend should list them."""
    largest = max(each.budget for each in results)
    ends: dict[str, list[float]] = {}
    for each in results:
        if each.budget == largest:
            ends.setdefault(each.policy, []).append(each.freshness or 0.0)
    return sorted(ends, key=lambda name: -mean(ends[name]))


def _plot(axes: Axes, results: Sequence[Result], name: str, colour: object) -> None:
    budgets = sorted({each.budget for each in results})
    groups = [
        [each.freshness for each in results if each.budget == budget and each.freshness is not None]
        for budget in budgets
    ]
    centre = [mean(group) if group else float("nan") for group in groups]
    spread = [stdev(group) if len(group) > 1 else 0.0 for group in groups]
    axes.errorbar(
        budgets, centre, yerr=spread, label=name, color=colour, marker="o", markersize=4, capsize=2
    )


def _frame(axes: Axes, results: Sequence[Result]) -> None:
    seeds = len({each.seed for each in results})
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
