"""Plans: the cheapest views to refresh, so that an answer is as fresh as is wanted.

Up to 15 views all sets of them are looked at (thesis section 3.3, example 1); beyond, views are
taken by what they gain per cost, and those that turn out not to be needed are left out again.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isfinite
from typing import Literal

from bestbefore.errors import InputError, WorkError
from bestbefore.market.joins import check_answerable, estimate, pattern_estimate
from bestbefore.market.shapes import Part, Shape, is_variable
from bestbefore.market.summary import Summary

FEW_VIEWS = 15
"""So many views have sets few enough to look at all of them."""

# What is lost in adding up shares is no reason for another view.
_SLACK = 1e-9

Search = Literal["exhaustive", "greedy"]


@dataclass(frozen=True)
class View:
    """What is refreshed at once: the triples of a pattern, and what that costs."""

    name: str
    part: Part
    cost: float


@dataclass(frozen=True)
class Plan:
    """Views to refresh, what they cost, and the estimated freshness before and after."""

    views: tuple[str, ...]
    cost: float
    before: float
    after: float
    search: Search


def predicate_views(
    shape: Shape, summary: Summary, cost: Mapping[str, float] | None = None
) -> list[View]:
    """A view per predicate that the query asks for; where it asks for any, per predicate at all.

    The cost of a view is how many triples are to be fetched, unless `cost` says another.
    """
    asked = [part.p for part in shape.parts]
    if any(is_variable(name) for name in asked):
        asked += summary.predicates()
    names = dict.fromkeys(name for name in asked if not is_variable(name))
    parts = {name.strip("<>"): Part("?s", name, "?o") for name in names}
    return [view_of(name, part, summary, (cost or {}).get(name)) for name, part in parts.items()]


def view_of(name: str, part: Part, summary: Summary, cost: float | None = None) -> View:
    """The view of a pattern; it costs what it holds, unless that is stated."""
    return View(name, part, pattern_estimate(summary, part).total if cost is None else cost)


def check_wanted(wanted: float) -> None:
    """Refuse a freshness that no answer can have, or that every one has."""
    if not (isfinite(wanted) and 0 < wanted <= 1):
        raise InputError(f"--freshness {wanted}: it must be above 0 and at most 1, such as 0.8")


def make_plan(
    summary: Summary,
    shape: Shape,
    views: Sequence[View],
    wanted: float,
    *,
    search: Search | None = None,
) -> Plan:
    """The views to refresh, by a search that fits their number unless one is named."""
    check_wanted(wanted)
    check_answerable(shape)
    search = search or ("exhaustive" if len(views) <= FEW_VIEWS else "greedy")
    shares = [[_share(summary, part, view.part) for part in shape.parts] for view in views]
    freshness = _freshness_of(summary, shape, shares)
    # A view that has nothing of the query can be left out of every set.
    useful = [place for place, own in enumerate(shares) if any(own)]
    before, best = freshness(()), freshness(useful)
    enough = wanted - _SLACK
    if before >= enough:
        return Plan((), 0.0, before, before, search)
    if best < enough:
        raise WorkError(
            f"no set of these {len(views)} views gives a freshness of {wanted}: all of them "
            f"refreshed give {best:.4f}; name more views"
        )
    find = _exhaustive if search == "exhaustive" else _greedy
    chosen = find({place: views[place].cost for place in useful}, freshness, enough)
    return Plan(
        tuple(views[place].name for place in chosen),
        sum(views[place].cost for place in chosen),
        before,
        freshness(chosen),
        search,
    )


Freshness = Callable[[Iterable[int]], float]
"""The estimated freshness of the answer once some views, by their places, are refreshed."""


def _freshness_of(summary: Summary, shape: Shape, shares: Sequence[Sequence[float]]) -> Freshness:
    def freshness(chosen: Iterable[int]) -> float:
        sums = [0.0] * len(shape.parts)
        for place in chosen:
            sums = [one + more for one, more in zip(sums, shares[place], strict=True)]
        renewed = [1.0 if share > 1.0 - _SLACK else share for share in sums]
        return estimate(summary, shape.stars, renewed).freshness

    return freshness


def _share(summary: Summary, part: Part, view: Part) -> float:
    """The share of a pattern's stale triples that are in a view."""
    common = part.within(view)
    if common is None:
        return 0.0
    if common == part:
        return 1.0
    inside, whole = (pattern_estimate(summary, one) for one in (common, part))
    stale = whole.total - whole.fresh
    return min(1.0, (inside.total - inside.fresh) / stale) if stale > 0 else 0.0


def _exhaustive(cost: Mapping[int, float], freshness: Freshness, enough: float) -> tuple[int, ...]:
    """The cheapest set that is fresh enough; of equally cheap ones the freshest."""
    best: tuple[float, float, tuple[int, ...]] | None = None
    for size in range(1, len(cost) + 1):
        for chosen in combinations(cost, size):
            price = sum(cost[place] for place in chosen)
            if best is not None and price > best[0]:
                continue
            reached = freshness(chosen)
            if reached >= enough and (best is None or (price, -reached) < best[:2]):
                best = price, -reached, chosen
    assert best is not None  # noqa: S101 - all views together are fresh enough
    return best[2]


def _greedy(cost: Mapping[int, float], freshness: Freshness, enough: float) -> tuple[int, ...]:
    """Views by gain per cost until it is enough, without those that are not needed after all."""
    chosen, now = list[int](), freshness(())
    while now < enough:
        rest = [place for place in cost if place not in chosen]
        reached = {place: freshness([*chosen, place]) for place in rest}
        gain = {place: (reached[place] - now) / max(cost[place], _SLACK) for place in rest}
        best = max(rest, key=lambda place: (gain[place], -cost[place], -place))
        chosen.append(best)
        now = reached[best]
    for place in sorted(chosen, key=lambda place: -cost[place]):
        fewer = [one for one in chosen if one != place]
        if freshness(fewer) >= enough:
            chosen = fewer
    return tuple(sorted(chosen))
