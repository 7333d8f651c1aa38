"""The papers' tables, simulated anew: `python -m benchmarks.reproduce [FILE]` writes them.

Every figure is a mean over ten generated data sets, with its standard deviation.
"""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, stdev

import bestbefore
from bestbefore.generators import make_traces
from bestbefore.simulator import Result

SEEDS = 10
TWITTER = {"width": "100s", "slide": "60s"}
BIPARTITE = {"width": "4s", "slide": "1s", "warmup": 0.1}
ACQUA = ("WST", "GNR-RND", "GNR-LRU", "WSJ-RND", "WSJ-LRU", "WSJ-WBM", "WSJ-WBM*", "BST")
MANY = ("RND", "LRU", "SBM-BGP", "IBM-BGP", "FBA(IBM-BGP)")
AGGREGATES = ("RND", "LRU", "SBM-Agg", "IBM-Agg")
FILTERS = (
    "RND",
    "LRU",
    "WBM",
    "Filter",
    "RND.F(fdt=500)",
    "LRU.F(fdt=500)",
    "WBM.F(fdt=500)",
    "LRU.F+(alpha=0.2)",
    "LRU.F+(alpha=0.5)",
    "WBM.F+(alpha=0.2)",
    "WBM.F*(alpha=0.2)",
)
TREND_DATA = ("DEC40", "DEC70", "INC40", "INC70", "MIX40", "MIX70")
SHARE_DATA = tuple(f"DS{share}" for share in range(10, 100, 10))
CACHES = (100, 200, 300)
FETCHING = tuple(
    f"MP({proposer},{ranker},{replacement})"
    for proposer in ("FWSJ", "CWSJ", "AW")
    for ranker in ("LRU", "WBM")
    for replacement in ("LRU", "FRP", "FRP(slowest_first=true)")
)

Figure = Callable[[Result], float | None]


@dataclass(frozen=True)
class Column:
    """One column of a table: a data set, a budget and what is read off its results."""

    title: str
    data: str
    budget: int
    parameters: Mapping[str, object] = field(default_factory=dict)
    options: Mapping[str, object] = field(default_factory=dict)


def main(path: Path) -> None:
    """Simulate everything and write the page."""
    sections = [
        "# The papers' tables, simulated anew\n",
        "Written by `make reproduce`: means of ten generated data sets ± standard deviation.\n",
        *acqua(),
        *planning_ahead(),
        *rank_aggregation(),
        *limited_cache(),
    ]
    path.write_text("\n".join(sections))
    sys.stderr.write(f"wrote {path}\n")


def acqua() -> Iterable[str]:
    """Tables 1 and 2 of acqua, on data like the real and like the synthetic ones."""
    yield "## acqua, tables 1 and 2: freshness\n"
    yield "The paper's real data are imitated by `twitter-like`, its synthetic background, whose"
    yield "changes come at even distances, by `regular=true`.\n"
    columns = [
        Column(f"{kind}, γ = {budget}", "twitter-like", budget, {"regular": regular}, TWITTER)
        for kind, regular in (("real", False), ("synthetic", True))
        for budget in (3, 5, 10)
    ]
    yield table(ACQUA, columns, lambda each: each.freshness)


def planning_ahead() -> Iterable[str]:
    """Figures 2 to 4 of planning-ahead."""
    yield "## planning-ahead, figures 2 and 4: freshness in M:N joins\n"
    settings: list[tuple[str, dict[str, object], int]] = [
        *((f"γ = {budget}", {}, budget) for budget in (5, 10, 15, 20)),
        ("500 edges", {"edges": 500}, 10),
        ("2000 edges", {"edges": 2000}, 10),
        ("Zipf 1", {"skew": 1.0}, 10),
        ("I in 500–2000", {"interval_low_ms": 500, "interval_high_ms": 2000}, 10),
        ("I in 800–1200", {"interval_low_ms": 800, "interval_high_ms": 1200}, 10),
        ("non-hom., γ = 5", {"arrival_factor": 0.95}, 5),
        ("non-hom., γ = 15", {"arrival_factor": 0.95}, 15),
    ]
    columns = [Column(title, "bipartite", b, data, BIPARTITE) for title, data, b in settings]
    yield table(MANY, columns, lambda each: each.freshness)
    yield "## planning-ahead, figure 3: freshness of sums per join key\n"
    summed = {**BIPARTITE, "aggregate": "sum"}
    sparse = [
        Column(f"{edges} edges, γ = {budget}", "bipartite", budget, {"edges": edges}, summed)
        for edges in (100, 200)
        for budget in (3, 5, 10, 20)
    ]
    yield table(AGGREGATES, sparse, lambda each: each.freshness)


def rank_aggregation() -> Iterable[str]:
    """The FILTER experiments, cumulative Jaccard distance with budget 3."""
    yield "## rank-aggregation, figures 3 and 4: cumulative Jaccard distance, γ = 3\n"
    yield "The lower, the better.\n"
    options = {**TWITTER, "condition": ">100000"}
    for names in (TREND_DATA, SHARE_DATA):
        columns = [Column(name, name, 3, {}, options) for name in names]
        yield table(FILTERS, columns, lambda each: each.jaccard, form=".1f")


def limited_cache() -> Iterable[str]:
    """Chapter 6 of the thesis: proposers, rankers and replacement by cache size."""
    yield "## thesis, chapter 6: consistency by cache size, γ = 5\n"
    columns = [
        Column(f"{size} units", "twitter-like", 5, {}, {**TWITTER, "cache_size": size})
        for size in CACHES
    ]
    yield table(FETCHING, columns, lambda each: each.consistency)


def table(
    policies: Sequence[str], columns: Sequence[Column], figure: Figure, *, form: str = ".3f"
) -> str:
    """A table in Markdown, a line per policy."""
    found = [_results(policies, column) for column in columns]
    head = ["policy", *(column.title for column in columns)]
    lines = [head, ["---", *("---:" for _ in columns)]]
    for name in policies:
        cells = [_cell([figure(each) for each in by_policy[name]], form) for by_policy in found]
        lines.append([f"`{name}`", *cells])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _results(policies: Sequence[str], column: Column) -> dict[str, list[Result]]:
    sys.stderr.write(f"{column.data} {column.title} …\n")
    found: dict[str, list[Result]] = {}
    for seed in range(SEEDS):
        traces = make_traces(column.data, seed, **column.parameters)
        results = bestbefore.simulate(
            traces, policies=policies, budgets=[column.budget], seeds=[seed], **column.options
        )
        for each in results:
            found.setdefault(each.policy, []).append(each)
    return found


def _cell(values: Sequence[float | None], form: str) -> str:
    known = [value for value in values if value is not None]
    return f"{mean(known):{form}} ±{stdev(known):{form}}" if len(known) > 1 else "–"


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/reproduction.md"))
