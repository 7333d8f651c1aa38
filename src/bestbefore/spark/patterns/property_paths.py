"""Property paths (SPARQL 1.1 section 9) as pairs of connected terms.

A closure is the one thing that no fixed plan computes: its rounds are jobs of their own, run while
the query is compiled, until a round finds nothing new. From a known end a round goes one step
further; between unknown ends it doubles the length of the paths, so rounds grow with its logarithm.
"""

from dataclasses import replace
from functools import reduce
from typing import assert_never

from bestbefore.query import paths
from bestbefore.query.algebra import PathPattern, PatternTerm, Variable
from bestbefore.query.paths import Path
from bestbefore.rdf.terms import IRI, Literal, encode
from bestbefore.spark.columns import EVALUATION, column_of
from bestbefore.spark.patterns.context import Context
from bestbefore.spark.patterns.joins import join, without_match
from bestbefore.spark.patterns.leaves import matched
from bestbefore.spark.patterns.modifiers import distinct
from bestbefore.spark.patterns.solutions import Solutions, spread, union
from bestbefore.spark.sql import aliased, name, one_of, quote, quoted

START, END = _PAIR = ("start", "end")
_BOTH = frozenset(_PAIR)
_ROUND = "round"
_FORWARD = {START: "s", END: "o"}
_BACKWARD = {START: "o", END: "s"}
_MIDDLE = Variable(".middle")


def path_pattern(pattern: PathPattern, context: Context) -> Solutions:
    """The mappings under which a path connects two terms."""
    ends = (pattern.subject, pattern.object)
    pairs = _pairs(pattern.path, ends, context)
    wanted, columns = matched({START: pattern.subject, END: pattern.object})
    return context.anchored(pairs.filter(wanted).select(columns, bound=frozenset(columns)))


Ends = tuple[PatternTerm, PatternTerm]


def _pairs(path: Path, ends: Ends, context: Context) -> Solutions:  # noqa: PLR0911 - one per node
    """The pairs of terms that a path connects, as often as it does."""
    match path:
        case paths.Link(predicate):
            return context.triples(f"p = {quote(encode(predicate))}", _FORWARD, ("s", "o"))
        case paths.NegatedSet(forward, backward):
            return _other_links(forward, backward, context)
        case paths.Inverse(inner):
            return _reversed(_pairs(inner, (ends[1], ends[0]), context))
        case paths.Alternative(left, right):
            return union(_pairs(left, ends, context), _pairs(right, ends, context))
        case paths.Sequence(left, right):
            first = _pairs(left, (ends[0], _MIDDLE), context)
            return _composed(first, _pairs(right, (_MIDDLE, ends[1]), context))
        case paths.ZeroOrOne(inner):
            return distinct(union(_pairs(inner, ends, context), _same(ends, context)))
        case paths.OneOrMore(inner) if not can_be_empty(inner):
            return _closed(inner, ends, context)
        case paths.ZeroOrMore(inner) | paths.OneOrMore(inner):
            return distinct(union(_closed(inner, ends, context), _same(ends, context)))
    assert_never(path)


def _other_links(
    forward: tuple[IRI, ...], backward: tuple[IRI, ...], context: Context
) -> Solutions:
    """The pairs that any predicate but the named ones connects.

    A set without backward predicates looks forwards only, one with nothing else backwards only.
    """
    found = []
    if forward or not backward:
        found.append(context.triples(_none_of(forward), _FORWARD))
    if backward:
        found.append(context.triples(_none_of(backward), _BACKWARD))
    return reduce(union, found)


def _none_of(predicates: tuple[IRI, ...]) -> str:
    return f"NOT {one_of('p', map(encode, predicates))}" if predicates else "TRUE"


def _closed(path: Path, ends: Ends, context: Context) -> Solutions:
    """The pairs that one or more steps connect, from the end that is known, if one is."""
    start, end = (encode(end) if isinstance(end, IRI | Literal) else None for end in ends)
    step = distinct(spread(_pairs(path, (_MIDDLE, _MIDDLE), context)))
    if start is None and end is not None:
        return _reversed(_closure(_reversed(step), end))
    return _closure(step, start)


