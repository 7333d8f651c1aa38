"""SELECT and the solution modifiers: the productions [8], [9] and [18] to [28] of SPARQL 1.1.

The operators come in the order of sections 18.2.4 and 18.2.5: Group, HAVING, VALUES, SELECT
expressions, ORDER BY, projection, DISTINCT, OFFSET and LIMIT.
"""

from collections.abc import Callable
from dataclasses import dataclass

from bestbefore.query.algebra import (
    BGP,
    Distinct,
    Extend,
    Filter,
    Join,
    OrderBy,
    OrderCondition,
    Pattern,
    Project,
    Reduced,
    Slice,
    Values,
    Variable,
)
from bestbefore.query.expressions import Expression, conjunction
from bestbefore.query.grammar import terms
from bestbefore.query.grammar.expressions import (
    Aggregates,
    Clause,
    constraint_follows,
    read_bracketted,
    read_constraint,
    read_named,
)
from bestbefore.query.grammar.grouping import (
    Clauses,
    Item,
    check_items,
    over_groups,
    read_group_clause,
    taken,
)
from bestbefore.query.grammar.reader import Reader, first
from bestbefore.query.grammar.tokens import Kind, Token
from bestbefore.query.scope import variables, visible_variables
from bestbefore.rdf.terms import IRI, Literal

EMPTY = BGP(())
_ORDER_FIRST = first("a variable", Kind.VARIABLE, "ASC", "DESC")
# More rows than there are numbers for them in any engine.
_MOST_DIGITS = 18
GroupReader = Callable[[Reader], Pattern]


@dataclass(frozen=True, slots=True)
class SelectClause:
    """[9] SelectClause: its keyword, what it lists (nothing for `*`), and DISTINCT or REDUCED."""

    token: Token
    items: tuple[Item, ...]
    modifier: type[Distinct | Reduced] | None
    aggregates: Aggregates


def read_sub_select(reader: Reader, group: GroupReader) -> Pattern:
    """Read [8] SubSelect."""
    clause = read_select_clause(reader, group)
    reader.accept("WHERE")
    return read_modifiers(reader, group, group(reader), clause)


def read_select_clause(reader: Reader, group: GroupReader) -> SelectClause:
    """Read [9] SelectClause."""
    token, aggregates, items = reader.expect("SELECT"), Aggregates(), list[Item]()
    distinct = Distinct if reader.accept("DISTINCT") else None
    modifier = Reduced if not distinct and reader.accept("REDUCED") else distinct
    if not reader.accept("*"):
        clause = Clause("SELECT", group, aggregates)
        items.append(_read_item(reader, clause))
        while reader.at(Kind.VARIABLE) or reader.at("("):
            items.append(_read_item(reader, clause))
    return SelectClause(token, tuple(items), modifier, aggregates)


def _read_item(reader: Reader, clause: Clause) -> Item:
    if reader.at(Kind.VARIABLE):
        return Item(terms.variable_of(reader.token), None, reader.take())
    expression, name = read_named(reader, clause)
    return Item(terms.variable_of(name), expression, name)


def read_modifiers(
    reader: Reader, group: GroupReader, where: Pattern, select: SelectClause | None = None
) -> Pattern:
    """Read [18] SolutionModifier and [28] ValuesClause, after SELECT and WHERE were read."""
    aggregates = select.aggregates if select else Aggregates()
    start = reader.token
    keys = read_group_clause(reader, where, Clause("GROUP BY", group))
    having_token, having = reader.token, _read_having(reader, Clause("HAVING", group, aggregates))
    order_token, order = reader.token, _read_order(reader, Clause("ORDER BY", group, aggregates))
    clauses = Clauses(select.items if select else (), having, order, having_token, order_token)
    offset, limit = _read_slice(reader)
    pattern = keys.pattern
    if keys.written or aggregates.found:
        check_items(clauses.items, keys.variables, select.token if select else None)
        clauses, pattern = over_groups(clauses, keys, aggregates)
        pattern = reader.note(pattern, start)
    if clauses.having:
        pattern = reader.note(Filter(conjunction(clauses.having), pattern), having_token)
    pattern = _read_values_clause(reader, pattern)
    pattern = _extended(reader, pattern, clauses.items, in_scope=set(variables(keys.pattern)))
    if clauses.order:
        pattern = reader.note(OrderBy(pattern, clauses.order), order_token)
    pattern = _projected(reader, pattern, select) if select else pattern
    return Slice(pattern, offset, limit) if offset or limit is not None else pattern


