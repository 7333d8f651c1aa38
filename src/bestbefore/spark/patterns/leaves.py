"""The leaves of a pattern: triples, inline data, and the mappings of a clause."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce
from typing import assert_never

from bestbefore.query.algebra import BGP, Pattern, PatternTerm, TriplePattern, Values, Variable
from bestbefore.query.scope import certain_variables
from bestbefore.rdf.terms import IRI, BlankNode, Literal, encode
from bestbefore.spark.columns import EVALUATION, FRESH, MAPPINGS, TIME, column_of
from bestbefore.spark.patterns.context import Context
from bestbefore.spark.patterns.joins import join
from bestbefore.spark.patterns.solutions import Solutions
from bestbefore.spark.relation import Relation
from bestbefore.spark.sql import NO_TERM, all_of, name, quote

_CARRIED = (TIME, MAPPINGS, FRESH)


def basic_graph_pattern(pattern: BGP, context: Context) -> Solutions:
    """The mappings under which a graph holds all triple patterns."""
    if not pattern.patterns:
        return context.unit()
    matches = (_match(triple, context) for triple in connected(pattern.patterns))
    return context.anchored(reduce(join, matches))


def connected(patterns: Sequence[TriplePattern]) -> Iterable[TriplePattern]:
    """The triple patterns in an order in which each shares a variable with an earlier one, if any.

    What shares none is a product; it comes as late as it can.
    """
    waiting, known = list(patterns), set[str]()
    while waiting:
        chosen = next((triple for triple in waiting if known & _names(triple)), waiting[0])
        waiting.remove(chosen)
        known |= _names(chosen)
        yield chosen


def _names(pattern: TriplePattern) -> set[str]:
    terms = (pattern.subject, pattern.predicate, pattern.object)
    return {_column_name(term) for term in terms if isinstance(term, Variable | BlankNode)}


def _column_name(term: Variable | BlankNode) -> str:
    """The column of a variable; a blank node is one that nothing outside the pattern sees."""
    return column_of(term.name) if isinstance(term, Variable) else f"_:{term.label}"


def _match(pattern: TriplePattern, context: Context) -> Solutions:
    parts = {"s": pattern.subject, "p": pattern.predicate, "o": pattern.object}
    wanted, columns = matched(parts)
    varying = [part for part, term in parts.items() if isinstance(term, Variable | BlankNode)]
    return context.triples(wanted, columns, varying)


def matched(parts: dict[str, PatternTerm]) -> tuple[str, dict[str, str]]:
    """What the columns of a row must be, and which column each variable is."""
    wanted: list[str] = []
    columns: dict[str, str] = {}
    for part, term in parts.items():
        match term:
            case IRI() | Literal():
                wanted.append(f"{name(part)} = {quote(encode(term))}")
            case Variable() | BlankNode():
                # A variable that stands twice in a pattern wants the same term twice.
                earlier = columns.setdefault(_column_name(term), name(part))
                if earlier != name(part):
                    wanted.append(f"{name(part)} = {earlier}")
            case _:
                assert_never(term)
    return all_of(wanted), columns


def inline_data(pattern: Values, context: Context) -> Solutions:
    """The mappings of VALUES."""
    unit = context.unit()
    columns = [column_of(variable.name) for variable in pattern.variables]
    # An array without a row would have no columns.
    rows = ", ".join(_row(columns, row) for row in pattern.rows or ([None] * len(columns),))
    own = {column: name(column) for column in unit.own}
    made = unit.relation.generate(own, ("row", *columns), f"inline(array({rows}))")
    bound = {
        column
        for number, column in enumerate(columns)
        if all(row[number] is not None for row in pattern.rows)
    }
    relation = made.drop("row")
    data = replace(unit, relation=relation, names=tuple(columns), bound=frozenset(bound), extras=())
    return context.anchored(data if pattern.rows else data.filter("FALSE"))


def _row(columns: list[str], row: Iterable[IRI | Literal | None]) -> str:
    terms = [NO_TERM if term is None else quote(encode(term)) for term in row]
    fields = [f"{quote(column)}, {term}" for column, term in zip(columns, terms, strict=True)]
    return f"named_struct('row', 1{''.join(f', {field}' for field in fields)})"


def clause(relation: Relation, pattern: Pattern, context: Context) -> Solutions:
    """The mappings of a WINDOW or SERVICE clause, which were computed before."""
    names = tuple(column for column in relation.columns if column.startswith(("?", "_:")))
    extras = tuple(column for column in _CARRIED if column in relation.columns)
    certain = {column_of(variable.name) for variable in certain_variables(pattern)}
    bound = certain.intersection(names)
    return context.anchored(Solutions(relation, names, frozenset(bound), (EVALUATION,), extras))
