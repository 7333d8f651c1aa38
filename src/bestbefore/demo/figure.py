"""The picture of the demo: how fresh the answers of each contender were, second by second."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from bestbefore.demo.live_run import Run
from bestbefore.demo.scores import score

_INK, _FAINT, _GRID = "#333333", "#8A8A8A", "#E4E4E4"
_SIZE_IN, _DPI = (9.0, 5.0), 150
# The least distance of two labels, as a share of the axis.
_APART = 0.13


def draw(runs: Sequence[Run], path: Path) -> None:
    """Write the picture as a PNG."""
    figure = Figure(figsize=_SIZE_IN, dpi=_DPI, facecolor="white")
    axes = figure.add_axes((0.075, 0.12, 0.605, 0.68))
    for run in runs:
        _plot(axes, run)
    _frame(axes, runs)
    for run, height in zip(runs, _label_heights(runs), strict=True):
        _label(axes, run, height)
    _title(figure)
    figure.savefig(path)


def _plot(axes: Axes, run: Run) -> None:
    colour = run.contender.colour
    seconds = [evaluation.offset_s for evaluation in run.evaluations]
    shares = [(one.quality.estimated_freshness, one.true_freshness) for one in run.evaluations]
    # None, where an answer has no rows, becomes a gap in the line.
    estimates, truth = np.array(shares, dtype=float).reshape(-1, 2).T
    axes.plot(seconds, estimates, color=colour, linewidth=1.0, linestyle=(0, (4, 3)), alpha=0.8)
    axes.plot(seconds, truth, color=colour, linewidth=2.6, marker="o", markersize=5, clip_on=False)


def _label_heights(runs: Sequence[Run]) -> list[float]:
    """The last values of the lines, moved apart where their labels would overlap."""
    last = [
        next((e.true_freshness for e in reversed(run.evaluations) if e.true_freshness), 0.0)
        for run in runs
    ]
    heights = list(last)
    order = sorted(range(len(runs)), key=lambda number: last[number])
    for below, above in pairwise(order):
        heights[above] = max(heights[above], heights[below] + _APART)
    # Not into the title: what would stand above the axis is moved down, and the rest before it.
    highest = 1.0
    for number in reversed(order):
        heights[number] = min(heights[number], highest)
        highest = heights[number] - _APART
    return heights


def _label(axes: Axes, run: Run, height: float) -> None:
    found, contender = score(run), run.contender
    name = f"{contender.name} ({contender.policy})"
    figures = f"{found.freshness:.0%} fresh, {found.requests_each:.0f} requests per evaluation"
    above: dict[str, Any] = {"color": contender.colour, "weight": "bold", "size": 11}
    below: dict[str, Any] = {"color": _INK, "size": 9}
    for text, side, style in ((name, "bottom", above), (figures, "top", below)):
        axes.annotate(
            text,
            (axes.get_xlim()[1], height),
            xytext=(14, 0),
            textcoords="offset points",
            verticalalignment=side,
            annotation_clip=False,
            **style,
        )


def _frame(axes: Axes, runs: Sequence[Run]) -> None:
    end = max((evaluation.offset_s for run in runs for evaluation in run.evaluations), default=1.0)
    axes.set_xlim(0.5, max(end, 1.0))
    axes.set_ylim(0, 1)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_xlabel("seconds since the start of the run (an evaluation every second)", color=_INK)
    axes.grid(axis="y", color=_GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=_INK, length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(_FAINT)


def _title(figure: Figure) -> None:
    title = "How fresh the answers are, evaluation by evaluation"
    figure.text(0.03, 0.925, title, fontsize=15, fontweight="bold")
    below = (
        "Share of the answer's rows that agree with the endpoint when the answer is written"
        " (lines), and bestbefore's estimate of it (dashes)"
    )
    figure.text(0.03, 0.865, below, fontsize=9, color=_INK)
