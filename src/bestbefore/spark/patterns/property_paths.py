"""Property paths (SPARQL 1.1 section 9) as pairs of connected terms."""

from dataclasses import replace
from typing import assert_never

from bestbefore.query.algebra import PathPattern, PatternTerm, Variable
from bestbefore.query.paths import (
    Alternative,
    Inverse,
    Link,
    NegatedSet,
    OneOrMore,
    Path,
    Sequence,
    ZeroOrMore,
    ZeroOrOne,
)
from bestbefore.rdf.terms import IRI, Literal, encode
from bestbefore.spark.columns import WINDOW, column_of
from bestbefore.spark.patterns.closure import END, START, closure, composed, reversed_pairs
from bestbefore.spark.patterns.context import Context
from bestbefore.spark.patterns.leaves import matched
from bestbefore.spark.patterns.modifiers import distinct
from bestbefore.spark.patterns.path_forms import can_be_empty
from bestbefore.spark.patterns.solutions import Solutions, aliased, quoted, spread, union
from bestbefore.spark.sql import name, quote

_BOTH = frozenset({START, END})
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
        case Link(predicate):
            return context.triples(f"p = {quote(encode(predicate))}", _FORWARD, ("s", "o"))
        case NegatedSet(forward, backward):
            return _other_links(forward, backward, context)
        case Inverse(inner):
            return reversed_pairs(_pairs(inner, (ends[1], ends[0]), context))
        case Alternative(left, right):
            return union(_pairs(left, ends, context), _pairs(right, ends, context))
        case Sequence(left, right):
            return _after(left, right, ends, context)
        case ZeroOrOne(inner):
            return distinct(union(_pairs(inner, ends, context), _same(ends, context)))
        case OneOrMore(inner) if not can_be_empty(inner):
            return _closed(inner, ends, context)
        case ZeroOrMore(inner) | OneOrMore(inner):
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
    return found[0] if len(found) == 1 else union(*found)


def _none_of(predicates: tuple[IRI, ...]) -> str:
    listed = ", ".join(quote(encode(each)) for each in predicates)
    return f"p NOT IN ({listed})" if predicates else "TRUE"


def _after(left: Path, right: Path, ends: Ends, context: Context) -> Solutions:
    first = _pairs(left, (ends[0], _MIDDLE), context)
    second = _pairs(right, (_MIDDLE, ends[1]), context)
    return composed(first, second)


def _closed(path: Path, ends: Ends, context: Context) -> Solutions:
    """The pairs that one or more steps connect, from the end that is known, if one is."""
    start, end = (encode(each) if isinstance(each, IRI | Literal) else None for each in ends)
    step = distinct(spread(_pairs(path, (_MIDDLE, _MIDDLE), context)))
    if start is None and end is not None:
        return reversed_pairs(closure(reversed_pairs(step), end))
    return closure(step, start)


def _same(ends: Ends, context: Context) -> Solutions:
    """The pairs of equal terms: those of the graph, and those that the pattern itself names."""
    constants = [each for each in ends if isinstance(each, IRI | Literal)]
    pairs = [_constant(encode(each), context) for each in constants]
    if not constants:
        pairs += [context.triples("TRUE", {START: each, END: each}) for each in ("s", "o")]
        pairs += _tested(ends, context)
    result = pairs[0]
    for each in pairs[1:]:
        result = union(result, each)
    return distinct(spread(result))


def _constant(term: str, context: Context) -> Solutions:
    """A term paired with itself, in every evaluation."""
    unit = replace(context, seeds=None).unit()
    return unit.select({START: quote(term), END: quote(term)}, bound=_BOTH, extras=())


def _tested(ends: Ends, context: Context) -> list[Solutions]:
    """The terms that an outer mapping puts at an end, each paired with itself."""
    seeds = context.seeds
    if seeds is None or context.graph_key not in (None, *seeds.keys):
        return []
    names = [column_of(each.name) for each in ends if isinstance(each, Variable)]
    keys = tuple(each for each in seeds.keys if each in (WINDOW, context.graph_key))
    found = []
    for each in (one for one in names if one in seeds.names):
        known = seeds.frame.filter(f"{name(each)} IS NOT NULL")
        pair = aliased({START: name(each), END: name(each)})
        found.append(Solutions(known.selectExpr(*quoted(keys), *pair), (START, END), _BOTH, keys))
    return found
