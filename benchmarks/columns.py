"""Columns of simulated tables: contenders over several generated data sets, and Markdown."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from statistics import mean, stdev

import bestbefore
from bestbefore.generators import make_traces
from bestbefore.simulator import Result

SEEDS, PROCESSES = 10, 2
TWITTER = {"width": "100s", "slide": "60s"}
BIPARTITE = {"width": "4s", "slide": "1s", "warmup": 0.1}
SUMMED = {**BIPARTITE, "aggregate": "sum"}
FILTERED = {**TWITTER, "condition": ">100000"}
TRUE, LEARNED = "true", "learned"
PAPERS = ("RND", "LRU", "WBM", "WBM(fill=true)")
FILTERS = (
    *(f"LRU.F(fdt={fdt})" for fdt in (100, 200, 500, 1000, 2000)),
    *(f"LRU.F+(alpha={alpha})" for alpha in (0.2, 0.3, 0.5, 0.7)),
    "Filter",
    "WBM.F*",
)

Figure = Callable[[Result], float | None]


@dataclass(frozen=True)
class Column:
    """One column of a table: a data set, a budget and how it is simulated."""

    title: str
    data: str
    budget: int
    parameters: Mapping[str, object] = field(default_factory=dict)
    options: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Contender:
    """A policy, and whether it is told the true change intervals or has to learn them."""

    policy: str
    told: str = TRUE


MANY_TO_MANY = tuple(
    Column(title, "bipartite", budget, parameters, BIPARTITE)
    for title, parameters, budget in (
        *((f"γ = {budget}", {}, budget) for budget in (5, 10, 15, 20)),
        ("500 edges", {"edges": 500}, 10),
        ("2000 edges", {"edges": 2000}, 10),
        ("Zipf 1", {"skew": 1.0}, 10),
        ("I in 500–2000", {"interval_low_ms": 500, "interval_high_ms": 2000}, 10),
        ("I in 800–1200", {"interval_low_ms": 800, "interval_high_ms": 1200}, 10),
        ("non-hom., γ = 5", {"arrival_factor": 0.95}, 5),
        ("non-hom., γ = 15", {"arrival_factor": 0.95}, 15),
    )
)
SPARSE = tuple(
    Column(f"{edges} edges, γ = {budget}", "bipartite", budget, {"edges": edges}, SUMMED)
    for edges in (100, 200)
    for budget in (3, 5, 10, 20)
)
LIMITED = tuple(
    Column(f"{size} units", "twitter-like", 5, {}, {**TWITTER, "cache_size": size})
    for size in (100, 200, 300)
)
TREND_DATA = ("DEC40", "DEC70", "INC40", "INC70", "MIX40", "MIX70")
SHARE_DATA = tuple(f"DS{share}" for share in range(10, 100, 10))

Found = Mapping[Contender, Sequence[Result]]
"""The results of each contender, one per seed."""


def measure(
    columns: Sequence[Column],
    contenders: Sequence[Contender],
    *,
    seeds: int = SEEDS,
    first_seed: int = 0,
) -> list[Found]:
    """What comes of every contender, column by column; every seed has a data set of its own."""
    chosen = range(first_seed, first_seed + seeds)
    runs = [(column, seed) for column in columns for seed in chosen]
    found: list[dict[Contender, list[Result]]] = [
        {each: [] for each in contenders} for _ in columns
    ]
    with ProcessPoolExecutor(PROCESSES) as pool:
        results = pool.map(_simulate, *zip(*runs, strict=True), [contenders] * len(runs))
        for number, by_contender in enumerate(results):
            for contender, result in by_contender.items():
                found[number // seeds][contender].append(result)
            if number % seeds == 0:
                column = columns[number // seeds]
                sys.stderr.write(f"{column.data} {column.title} …\n")
    return list(found)


def _simulate(
    column: Column, seed: int, contenders: Sequence[Contender]
) -> dict[Contender, Result]:
    traces = make_traces(column.data, seed, **column.parameters)
    found = {}
    for told in dict.fromkeys(contender.told for contender in contenders):
        results = bestbefore.simulate(
            traces,
            policies=[each.policy for each in contenders if each.told == told],
            budgets=[column.budget],
            seeds=[seed],
            intervals=told,
            **column.options,
        )
        found.update({Contender(result.policy, told): result for result in results})
    return found


def table(
    policies: Sequence[str], columns: Sequence[Column], figure: Figure, *, form: str = ".3f"
) -> str:
    """A table in Markdown, a line per policy that is told the true intervals."""
    contenders = [Contender(name) for name in policies]
    found = measure(columns, contenders)
    lines = [
        [f"`{each.policy}`", *(cell(map(figure, of[each]), form) for of in found)]
        for each in contenders
    ]
    return markdown(["policy", *(column.title for column in columns)], lines)


def cell(values: Iterable[float | None], form: str = ".3f") -> str:
    """A mean and its standard deviation; a dash where there is nothing to tell."""
    known = [value for value in values if value is not None]
    return f"{mean(known):{form}} ±{stdev(known):{form}}" if len(known) > 1 else "–"


def markdown(head: Sequence[str], lines: Iterable[Sequence[str]], *, names: int = 1) -> str:
    """A table whose first columns are names and whose others are numbers."""
    rule = ["---"] * names + ["---:"] * (len(head) - names)
    return "".join(f"| {' | '.join(line)} |\n" for line in (head, rule, *lines))