def _same(ends: Ends, context: Context) -> Solutions:
    """The pairs of equal terms: those of the graph, and those that the pattern itself names."""
    constants = [end for end in ends if isinstance(end, IRI | Literal)]
    pairs = [_constant(encode(term), context) for term in constants]
    if not constants:
        pairs += [context.triples("TRUE", {START: part, END: part}) for part in ("s", "o")]
        pairs += _tested(ends, context)
    return distinct(spread(reduce(union, pairs)))


def _constant(term: str, context: Context) -> Solutions:
    """A term paired with itself, in every evaluation."""
    unit = replace(context, seeds=None).unit()
    return unit.select({START: quote(term), END: quote(term)}, bound=_BOTH, extras=())


def _tested(ends: Ends, context: Context) -> list[Solutions]:
    """The terms that an outer mapping puts at an end, each paired with itself."""
    seeds = context.seeds
    if seeds is None or context.graph_key not in (None, *seeds.keys):
        return []
    names = [column_of(end.name) for end in ends if isinstance(end, Variable)]
    keys = tuple(key for key in seeds.keys if key in (EVALUATION, context.graph_key))
    found = []
    for column in (one for one in names if one in seeds.names):
        known = seeds.frame.filter(f"{name(column)} IS NOT NULL")
        pair = aliased({START: name(column), END: name(column)})
        found.append(Solutions(known.selectExpr(*quoted(keys), *pair), _PAIR, _BOTH, keys))
    return found


def _closure(step: Solutions, start: str | None) -> Solutions:
    """The pairs that one or more steps connect, from one term if it is given.

    The steps are one row per evaluation and pair. Spark keeps the result until it is collected.
    """
    step = _kept(step.select({START: name(START), END: name(END)}, bound=_BOTH, extras=()))
    begin = step if start is None else step.filter(f"{name(START)} = {quote(start)}")
    reached = begin.with_column(_ROUND, "0")
    number = 0
    while not _of_round(reached, number).frame.isEmpty():
        known = reached.restricted(_PAIR)
        longer = _composed(_of_round(reached, number), known if start is None else step)
        number += 1
        news = without_match(distinct(longer), known).with_column(_ROUND, f"{number}")
        reached = _kept(replace(reached, frame=reached.frame.unionByName(news.frame)))
    return reached.restricted(_PAIR)


def _reversed(pairs: Solutions) -> Solutions:
    """The pairs with their ends exchanged."""
    return pairs.select({START: name(END), END: name(START)}, bound=_BOTH)


def _of_round(reached: Solutions, number: int) -> Solutions:
    return reached.filter(f"{_ROUND} = {number}")


def _composed(left: Solutions, right: Solutions) -> Solutions:
    """The pairs that a left and then a right one connect."""
    between = "_:between"
    one = left.select({START: name(START), between: name(END)}, bound=frozenset({START, between}))
    other = right.select({between: name(START), END: name(END)}, bound=frozenset({between, END}))
    return join(one, other).restricted((START, END))


def _kept(pairs: Solutions) -> Solutions:
    """The pairs computed and held: the plan of a round must not grow with those before."""
    return replace(pairs, frame=pairs.frame.localCheckpoint())


def can_be_empty(path: Path) -> bool:
    """Whether a path connects a term with itself without a step."""
    match path:
        case paths.ZeroOrMore() | paths.ZeroOrOne():
            return True
        case paths.Link() | paths.NegatedSet():
            return False
        case paths.Inverse(inner) | paths.OneOrMore(inner):
            return can_be_empty(inner)
        case paths.Sequence(left, right):
            return can_be_empty(left) and can_be_empty(right)
        case paths.Alternative(left, right):
            return can_be_empty(left) or can_be_empty(right)
    assert_never(path)
