"""The experiments of thesis section 3.5: how well summaries of every size estimate freshness.

Generated shops of 375,000 triples, 150 joins on the subject without and 150 with bound objects, the
truth found by Spark, and summaries of all kinds in many sizes.
"""

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import prod
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pyspark.sql import DataFrame

from bestbefore.arrays import Booleans, Numbers
from bestbefore.generators import ShopStore
from bestbefore.generators.stores import DATA, STALE, write_store
from bestbefore.market import (
    Star,
    Summary,
    build_summaries,
    estimate,
    pack_summary,
    read_shape,
    read_store,
    resolve_summaries,
    true_star_estimates,
)
from bestbefore.spark.session import local_session, session_like, tune

SCATTER, SIZES = "market-scatter.png", "market-sizes.png"
SEEDS = (0, 1, 2, 3)
_INK, _GRID = "#333333", "#E4E4E4"
_FLOOR, _OURS = "independence", "pairs"
_COLOURS = {
    "SPM": "#7F7F7F",
    "APF": "#BCBD22",
    "CS": "#8C564B",
    "histogram, similarity": "#D62728",
    "histogram, freshness": "#FF7F0E",
    "QTree": "#1F77B4",
    _OURS: "#2CA02C",
}
_TERMS = (300, 1_000, 3_000, 10_000, 30_000, 200_000)
Sweeps = Mapping[str, Sequence[str]]
"""Summaries by their kind."""

SWEEPS: Sweeps = {
    "SPM": ["SPM"],
    "APF": ["APF"],
    "CS": ["CS"],
    "histogram, similarity": [f"histogram-similarity(buckets={n})" for n in (5, 10, 20, 40)],
    "histogram, freshness": [
        f"histogram(buckets={n},terms={terms})"
        for n, terms in zip((5, 10, 20, 40, 60, 120), _TERMS, strict=True)
    ],
    "QTree": [
        f"QTree(bmax={n},terms={terms})"
        for n, terms in zip((100, 300, 1_000, 2_000, 4_000, 8_000), _TERMS, strict=True)
    ],
    _OURS: [f"pairs(surprises=0,pairs={n})" for n in (0, 10, 40, 100)]
    + [f"pairs(surprises={n})" for n in (0, 1_000, 10_000, 30_000, 100_000, 300_000)],
}
TOGETHER = 0.5
DEPENDENT: Sweeps = {
    "SPM": ["SPM"],
    "CS": ["CS"],
    "histogram, freshness": ["histogram(buckets=40,terms=10000)"],
    "QTree": ["QTree(bmax=1000,terms=3000)"],
    _OURS: ["pairs(surprises=0)", "pairs(surprises=30000)"],
}
_ALL, _FEW, _MANY = "all queries", 30, 300
_ENOUGH = f"{_FEW} rows or more"


@dataclass(frozen=True)
class Point:
    """A summary of some kind: its name and size, and its estimates of the queries' freshness."""

    kind: str
    name: str
    size: int
    estimates: Numbers


@dataclass(frozen=True)
class Findings:
    """The true freshness of the queries, the rows of their answers, and all estimates.

    So many `free` queries come first, those that bind no object. The first of the `points` is what
    independence would make of the exact freshness of every triple pattern.
    """

    truth: Numbers
    rows: Numbers
    free: int
    points: Sequence[Point]

    @property
    def parts(self) -> dict[str, Booleans]:
        """The queries by what they bind, and by how many rows their answers have."""
        free = np.arange(len(self.truth)) < self.free
        few, many = self.rows < _FEW, self.rows > _MANY
        return {
            _ALL: np.ones_like(free),
            "no object bound": free,
            "objects bound": ~free,
            f"fewer than {_FEW} rows": few,
            f"{_FEW} to {_MANY} rows": ~few & ~many,
            f"more than {_MANY} rows": many,
            _ENOUGH: ~few,
        }


def errors(stores: Sequence[Findings], place: int, part: str) -> Numbers:
    """The error of a point in each of several stores."""
    return np.array([error_together([one], place, part) for one in stores])


def error_together(stores: Sequence[Findings], place: int, part: str) -> float:
    """The normalised root mean square deviation (equation 3.2), over the queries of all stores.

    Freshness ranges from 0 to 1.
    """
    apart = [(one.points[place].estimates - one.truth)[one.parts[part]] for one in stores]
    return float(np.sqrt(np.mean(np.concatenate(apart) ** 2)))


