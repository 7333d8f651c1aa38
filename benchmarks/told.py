"""What comes of EFG when it is told nothing, beside the papers' policies, which are told much.

Figures are means over ten generated data sets; differences are paired, with their standard error.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from benchmarks.columns import (
    BIPARTITE,
    FILTERED,
    FILTERS,
    LEARNED,
    LIMITED,
    MANY_TO_MANY,
    PAPERS,
    SEEDS,
    SHARE_DATA,
    SPARSE,
    TREND_DATA,
    TRUE,
    TWITTER,
    Column,
    Contender,
    Figure,
    cell,
    markdown,
    measure,
)
from benchmarks.filter_limits import what_filters_leave
from benchmarks.limits import (
    what_a_lead_takes,
    what_borrowing_brings,
    what_learning_costs,
    what_never_lasts,
)
from benchmarks.regimes import regimes
from bestbefore.arrays import Numbers
from bestbefore.simulator.result import CALIBRATION, Result, calibration_error

INTERVALS, PHASES = "true intervals", "true intervals and phases"
ONE_TO_ONE: tuple[tuple[str, Column, str], ...] = (
    ("`twitter-like`", Column("", "twitter-like", 5, {}, TWITTER), INTERVALS),
    (
        "`twitter-like regular=true`",
        Column("", "twitter-like", 5, {"regular": True}, TWITTER),
        PHASES,
    ),
    ("`poisson`: periodic changes", Column("", "poisson", 5, {}, TWITTER), PHASES),
    (
        "`poisson changes=poisson`",
        Column("", "poisson", 5, {"changes": "poisson"}, TWITTER),
        INTERVALS,
    ),
)
EFG, TOLD_EFG = Contender("EFG", LEARNED), Contender("EFG", TRUE)
BOUND = Contender("BOUND", TRUE)
TTL_MINUTES = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 45, 60, 80, 100, 120, 150)
# It makes no use of change intervals, so that nothing need be learned.
TTLS = tuple(Contender(f"TTL(ttl={minutes}m)") for minutes in TTL_MINUTES)
UNLIMITED, HELD_OUT = 10_000, 100

Values = Mapping[Contender, Numbers]
"""A figure of each contender, with an entry per seed."""
Extra = Callable[[Values], str]


def page() -> Iterable[str]:
    """The page, part by part."""
    yield "# Told nothing\n"
    yield "Written by `make reproduce`: means of ten generated data sets ± standard deviation."
    yield "Differences are paired by data set, ± their standard error.\n"
    yield "`EFG`, the default, learns from its refreshes how often units change, and is told"
    yield "nothing. The papers assume that change intervals are known (`--intervals true`: from"
    yield "the trace) and, where changes are periodic, their phases, which foretell every change;"
    yield "here, of units that change at least four times. What each policy is told is said in"
    yield "every table.\n"
    for part in PARTS.values():
        yield from part()


def one_to_one() -> Iterable[str]:
    """Freshness of 1:1 joins, and how much of what there is to be won is won."""
    yield "## 1:1 joins: freshness\n"
    yield "γ = 3, 5, 10 are about 8, 15 and 30 % of the candidates. `BOUND` knows all arrivals"
    yield "and true change rates, where changes are periodic also their phases: what there is to"
    yield "be won. The gap is that between the best of the papers' policies, told, and `BOUND`.\n"
    papers = [Contender(name) for name in PAPERS]
    contenders = [*papers, *(replace(each, told=LEARNED) for each in papers), EFG, TOLD_EFG, BOUND]
    extras = {
        "`EFG`, told nothing, − best of the papers, told": _lead(EFG, papers),
        "the gap closed by `EFG`, told nothing": _closed(EFG, papers),
        "`EFG`, told as they, − best of the papers, told": _lead(TOLD_EFG, papers),
        "the gap closed by `EFG`, told": _closed(TOLD_EFG, papers),
    }
    for title, column, truth in ONE_TO_ONE:
        yield f"### {title}\n"
        columns = [replace(column, title=f"γ = {b}", budget=b) for b in (3, 5, 10)]
        yield _table(contenders, columns, _freshness, truth=truth, extras=extras)


def many_to_many() -> Iterable[str]:
    """Freshness of M:N joins and of sums per join key."""
    drawn = [
        Column(f"Poisson changes, γ = {b}", "bipartite", b, {"changes": "poisson"}, BIPARTITE)
        for b in (5, 10)
    ]
    summed = [
        replace(each, parameters={**each.parameters, **drawn[0].parameters}) for each in SPARSE
    ]
    for title, ranker, truth, columns in (
        ("M:N joins, periodic changes: freshness", "IBM-BGP", PHASES, MANY_TO_MANY),
        ("M:N joins, Poisson changes: freshness", "IBM-BGP", INTERVALS, drawn),
        ("Sums per join key, periodic changes: freshness", "IBM-Agg", PHASES, SPARSE),
        ("Sums per join key, Poisson changes: freshness", "IBM-Agg", INTERVALS, summed),
    ):
        paper, learning = Contender(ranker), Contender(ranker, LEARNED)
        yield f"## {title}\n"
        extras = {
            "`EFG` − the paper's, both told": _over(TOLD_EFG, paper),
            "`EFG` − the paper's, told nothing": _over(EFG, learning),
        }
        contenders = [paper, TOLD_EFG, learning, EFG]
        yield _table(contenders, columns, _freshness, truth=truth, extras=extras)


def filters() -> Iterable[str]:
    """The Jaccard distance with a FILTER, against the best of all tuned policies."""
    yield "## FILTER: cumulative Jaccard distance\n"
    rivals = ", ".join(f"`{name}`" for name in FILTERS)
    yield f"The best, per cell, of {rivals}, all told true intervals, against `EFG`, told nothing."
    yield "A cell is EFG / best = ratio and their paired difference: the lower, the better for"
    yield "EFG.\n"
    budgets, names = (1, 3, 5, 7), (*TREND_DATA, *SHARE_DATA)
    columns = [Column(f"γ = {b}", name, b, {}, FILTERED) for name in names for b in budgets]
    papers = [Contender(name) for name in FILTERS]
    found = [_values(each, _jaccard) for each in measure(columns, [*papers, EFG])]
    pairs = [(of[EFG], min((of[each] for each in papers), key=np.mean)) for of in found]
    cells, width = [_jaccard_cell(*pair) for pair in pairs], len(budgets)
    lines = [[name, *cells[n * width : (n + 1) * width]] for n, name in enumerate(names)]
    yield markdown(["data", *(f"γ = {budget}" for budget in budgets)], lines)
    leads = [best - ours for ours, best in pairs]
    better, worse = (sum(sign * each.mean() > 0 for each in leads) for sign in (1, -1))
    clearly, lost = (
        sum(sign * each.mean() > 2 * _error(each) for each in leads) for sign in (1, -1)
    )
    share = sum(ours.mean() for ours, _ in pairs) / sum(best.mean() for _, best in pairs)
    yield f"Of {len(pairs)} cells EFG is better in {better}, by more than two standard errors in"
    yield f"{clearly}, and worse in {worse}, by as much in {lost}. All its distances together are"
    yield f"{share:.0%} of those of the best.\n"


def _jaccard_cell(ours: Numbers, best: Numbers) -> str:
    means = f"{ours.mean():.1f} / {best.mean():.1f}"
    ratio = f" = {ours.mean() / best.mean():.2f}" if best.any() else ""
    return f"{means}{ratio} ({_difference(ours - best, '.1f')})"


def limited_cache() -> Iterable[str]:
    """The consistency of caches that do not hold all."""
    yield "## Limited cache: consistency, γ = 5\n"
    paper = Contender("MP(CWSJ,WBM,FRP)")
    ours = [Contender(f"MP({proposer},EFG,FRP)", LEARNED) for proposer in ("AW", "CWSJ")]
    extras = {f"`{each.policy}` − `{paper.policy}`": _over(each, paper) for each in ours}
    yield _table([paper, *ours], LIMITED, _consistency, truth=INTERVALS, extras=extras)


def calibration() -> Iterable[str]:
    """How far the estimates of EFG are from what comes true."""
    yield "## Expected calibration error of `EFG`, after a fifth of each run\n"
    yield "The mean over the runs, each of which is so short that chance alone makes some error,"
    yield "and in parentheses that of all runs together. To be told the truth is to be told how"
    yield "often each unit changes in the trace: one that does not is said to change once in twice"
    yield "its length, which is too often.\n"
    many = ("`bipartite`: periodic changes", Column("", "bipartite", 5, {}, BIPARTITE), PHASES)
    drawn = replace(many[1], parameters={"changes": "poisson"})
    budgets, lines = (3, 5, 10), []
    for title, column, _ in (*ONE_TO_ONE, many, ("`bipartite changes=poisson`", drawn, INTERVALS)):
        options = {**column.options, "warmup": 0.2}
        columns = [replace(column, title=f"γ = {b}", budget=b, options=options) for b in budgets]
        found = measure(columns, [EFG, TOLD_EFG])
        cells = [_calibration_cell(of[each]) for each in (EFG, TOLD_EFG) for of in found]
        lines.append([title, *cells])
    heads = [f"told {told}, γ = {b}" for told in ("nothing", "truth") for b in budgets]
    yield markdown(["data", *heads], lines)


def _calibration_cell(results: Sequence[Result]) -> str:
    errors = [each.calibration_error for each in results if each.calibration_error is not None]
    tenths = [[each.calibration[name] for name in CALIBRATION] for each in results]
    return f"{np.mean(errors):.3f} ({calibration_error(*np.sum(tenths, axis=0)):.3f})"


def times_to_live() -> Iterable[str]:
    """EFG against the TTL that turns out to be best, with as many requests."""
    yield "## TTL against `EFG`, both told nothing, γ = 5\n"
    minutes = ", ".join(map(str, TTL_MINUTES))
    yield f"`TTL` has the time to live that turned out to be best on these very data, of {minutes}"
    yield "minutes, with at most γ requests at each evaluation; or, as caches do, without such a"
    yield "limit, with the time to live that makes as many requests as `EFG` in the whole run"
    yield "(interpolated between the two nearest). With a FILTER the figure is the cumulative"
    yield "Jaccard distance, of which less is better.\n"
    lines = []
    for title, column, _ in ONE_TO_ONE:
        lines.append(_ttl_line(f"{title}: freshness", column, _freshness, best=max))
    for name in ("DEC70", "INC70", "MIX70", "DS10", "DS50", "DS90"):
        column = Column("", name, 5, {}, FILTERED)
        lines.append(_ttl_line(f"`{name}`: Jaccard", column, _jaccard, best=min))
    requests = ["requests of TTL, at most γ", "of `EFG`"]
    head = ["data", "best TTL", "TTL, at most γ", "TTL, as many in all", "`EFG`"]
    yield markdown([*head, "− TTL, at most γ", "− TTL, as many in all", *requests], lines)


def _ttl_line(
    title: str, column: Column, figure: Figure, *, best: Callable[..., Contender]
) -> list[str]:
    (within,) = measure([column], [*TTLS, EFG])
    (without,) = measure([replace(column, budget=UNLIMITED)], TTLS)
    of, spent = _values(within, figure), _values(within, _spent)
    tuned = best(TTLS, key=lambda each: of[each].mean())
    as_many = _interpolated(_values(without, _spent), _values(without, figure), spent[EFG])
    form = ".3f" if figure is _freshness else ".1f"
    ttl = tuned.policy.removeprefix("TTL(ttl=").removesuffix("m)")
    cells = [cell(each, form) for each in (of[tuned], as_many, of[EFG])]
    leads = [_difference(of[EFG] - each, form) for each in (of[tuned], as_many)]
    return [title, f"{ttl} min", *cells, *leads, *(f"{spent[c].mean():.2f}" for c in (tuned, EFG))]


def _interpolated(spent: Values, figure: Values, wanted: Numbers) -> Numbers:
    """The figure that a time to live would have with as many requests as wanted, per seed."""
    longest_first = TTLS[::-1]
    known = np.array([spent[each] for each in longest_first])
    figures = np.array([figure[each] for each in longest_first])
    by_seed = zip(wanted, known.T, figures.T, strict=True)
    return np.array([np.interp(*each) for each in by_seed])


def held_out() -> Iterable[str]:
    """The main differences on data sets that had no part in choosing any constant."""
    yield "## Seeds on which nothing was chosen\n"
    yield f"What is constant in `EFG` was chosen on the data sets above, of seeds 0 to {SEEDS - 1}."
    yield f"Here are the main differences on those of seeds {HELD_OUT} to {HELD_OUT + SEEDS - 1}:"
    yield "`EFG`, told nothing or as much as they, − the best of the papers' policies.\n"
    papers = [Contender(name) for name in PAPERS]
    learning = [replace(each, told=LEARNED) for each in papers]
    lines = []
    for title, column, _ in ONE_TO_ONE:
        chosen = [replace(column, title=f"γ = {b}", budget=b) for b in (3, 5, 10)]
        found = _held_out(chosen, [*papers, *learning, EFG, TOLD_EFG])
        for told, ours, rivals in (
            ("nothing − told truth", EFG, papers),
            ("both nothing", EFG, learning),
            ("both truth", TOLD_EFG, papers),
        ):
            lines.append([title, told, *(_lead(ours, rivals)(of) for of in found)])
    yield markdown(["data", "told", *(f"γ = {b}" for b in (3, 5, 10))], lines, names=2)
    paper, blind = Contender("IBM-BGP"), Contender("IBM-BGP", LEARNED)
    found = _held_out(MANY_TO_MANY, [paper, blind, EFG, TOLD_EFG])
    lines = [
        ["both nothing", *(_over(EFG, blind)(of) for of in found)],
        ["both truth", *(_over(TOLD_EFG, paper)(of) for of in found)],
    ]
    yield "M:N joins, periodic changes: `EFG` − `IBM-BGP`.\n"
    yield markdown(["told", *(column.title for column in MANY_TO_MANY)], lines)


def _held_out(chosen: Sequence[Column], contenders: Sequence[Contender]) -> list[Values]:
    found = measure(chosen, contenders, first_seed=HELD_OUT)
    return [_values(each, _freshness) for each in found]


PARTS: Mapping[str, Callable[[], Iterable[str]]] = {
    part.__name__: part
    for part in (
        one_to_one,
        what_a_lead_takes,
        what_learning_costs,
        many_to_many,
        what_never_lasts,
        what_borrowing_brings,
        filters,
        what_filters_leave,
        held_out,
        limited_cache,
        calibration,
        regimes,
        times_to_live,
    )
}
"""The parts of the page, each of which can be written alone."""


def _table(
    contenders: Sequence[Contender],
    columns: Sequence[Column],
    figure: Figure,
    *,
    truth: str,
    extras: Mapping[str, Extra],
) -> str:
    """A line per contender with what it is told, and some that compare them."""
    found = [_values(each, figure) for each in measure(columns, contenders)]
    told = {TRUE: truth, LEARNED: "nothing"}
    lines = [
        [
            f"`{each.policy}`",
            f"all arrivals, {truth}" if each == BOUND else told[each.told],
            *(cell(of[each]) for of in found),
        ]
        for each in contenders
    ]
    lines += [[title, "", *map(extra, found)] for title, extra in extras.items()]
    return markdown(["policy", "told", *(column.title for column in columns)], lines, names=2)


def _values(found: Mapping[Contender, Sequence[Result]], figure: Figure) -> Values:
    return {
        each: np.array([figure(result) for result in results], dtype=np.float64)
        for each, results in found.items()
    }


def _over(ours: Contender, rival: Contender) -> Extra:
    return lambda of: _difference(of[ours] - of[rival])


def _lead(ours: Contender, rivals: Sequence[Contender]) -> Extra:
    """The difference to the best of the rivals, with its name."""

    def tell(of: Values) -> str:
        best = _best(of, rivals)
        return f"{_difference(of[ours] - of[best])} (`{best.policy}`)"

    return tell


def _closed(ours: Contender, rivals: Sequence[Contender]) -> Extra:
    """The share of the way from the best of the rivals to the bound."""

    def tell(of: Values) -> str:
        best = of[_best(of, rivals)].mean()
        return f"{(of[ours].mean() - best) / (of[BOUND].mean() - best):.0%}"

    return tell


def _best(of: Values, rivals: Sequence[Contender]) -> Contender:
    return max(rivals, key=lambda each: of[each].mean())


def _difference(paired: Numbers, form: str = ".3f") -> str:
    """The mean of paired differences and its standard error."""
    return f"{paired.mean():+{form}} ±{_error(paired):{form}}"


def _error(paired: Numbers) -> float:
    return float(paired.std(ddof=1) / np.sqrt(len(paired)))


def _freshness(result: Result) -> float | None:
    return result.freshness


def _consistency(result: Result) -> float | None:
    return result.consistency


def _spent(result: Result) -> float:
    return result.spent


def _jaccard(result: Result) -> float:
    return result.jaccard
