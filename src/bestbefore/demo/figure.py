"""The picture of the demo: how fresh the answers of each contender were, second by second."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

from matplotlib.axes import Axes  # noqa: E402 - the backend comes first
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.ticker import PercentFormatter  # noqa: E402

from bestbefore.demo.live_run import Run  # noqa: E402
from bestbefore.demo.scores import score  # noqa: E402

_INK, _FAINT = "#333333", "#8A8A8A"
_SIZE_IN, _DPI = (9.0, 5.0), 150
_APART = 0.115


def draw(runs: Sequence[Run], path: Path) -> None:
    """Write the picture as a PNG."""
    figure = Figure(figsize=_SIZE_IN, dpi=_DPI, facecolor="white")
    axes = figure.add_axes((0.075, 0.13, 0.645, 0.68))
    for run in runs:
        _plot(axes, run)
    for run, height in zip(runs, _label_heights(runs), strict=True):
        _label(axes, run, height)
    _frame(axes, runs)
    _title(figure)
    figure.savefig(path)


def _plot(axes: Axes, run: Run) -> None:
    colour = run.contender.colour
    shown = [each for each in run.evaluations if each.true_freshness is not None]
    seconds = [each.offset_s for each in shown]
    estimates = [each.quality.estimated_freshness for each in shown]
    axes.plot(seconds, estimates, color=colour, linewidth=1.0, linestyle=(0, (4, 3)), alpha=0.8)
    truth = [each.true_freshness for each in shown]
    axes.plot(
        seconds, truth, color=colour, linewidth=2.6, marker="o", markersize=4.5, clip_on=False
    )


def _label_heights(runs: Sequence[Run]) -> list[float]:
    """The last values of the lines, moved apart where their labels would overlap."""
    last = [
        next((e.true_freshness for e in reversed(run.evaluations) if e.true_freshness), 0.0)
        for run in runs
    ]
    heights = list(last)
    order = sorted(range(len(runs)), key=lambda place: last[place])
    for below, above in zip(order, order[1:], strict=False):
        heights[above] = max(heights[above], heights[below] + _APART)
    return heights


def _label(axes: Axes, run: Run, height: float) -> None:
    found = score(run)
    end = max((each.offset_s for each in run.evaluations), default=0.0)
    each = f"{found.requests_each:.0f} requests per evaluation"
    place = {"xy": (end, height), "xytext": (14, 0), "textcoords": "offset points"}
    axes.annotate(
        f"{run.contender.name} ({run.contender.policy})",
        **place,
        color=run.contender.colour,
        fontsize=11,
        fontweight="bold",
        verticalalignment="bottom",
        annotation_clip=False,
    )
    axes.annotate(
        f"{found.freshness:.0%} fresh, {each}",
        **place,
        color=_INK,
        fontsize=9,
        verticalalignment="top",
        annotation_clip=False,
    )


def _frame(axes: Axes, runs: Sequence[Run]) -> None:
    end = max((each.offset_s for run in runs for each in run.evaluations), default=1.0)
    axes.set_xlim(0.5, max(end, 1.0))
    axes.set_ylim(0, 1)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_xlabel("seconds since the start of the run, one evaluation per second", color=_INK)
    axes.grid(axis="y", color="#E4E4E4", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=_INK, length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(_FAINT)


def _title(figure: Figure) -> None:
    figure.text(0.03, 0.93, "How much of the answer is still true?", fontsize=15, fontweight="bold")
    figure.text(
        0.03,
        0.87,
        "Answer rows that agree with the endpoint when the answer is written (lines), "
        "and bestbefore's own estimate (dashes)",
        fontsize=9.5,
        color=_INK,
    )
