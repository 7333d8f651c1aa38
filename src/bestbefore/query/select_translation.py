"""SELECT clauses and solution modifiers out of a parse tree.

The operators come in the order of sections 18.2.4 and 18.2.5 of SPARQL 1.1: Group, HAVING, VALUES,
SELECT expressions, ORDER BY, projection, DISTINCT, OFFSET and LIMIT.
"""

from dataclasses import replace

from bestbefore.query.aggregation import Aggregates
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
    variables,
    visible_variables,
)
from bestbefore.query.depth import check_number
from bestbefore.query.expression_translation import Context, translate_expression
from bestbefore.query.expressions import And, Expression, Variable
from bestbefore.query.grouping import Clauses, Item, check_items, group_keys, grouped, taken
from bestbefore.query.inline_data import translate_values
from bestbefore.query.source import Source
from bestbefore.query.syntax import Leaf, Node, Tree, Word
from bestbefore.query.text import error_at

EMPTY = BGP(())


def translate_select(
    node: Node, where: Pattern, context: Context
) -> tuple[tuple[Variable, ...], Pattern]:
    """The columns of a SELECT and its whole pattern, given that of its WHERE."""
    items, pattern = _solve(node, where, context)
    selected = tuple(dict.fromkeys(each.variable for each in items))
    projection = selected if items else visible_variables(pattern)
    pattern = context.source.notes.at(context.source.token(node), Project(pattern, projection))
    match node.parts.get("modifier"):
        case Word("DISTINCT"):
            pattern = Distinct(pattern)
        case Word("REDUCED"):
            pattern = Reduced(pattern)
    return projection, _sliced(node, pattern, context.source)


def translate_modifiers(node: Node, where: Pattern, context: Context) -> Pattern:
    """The pattern of a query that has no SELECT clause, given that of its WHERE."""
    _, pattern = _solve(node, where, context)
    return _sliced(node, pattern, context.source)


def _solve(node: Node, where: Pattern, context: Context) -> tuple[tuple[Item, ...], Pattern]:
    """What SELECT lists, and the pattern up to ORDER BY."""
    aggregates = Aggregates()
    clauses = _clauses(node, replace(context, aggregates=aggregates))
    pattern, keys = group_keys(node.parts.get("groupby"), where, context)
    in_scope = set(variables(pattern))
    if "groupby" in node.parts or aggregates.found:
        check_items(node, clauses.items, keys, context.source)
        clauses, pattern = grouped(clauses, pattern, keys, aggregates)
    if clauses.having:
        pattern = Filter(_all(clauses.having), pattern)
    pattern = _extended(_with_values(node, pattern, context.source), clauses.items, in_scope)
    return clauses.items, OrderBy(pattern, clauses.order) if clauses.order else pattern


def _clauses(node: Node, context: Context) -> Clauses:
    having, order = node.parts.get("having"), node.parts.get("orderby")
    conditions = having.all("condition") if isinstance(having, Node) else ()
    directions = order.all("condition") if isinstance(order, Node) else ()
    first = context.source.token(node)
    return Clauses(
        tuple(_item(each, context) for each in node.all("projection")),
        tuple(translate_expression(each, context) for each in conditions),
        tuple(_order(each, context) for each in directions),
        having_token=context.source.token(having) if isinstance(having, Node) else first,
        order_token=context.source.token(order) if isinstance(order, Node) else first,
    )


def _item(tree: Tree, context: Context) -> Item:
    match tree:
        case Node("vars", {"var": Leaf() as leaf}):
            return Item(context.source.variable(leaf), None, context.source.token(leaf))
        case Node("vars", {"expr": expression, "evar": Leaf() as leaf}):
            value = translate_expression(expression, context)
            return Item(context.source.variable(leaf), value, context.source.token(leaf))
    raise TypeError(f"no projection: {tree}")


def _order(tree: Tree, context: Context) -> OrderCondition:
    if not isinstance(tree, Node):
        raise TypeError(f"no order: {tree}")
    expression = translate_expression(tree.parts["expr"], context)
    return OrderCondition(expression, descending=tree.parts.get("order") == Word("DESC"))


def _all(conditions: tuple[Expression, ...]) -> Expression:
    return And(conditions) if len(conditions) > 1 else conditions[0]


def _with_values(node: Node, pattern: Pattern, source: Source) -> Pattern:
    clause = node.parts.get("valuesClause")
    if not isinstance(clause, Node):
        return pattern
    values = translate_values(clause, source)
    return values if pattern == EMPTY else Join(pattern, values)


def _extended(pattern: Pattern, items: tuple[Item, ...], in_scope: set[Variable]) -> Pattern:
    """The pattern with what SELECT names; a name must be new."""
    used = set(in_scope)
    check_number([item for item in items if item.expression is not None])
    for item in items:
        if item.expression is not None:
            if item.variable in used:
                raise taken(item.token)
            pattern = Extend(pattern, item.variable, item.expression)
        used.add(item.variable)
    return pattern


def _sliced(node: Node, pattern: Pattern, source: Source) -> Pattern:
    clause = node.parts.get("limitoffset")
    if not isinstance(clause, Node):
        return pattern
    offset = _count(clause.parts.get("offset"), source)
    limit = _count(clause.parts.get("limit"), source)
    return Slice(pattern, offset or 0, limit) if offset or limit is not None else pattern


def _count(tree: Tree | None, source: Source) -> int | None:
    if not isinstance(tree, Leaf):
        return None
    token = source.token(tree)
    if not token.text.isdecimal():
        raise error_at(token, f"expected a whole number, found {token}")
    return int(token.text)