def page(folder: Path) -> Iterator[str]:
    """The page on accuracy; its figures are written into the folder."""
    stores = [findings(SWEEPS, seed=seed) for seed in SEEDS]
    draw_scatter(stores[0], folder / SCATTER)
    draw_sizes(stores, folder / SIZES)
    free, everything = stores[0].free, len(stores[0].truth)
    yield "# How well summaries estimate freshness\n"
    yield "Written by `make reproduce`: the experiments of thesis section 3.5 on generated shops"
    yield f"(`bestbefore generate shop`, seeds {SEEDS[0]} to {SEEDS[-1]}), each with {free} joins"
    yield f"on the subject that bind no object and {everything - free} that do."
    yield "[What it is about](market.md).\n"
    yield f"![Predicted against real freshness, seed {SEEDS[0]}]({SCATTER})\n"
    yield f"![Normalised RMSD against the size of the summary]({SIZES})\n"
    yield "## By store\n"
    yield "Normalised RMSD of the estimated freshness, by kind and size, over all queries of each"
    yield "store; the means ± standard deviation over stores. The first line is no summary: it"
    yield "knows the exact freshness of every triple pattern of a query, and multiplies these.\n"
    yield from _table_by_store(stores)
    parts = [part for part in stores[0].parts if part not in (_ALL, _ENOUGH)]
    number = {part: sum(int(one.parts[part].sum()) for one in stores) for part in parts}
    told = ", ".join(f"{count} {part}" for part, count in number.items())
    yield "## By what a query binds, and by how many rows it has\n"
    yield f"Over the queries of all stores together: {told}.\n"
    yield from _table_by_query(stores, parts)
    yield "## At equal size\n"
    yield "Each of the thesis' summaries, and the largest of `pairs` that is no larger, with their"
    yield "means over stores; and in how many stores the latter is no worse, to four digits:\n"
    yield from _table_by_size(stores)
    yield "## Where triples of one subject tend to be stale together\n"
    yield f"Seed {SEEDS[0]} with `--set dependence={TOGETHER}`:\n"
    dependent = [findings(DEPENDENT, dependence=TOGETHER)]
    yield from _table_by_query(dependent, (_ALL, "no object bound", "objects bound"))


def _table_by_store(stores: Sequence[Findings]) -> Iterator[str]:
    seeds = " | ".join(f"seed {seed}" for seed in SEEDS)
    yield f"| summary | bytes | {seeds} | mean | mean, {_ENOUGH} |"
    yield "|---|---|" + "---|" * (len(stores) + 2)
    for place, point in enumerate(stores[0].points):
        own, enough = (errors(stores, place, part) for part in (_ALL, _ENOUGH))
        cells = " | ".join(f"{error:.4f}" for error in own)
        means = " | ".join(f"{one.mean():.4f} ± {one.std():.4f}" for one in (own, enough))
        yield f"| {_named(point)} | {_shown(_size(stores, place))} | {cells} | {means} |"
    yield ""


def _table_by_query(stores: Sequence[Findings], parts: Sequence[str]) -> Iterator[str]:
    yield f"| summary | bytes | {' | '.join(parts)} |"
    yield "|---|---|" + "---|" * len(parts)
    for place, point in enumerate(stores[0].points):
        cells = " | ".join(f"{error_together(stores, place, part):.4f}" for part in parts)
        yield f"| {_named(point)} | {_shown(_size(stores, place))} | {cells} |"
    yield ""


def _table_by_size(stores: Sequence[Findings]) -> Iterator[str]:
    yield "| the thesis' | bytes | error | `pairs` | bytes | error | stores |"
    yield "|---|---|---|---|---|---|---|"
    points = stores[0].points
    sizes = [_size(stores, place) for place in range(len(points))]
    wrong = [errors(stores, place, _ALL) for place in range(len(points))]
    own = [place for place, point in enumerate(points) if point.kind == _OURS]
    for place, point in enumerate(points):
        fit = [one for one in own if sizes[one] <= sizes[place]]
        if point.kind in (_FLOOR, _OURS) or not fit:
            continue
        best = max(fit, key=lambda one: sizes[one])
        cells = (
            f"{_named(points[one])} | {_shown(sizes[one])} | {wrong[one].mean():.4f}"
            for one in (place, best)
        )
        good = int((np.round(wrong[best], 4) <= np.round(wrong[place], 4)).sum())
        yield f"| {' | '.join(cells)} | {good} of {len(stores)} |"
    yield ""


def _size(stores: Sequence[Findings], place: int) -> float:
    return float(np.mean([one.points[place].size for one in stores]))


def _shown(size: float) -> str:
    return f"{size:,.0f}" if size else "–"


def _named(point: Point) -> str:
    return point.name if point.kind == _FLOOR else f"`{point.name}`"


