"""From stars to queries: what is joined is independent, and what is fewer is contained in more.

A variable that several stars share, or that stands for several objects, divides the product of
their cardinalities by all but the smallest number of its values, as in System R. The rows that a
summary takes to be fresh are joined in the same way: a fresh row with a stale one is stale.
"""

from collections.abc import Sequence
from math import prod

from bestbefore.market.estimates import Estimate
from bestbefore.market.shapes import Part, Shape, Star, is_variable, stars_of
from bestbefore.market.summary import CannotAnswer, Renewed, Summary


def estimate(summary: Summary, stars: Sequence[Star], renewed: Renewed | None = None) -> Estimate:
    """The estimate of a query's answer, some of its triple patterns refreshed."""
    renewed = [0.0] * sum(len(star.parts) for star in stars) if renewed is None else renewed
    found, begin = [], 0
    for star in stars:
        found.append(summary.star(star, renewed[begin : begin + len(star.parts)]))
        begin += len(star.parts)
    if any(one.total <= 0 for one in found):
        return Estimate(0.0, 0.0)
    values = dict[str, list[float]]()
    for star, one in zip(stars, found, strict=True):
        if is_variable(star.subject):
            values.setdefault(star.subject, []).append(one.subjects)
    _note_objects(summary, stars, values)
    matches = prod(prod(counts) / min(counts) for counts in values.values())
    total = prod(one.total for one in found) / matches
    fresh = prod(one.fresh for one in found) / matches
    return Estimate(total, min(max(fresh, 0.0), total))


def check_answerable(shape: Shape) -> None:
    """Refuse a query of which no summary can tell how many rows there are."""
    if shape.hidden:
        raise CannotAnswer(
            f"DISTINCT counts rows once that differ in {shape.hidden[0]} alone, and no summary "
            "knows of these; leave DISTINCT out to estimate all rows"
        )


def pattern_estimate(summary: Summary, part: Part) -> Estimate:
    """The estimate of one triple pattern."""
    return estimate(summary, stars_of([part]))


def _note_objects(summary: Summary, stars: Sequence[Star], values: dict[str, list[float]]) -> None:
    """Note how many values each variable has at its other places, if it has several places."""
    places = [
        (term, part, position)
        for star in stars
        for part in star.parts
        for position, term in (("p", part.p), ("o", part.o))
        if is_variable(term)
    ]
    names = [*values, *(term for term, _, _ in places)]
    for term, part, position in places:
        if names.count(term) > 1:
            several = summary.objects(part) if position == "o" else len(summary.predicates())
            values.setdefault(term, []).append(max(1.0, several))