def _projected(reader: Reader, pattern: Pattern, select: SelectClause) -> Pattern:
    """The pattern with the variables that SELECT lists, and DISTINCT or REDUCED around it."""
    listed = tuple(dict.fromkeys(item.variable for item in select.items))
    projection = listed if select.items else visible_variables(pattern)
    projected = reader.note(Project(pattern, projection), select.token)
    return reader.note(select.modifier(projected), select.token) if select.modifier else projected


def _read_having(reader: Reader, clause: Clause) -> tuple[Expression, ...]:
    """Read [21] HavingClause."""
    if not reader.accept("HAVING"):
        return ()
    conditions = [read_constraint(reader, clause)]
    while constraint_follows(reader):
        conditions.append(read_constraint(reader, clause))
    return tuple(conditions)


def _read_order(reader: Reader, clause: Clause) -> tuple[OrderCondition, ...]:
    """Read [23] OrderClause."""
    if not reader.accept("ORDER"):
        return ()
    reader.expect("BY")
    conditions = [_read_order_condition(reader, clause)]
    while reader.at(_ORDER_FIRST) or constraint_follows(reader):
        conditions.append(_read_order_condition(reader, clause))
    return tuple(conditions)


def _read_order_condition(reader: Reader, clause: Clause) -> OrderCondition:
    """Read [24] OrderCondition."""
    if reader.at(Kind.VARIABLE):
        return OrderCondition(terms.read_variable(reader))
    if reader.accept("ASC"):
        return OrderCondition(read_bracketted(reader, clause))
    if reader.accept("DESC"):
        return OrderCondition(read_bracketted(reader, clause), descending=True)
    return OrderCondition(read_constraint(reader, clause))


def _read_slice(reader: Reader) -> tuple[int, int | None]:
    """Read [25] LimitOffsetClauses, in either order."""
    limit = _read_count(reader, "LIMIT")
    offset = _read_count(reader, "OFFSET")
    if limit is None and offset is not None:
        limit = _read_count(reader, "LIMIT")
    return offset or 0, limit


def _read_count(reader: Reader, keyword: str) -> int | None:
    if not reader.accept(keyword):
        return None
    token = reader.expect(Kind.NUMBER)
    if not token.text.isdecimal() or len(token.text) > _MOST_DIGITS:
        raise token.error(f"expected a whole number, found {token}")
    return int(token.text)


def _read_values_clause(reader: Reader, pattern: Pattern) -> Pattern:
    """Read [28] ValuesClause."""
    token = reader.accept("VALUES")
    if token is None:
        return pattern
    values = reader.note(read_values(reader, token), token)
    return values if pattern == EMPTY else reader.note(Join(pattern, values), token)


def _extended(
    reader: Reader, pattern: Pattern, items: tuple[Item, ...], *, in_scope: set[Variable]
) -> Pattern:
    """The pattern with what SELECT names; a name must be new."""
    used = set(in_scope)
    for item in items:
        if item.expression is not None:
            if item.variable in used:
                raise taken(item.token)
            extended = Extend(pattern, item.variable, item.expression)
            pattern = reader.note(extended, item.token)
        used.add(item.variable)
    return pattern


def read_values(reader: Reader, start: Token) -> Values:
    """Read [62] DataBlock: rows of terms, each as wide as its list of variables."""
    if reader.at(Kind.VARIABLE):
        name = terms.read_variable(reader)
        reader.expect("{")
        return Values((name,), tuple((value,) for value in _read_cells(reader, "}")))
    names, rows = _read_names(reader), list[tuple[IRI | Literal | None, ...]]()
    for name in names:
        if names.count(name) > 1:
            raise start.error(f"?{name.name} stands twice in the list of VALUES")
    reader.expect("{")
    while reader.accept("("):
        rows.append(row := _read_cells(reader, ")"))
        if len(row) != len(names):
            message = f"row {len(rows)} of VALUES has {len(row)} values for {len(names)} variables"
            raise start.error(f"{message}; write UNDEF for one that is missing")
    reader.expect("}")
    return Values(tuple(names), tuple(rows))


def _read_names(reader: Reader) -> list[Variable]:
    names = list[Variable]()
    reader.expect("(")
    while reader.at(Kind.VARIABLE):
        names.append(terms.read_variable(reader))
    reader.expect(")")
    return names


def _read_cells(reader: Reader, end: str) -> tuple[IRI | Literal | None, ...]:
    """Read [65] DataBlockValue as often as there is one, and the bracket that ends them."""
    cells: list[IRI | Literal | None] = []
    while not reader.accept(end):
        if reader.at(terms.IRI_FIRST):
            cells.append(terms.read_iri(reader))
        elif reader.at(terms.LITERAL_FIRST):
            cells.append(terms.read_literal(reader))
        else:
            reader.expect("UNDEF")
            cells.append(None)
    return tuple(cells)
