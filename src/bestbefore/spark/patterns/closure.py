"""The transitive closure of pairs of terms, for all windows at once.

A closure is the one thing that no fixed plan computes: its rounds are jobs of their own, run while
the query is compiled, until a round finds nothing new. From a known end a round goes one step
further; between unknown ends it doubles the length of the paths, so rounds grow with its logarithm.
"""

from dataclasses import replace

from bestbefore.spark.patterns.joins import join, without_match
from bestbefore.spark.patterns.modifiers import distinct
from bestbefore.spark.patterns.solutions import Solutions
from bestbefore.spark.sql import name, quote

START, END = "start", "end"
_BOTH = frozenset({START, END})
_ROUND = "round"


def closure(step: Solutions, start: str | None) -> Solutions:
    """The pairs that one or more steps connect, from one term if it is given.

    The steps are one row per window and pair. The result is kept by Spark until it is collected.
    """
    step = _kept(step.select(_same(), bound=_BOTH, extras=()))
    begin = step if start is None else step.filter(f"{name(START)} = {quote(start)}")
    reached = begin.with_column(_ROUND, "0")
    number = 0
    while not _found(reached, number).frame.isEmpty():
        known = _plain(reached)
        longer = composed(_plain(_found(reached, number)), known if start is None else step)
        number += 1
        news = without_match(distinct(longer), known).with_column(_ROUND, f"{number}")
        reached = _kept(replace(reached, frame=reached.frame.unionByName(news.frame)))
    return _plain(reached)


def reversed_pairs(pairs: Solutions) -> Solutions:
    """The pairs with their ends exchanged."""
    return pairs.select({START: name(END), END: name(START)}, bound=_BOTH)


def _same() -> dict[str, str]:
    return {START: name(START), END: name(END)}


def _plain(pairs: Solutions) -> Solutions:
    return pairs.select(_same(), bound=_BOTH)


def _found(reached: Solutions, number: int) -> Solutions:
    return reached.filter(f"{_ROUND} = {number}")


def composed(left: Solutions, right: Solutions) -> Solutions:
    """The pairs that a left and then a right one connect."""
    between = "_:between"
    one = left.select({START: name(START), between: name(END)}, bound=frozenset({START, between}))
    other = right.select({between: name(START), END: name(END)}, bound=frozenset({between, END}))
    return join(one, other).restricted((START, END))


def _kept(pairs: Solutions) -> Solutions:
    """The pairs computed and held: the plan of a round must not grow with those before."""
    return replace(pairs, frame=pairs.frame.localCheckpoint())
