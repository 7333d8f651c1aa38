"""The papers' tables, simulated anew: `python -m benchmarks.reproduce [FOLDER]` writes them.

Every figure is a mean over ten generated data sets, with its standard deviation. A second page has
what comes of a policy that is told nothing, a third how well summaries of a store estimate
freshness; `python -m benchmarks.reproduce docs market-accuracy.md` writes that one alone, and
`… docs told-nothing.md:calibration` one part of a page, which stays as it is otherwise.
"""

import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

from benchmarks import market_accuracy, told
from benchmarks.columns import (
    FILTERED,
    LIMITED,
    MANY_TO_MANY,
    SHARE_DATA,
    SPARSE,
    TREND_DATA,
    TWITTER,
    Column,
    table,
)

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
FETCHING = tuple(
    f"MP({proposer},{ranker},{replacement})"
    for proposer in ("FWSJ", "CWSJ", "AW")
    for ranker in ("LRU", "WBM")
    for replacement in ("LRU", "FRP", "FRP(slowest_first=true)")
)


def main(folder: Path, names: Collection[str] = ()) -> None:
    """Simulate everything, or what some pages tell, and write the pages."""
    pages: dict[str, Callable[[], Iterable[str]]] = {
        "reproduction.md": papers,
        "told-nothing.md": told.page,
        "market-accuracy.md": lambda: market_accuracy.page(folder),
    }
    for name in names or pages:
        page, _, part = name.partition(":")
        path = folder / page
        if part:
            sections = "\n".join(told.PARTS[part]())
            path.write_text(with_part(path.read_text(), sections))
        else:
            path.write_text("\n".join(pages[page]()))
        sys.stderr.write(f"wrote {name} in {folder}\n")


def with_part(page: str, part: str) -> str:
    """A page with the sections of a part of it instead of those of the same titles.

    >>> print(with_part("# A\\n\\n## B\\n\\n1\\n\\n## C\\n\\n2\\n", "## C\\n\\n3\\n"))
    # A
    <BLANKLINE>
    ## B
    <BLANKLINE>
    1
    <BLANKLINE>
    ## C
    <BLANKLINE>
    3
    <BLANKLINE>
    """
    head, *sections = page.split("\n## ")
    texts = {text.partition("\n")[0]: text.strip("\n") for text in sections}
    for text in f"\n{part}".split("\n## ")[1:]:
        texts[text.partition("\n")[0]] = text.strip("\n")
    return "\n\n## ".join([head.strip("\n"), *texts.values()]) + "\n"


def papers() -> Iterator[str]:
    """The tables of the papers."""
    yield "# The papers' tables, simulated anew\n"
    yield "Written by `make reproduce`: means of ten generated data sets ± standard deviation.\n"
    for part in (acqua, planning_ahead, rank_aggregation, limited_cache):
        yield from part()


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
    yield table(MANY, MANY_TO_MANY, lambda each: each.freshness)
    yield "## planning-ahead, figure 3: freshness of sums per join key\n"
    yield table(AGGREGATES, SPARSE, lambda each: each.freshness)


def rank_aggregation() -> Iterable[str]:
    """The FILTER experiments, cumulative Jaccard distance with budget 3."""
    yield "## rank-aggregation, figures 3 and 4: cumulative Jaccard distance, γ = 3\n"
    yield "The lower, the better.\n"
    for names in (TREND_DATA, SHARE_DATA):
        columns = [Column(name, name, 3, {}, FILTERED) for name in names]
        yield table(FILTERS, columns, lambda each: each.jaccard, form=".1f")


def limited_cache() -> Iterable[str]:
    """Chapter 6 of the thesis: proposers, rankers and replacement by cache size."""
    yield "## thesis, chapter 6: consistency by cache size, γ = 5\n"
    yield table(FETCHING, LIMITED, lambda each: each.consistency)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs"), sys.argv[2:])