def findings(sweeps: Sweeps, *, seed: int = SEEDS[0], dependence: float = 0.0) -> Findings:
    """The errors of summaries on a generated shop."""
    generator = ShopStore(dependence=dependence)
    made = generator.make(seed)
    stars = [read_shape(text).stars[0] for text in made.queries]
    with tempfile.TemporaryDirectory() as folder:
        write_store(made, Path(folder))
        spark = tune(session_like(local_session(log=Path(folder) / "spark.log")))
        paths = (str(Path(folder) / name) for name in (DATA, STALE))
        store = read_store(spark, *paths, notice=print).persist()
        truth = true_star_estimates(store, stars)
        floor = Point(_FLOOR, "every pattern exact", 0, _independent(store, stars))
        points = [floor, *_points(sweeps, store, stars)]
        spark.catalog.clearCache()
    freshness, rows = zip(*((one.freshness, one.total) for one in truth), strict=True)
    return Findings(np.array(freshness), np.array(rows), generator.free_queries, points)


def _independent(store: DataFrame, stars: Sequence[Star]) -> Numbers:
    """The freshness of stars if that of each pattern is known, and they are independent."""
    parts = list(
        dict.fromkeys(Star((replace(part, s="?s"),)) for star in stars for part in star.parts)
    )
    known = dict(zip(parts, true_star_estimates(store, parts), strict=True))
    return np.array(
        [
            prod(known[Star((replace(part, s="?s"),))].freshness for part in star.parts)
            for star in stars
        ]
    )


def _points(sweeps: Sweeps, store: DataFrame, stars: Sequence[Star]) -> Iterator[Point]:
    kinds = {name: kind for kind, names in sweeps.items() for name in names}
    for name, summary in build_summaries(store, resolve_summaries(",".join(kinds))).items():
        yield Point(kinds[name], name, len(pack_summary(summary)), _freshness(summary, stars))


def _freshness(summary: Summary, stars: Iterable[Star]) -> Numbers:
    return np.array([estimate(summary, [star]).freshness for star in stars])


def draw_scatter(found: Findings, path: Path) -> None:
    """Figures 3.4 and 3.5: predicted against real freshness, by both kinds of hashing."""
    figure = Figure(figsize=(12.5, 4.4), dpi=130, facecolor="white", layout="constrained")
    axes = figure.subplots(1, 3)
    chosen = {
        "histogram, similarity": "histogram-similarity(buckets=20)",
        "histogram, freshness": "histogram(buckets=20,terms=3000)",
        "pairs": "pairs(surprises=100000)",
    }
    for place, (kind, name) in zip(axes, chosen.items(), strict=True):
        number = next(at for at, one in enumerate(found.points) if one.name == name)
        for part, colour in (("no object bound", _COLOURS[kind]), ("objects bound", _INK)):
            own = found.parts[part]
            place.scatter(
                found.points[number].estimates[own],
                found.truth[own],
                s=14,
                alpha=0.55,
                color=colour,
                label=part,
            )
        place.plot([0, 1], [0, 1], color=_INK, linewidth=0.8, linestyle=":", zorder=0)
        _frame(place, f"{name}: {error_together([found], number, 'all queries'):.3f}")
        place.set_xlabel("predicted freshness", color=_INK)
        place.set_ylabel("real freshness", color=_INK)
        place.legend(frameon=False, fontsize=8, loc="upper left")
    figure.savefig(path)


def draw_sizes(stores: Sequence[Findings], path: Path) -> None:
    """Figure 3.6: the error of every kind of summary against its size, in the mean over stores."""
    figure = Figure(figsize=(12.5, 4.6), dpi=130, facecolor="white", layout="constrained")
    axes = figure.subplots(1, 3, sharey=True)
    numbered = list(enumerate(stores[0].points))[1:]
    for axis, part in zip(axes, (_ALL, "no object bound", "objects bound"), strict=True):
        for kind, points in groupby(numbered, key=lambda one: one[1].kind):
            own = [place for place, _ in points]
            sizes = [_size(stores, place) for place in own]
            means = [errors(stores, place, part).mean() for place in own]
            axis.plot(sizes, means, marker="o", markersize=4, label=kind, color=_COLOURS[kind])
        floor = errors(stores, 0, part).mean()
        axis.axhline(
            floor, color=_INK, linewidth=0.8, linestyle=":", label=stores[0].points[0].name
        )
        _frame(axis, f"Normalised RMSD, {part}")
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_xlabel("bytes of the summary", color=_INK)
    axes[0].legend(frameon=False, fontsize=8)
    figure.savefig(path)


def _frame(axes: Axes, title: str) -> None:
    axes.set_title(title, fontsize=10, color=_INK, loc="left")
    axes.grid(color=_GRID)
    axes.spines[["top", "right"]].set_visible(False)
