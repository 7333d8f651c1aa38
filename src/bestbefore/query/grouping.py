"""Grouping: GROUP BY and aggregates out of a parse tree (SPARQL 1.1 section 18.2.4.1)."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from bestbefore.query.aggregation import Aggregates
from bestbefore.query.algebra import Extend, Group, OrderCondition, Pattern, variables
from bestbefore.query.depth import check_number
from bestbefore.query.expression_translation import Context, translate_expression
from bestbefore.query.expressions import Aggregate, Call, Expression, Variable, own_variables
from bestbefore.query.rebuilding import with_operands
from bestbefore.query.source import Source
from bestbefore.query.syntax import Leaf, Node, Tree
from bestbefore.query.text import Token, error_at


@dataclass(frozen=True, slots=True)
class Item:
    """What SELECT lists: a variable, and the expression that it names if there is one."""

    variable: Variable
    expression: Expression | None
    token: Token


@dataclass(frozen=True, slots=True)
class Clauses:
    """The clauses of a query in which aggregates may stand, and where they are written."""

    items: tuple[Item, ...]
    having: tuple[Expression, ...]
    order: tuple[OrderCondition, ...]
    having_token: Token
    order_token: Token


def group_keys(
    clause: Tree | None, where: Pattern, context: Context
) -> tuple[Pattern, tuple[Variable, ...]]:
    """What GROUP BY groups by; an expression becomes a variable of the pattern."""
    keys: dict[Variable, None] = {}
    conditions = clause.all("condition") if isinstance(clause, Node) else ()
    check_number([each for each in conditions if not isinstance(each, Leaf)])
    for condition in conditions:
        named, expression = _condition(condition, context)
        if named is None and isinstance(expression, Variable):
            keys[expression] = None
            continue
        key = Variable(f".k{len(keys) + 1}") if named is None else context.source.variable(named)
        if key in variables(where) and isinstance(named, Leaf):
            raise taken(context.source.token(named))
        where = Extend(where, key, expression)
        keys[key] = None
    return where, tuple(keys)


def _condition(tree: Tree, context: Context) -> tuple[Tree | None, Expression]:
    inside = replace(context, place="GROUP BY")
    match tree:
        case Node("GroupAs"):
            return tree.parts.get("var"), translate_expression(tree.parts["expr"], inside)
    return None, translate_expression(tree, inside)


def taken(token: Token) -> Exception:
    """The error that a name after AS is in use."""
    return error_at(token, f"{token.text} is bound in the pattern; choose another name after AS")


def check_items(
    node: Node, items: tuple[Item, ...], keys: Collection[Variable], source: Source
) -> None:
    """Refuse what has no single value for a group: SELECT *, and variables that are no keys."""
    if not items and node.name in ("SelectQuery", "SubSelect"):
        message = "SELECT * does not go with groups; list the variables"
        raise error_at(source.token(node), message)
    known = set(keys)
    for item in items:
        read = (item.variable,) if item.expression is None else own_variables(item.expression)
        for variable in read:
            if variable not in known and not variable.hidden:
                raise _not_grouped(variable, item.token)
        known.add(item.variable)


def _not_grouped(variable: Variable, token: Token) -> Exception:
    message = f"?{variable.name} has many values in a group"
    advice = f"add it to GROUP BY, or aggregate it, such as SAMPLE(?{variable.name})"
    return error_at(token, f"{message}; {advice}")


def grouped(
    clauses: Clauses, pattern: Pattern, keys: tuple[Variable, ...], aggregates: Aggregates
) -> tuple[Clauses, Group]:
    """The clauses over groups, and the groups.

    A variable of HAVING or ORDER BY that is no key is sampled, as SPARQL says; ORDER BY also sees
    what SELECT names. Aggregates are numbered as they are met in the text.
    """
    _check_having(clauses, keys, pattern)
    selected, numbered = {each.variable for each in clauses.items}, Aggregates()
    over = _OverGroups({name: each for each, name in aggregates.found.items()}, numbered)
    items = tuple(
        each if each.expression is None else replace(each, expression=over.plain(each.expression))
        for each in clauses.items
    )
    having = tuple(over.sampled(each, {*keys}, clauses.having_token) for each in clauses.having)
    order = tuple(
        replace(
            each, expression=over.sampled(each.expression, {*keys, *selected}, clauses.order_token)
        )
        for each in clauses.order
    )
    changed = replace(clauses, items=items, having=having, order=order)
    return changed, Group(pattern, keys, numbered.named())


def _check_having(clauses: Clauses, keys: tuple[Variable, ...], pattern: Pattern) -> None:
    unknown = {each.variable for each in clauses.items} - set(keys) - set(variables(pattern))
    for variable in (each for condition in clauses.having for each in own_variables(condition)):
        if variable in unknown:
            message = f"HAVING comes before SELECT and does not know ?{variable.name}"
            raise error_at(clauses.having_token, f"{message}; repeat the expression that it names")


@dataclass(frozen=True, slots=True)
class _OverGroups:
    """The way from expressions as they were read to expressions over groups."""

    found: Mapping[Variable, Aggregate]
    numbered: Aggregates

    def plain(self, expression: Expression) -> Expression:
        """An expression whose variables are keys or aggregates."""
        if isinstance(expression, Variable) and expression in self.found:
            return self.numbered.variable(self.found[expression])
        return with_operands(expression, self.plain)

    def sampled(self, expression: Expression, known: set[Variable], token: Token) -> Expression:
        """An expression in which variables that have no single value are sampled."""
        match expression:
            case Variable() if not expression.hidden and expression not in known:
                return self.numbered.variable(Aggregate("SAMPLE", expression))
            case Variable():
                return self.plain(expression)
            case Call("BOUND", (Variable() as variable,)) if variable not in known:
                raise _not_grouped(variable, token)
        return with_operands(expression, lambda each: self.sampled(each, known, token))
