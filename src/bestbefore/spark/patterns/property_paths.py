"""Property paths (SPARQL 1.1 section 9) as pairs of connected terms.

A closure is the one thing that no fixed plan computes: its rounds are jobs of their own, run before
the job that needs it, until a round finds nothing new. From a known end a round goes one step
further; between unknown ends it doubles the length of the paths, so rounds grow with its logarithm.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from itertools import count
from typing import assert_never

from pyspark.sql import DataFrame, SparkSession

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
from bestbefore.spark.relation import Relation, Statement, name_table
from bestbefore.spark.sql import name, one_of, parameter, quote

START, END = _PAIR = ("start", "end")
_BOTH = frozenset(_PAIR)
_ROUND = "round"
_numbers = count()
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
        known = seeds.relation.filter(f"{name(column)} IS NOT NULL")
        pair = {key: name(key) for key in keys} | {START: name(column), END: name(column)}
        found.append(Solutions(known.select(pair), _PAIR, _BOTH, keys))
    return found


def _closure(step: Solutions, start: str | None) -> Solutions:
    """The pairs that one or more steps connect, from one term if it is given."""
    step = step.select({START: name(START), END: name(END)}, bound=_BOTH, extras=())
    view = f"closure{next(_numbers)}"
    link = replace(step, relation=Relation.table(f"{view}_step", step.relation.columns))
    begin = link if start is None else link.filter(f"{name(START)} = {quote(start)}")
    begin = begin.with_column(_ROUND, "0")
    reached = replace(begin, relation=Relation.table(view, begin.relation.columns))
    last = reached.filter(f"{_ROUND} = {parameter(_ROUND)}")
    known = reached.restricted(_PAIR)
    longer = distinct(_composed(last, known if start is None else link))
    news = without_match(longer, known).with_column(_ROUND, f"{parameter(_ROUND)} + 1")
    closure = Closure(
        view,
        step=step.relation.statement(),
        begin=begin.relation.statement(),
        last=last.relation.statement(),
        longer=reached.relation.union(news.relation).statement(),
    )
    made = Relation.table(view, begin.relation.columns, made_by=closure)
    return replace(begin, relation=made).restricted(_PAIR)


@dataclass(frozen=True)
class Closure:
    """The rounds that find the pairs of a closure; the pairs are kept until they are collected.

    The plan of a round must not grow with those before, so each is computed and held.
    """

    view: str
    step: Statement
    begin: Statement
    last: Statement
    longer: Statement

    def make(self, spark: SparkSession, parameters: Mapping[str, str]) -> None:
        """Find the pairs, as the view's rows."""
        _hold(self.step.on(spark, parameters), f"{self.view}_step")
        _hold(self.begin.on(spark, parameters), self.view)
        for number in count():
            now = {**parameters, _ROUND: str(number)}
            if self.last.on(spark, now).isEmpty():
                return
            _hold(self.longer.on(spark, now), self.view)


def _hold(pairs: DataFrame, view: str) -> None:
    name_table(pairs.localCheckpoint(), view)


def _reversed(pairs: Solutions) -> Solutions:
    """The pairs with their ends exchanged."""
    return pairs.select({START: name(END), END: name(START)}, bound=_BOTH)


def _composed(left: Solutions, right: Solutions) -> Solutions:
    """The pairs that a left and then a right one connect."""
    between = "_:between"
    one = left.select({START: name(START), between: name(END)}, bound=frozenset({START, between}))
    other = right.select({between: name(START), END: name(END)}, bound=frozenset({between, END}))
    return join(one, other).restricted((START, END))


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
