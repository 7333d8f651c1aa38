"""Grouping: GROUP BY, the productions [19] and [20], and what SPARQL 1.1 section 18.2.4.1 says."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from bestbefore.query.algebra import Extend, Group, OrderCondition, Pattern
from bestbefore.query.expressions import (
    Aggregate,
    Call,
    Expression,
    Variable,
    own_variables,
    with_operands,
)
from bestbefore.query.grammar.expressions import (
    Aggregates,
    Clause,
    constraint_follows,
    read_constraint,
    read_expression,
)
from bestbefore.query.grammar.reader import Reader
from bestbefore.query.grammar.terms import read_variable, variable_of
from bestbefore.query.grammar.tokens import Kind, Token
from bestbefore.query.scope import variables


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


@dataclass(frozen=True, slots=True)
class Keys:
    """What solutions are grouped by: variables of a pattern; `written` says if GROUP BY is."""

    pattern: Pattern
    variables: tuple[Variable, ...] = ()
    written: bool = False


def read_group_clause(reader: Reader, where: Pattern, clause: Clause) -> Keys:
    """Read [19] GroupClause, if there is one; an expression becomes a variable of the pattern."""
    if not reader.accept("GROUP"):
        return Keys(where)
    reader.expect("BY")
    keys: dict[Variable, None] = {}
    while not keys or reader.at(Kind.VARIABLE) or constraint_follows(reader):
        where, key = _read_condition(reader, where, clause, number=len(keys) + 1)
        keys[key] = None
    return Keys(where, tuple(keys), written=True)


def _read_condition(
    reader: Reader, where: Pattern, clause: Clause, *, number: int
) -> tuple[Pattern, Variable]:
    """Read [20] GroupCondition: the pattern with its key, and the key."""
    token, name = reader.token, None
    if reader.at(Kind.VARIABLE):
        return where, read_variable(reader)
    if reader.accept("("):
        expression = read_expression(reader, clause)
        name = reader.expect(Kind.VARIABLE) if reader.accept("AS") else None
        reader.expect(")")
    else:
        expression = read_constraint(reader, clause)
    if name is None and isinstance(expression, Variable):
        return where, expression
    key = Variable(f".k{number}") if name is None else variable_of(name)
    if name is not None and key in variables(where):
        raise taken(name)
    return reader.note(Extend(where, key, expression), token), key


def taken(token: Token) -> Exception:
    """The error that a name after AS is in use."""
    return token.error(f"{token.text} is bound in the pattern; choose another name after AS")


def check_items(items: tuple[Item, ...], keys: Collection[Variable], select: Token | None) -> None:
    """Refuse what has no single value for a group: SELECT *, and variables that are no keys."""
    if not items and select is not None:
        raise select.error("SELECT * does not go with groups; list the variables")
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
    return token.error(f"{message}; {advice}")


def over_groups(clauses: Clauses, keys: Keys, aggregates: Aggregates) -> tuple[Clauses, Group]:
    """The clauses over groups, and the groups.

    A variable of HAVING or ORDER BY that is no key is sampled, as SPARQL says; ORDER BY also sees
    what SELECT names. Aggregates are numbered as they are met in the text.
    """
    _check_having(clauses, keys)
    known, numbered = set(keys.variables), Aggregates()
    selected = {item.variable for item in clauses.items}
    over = _OverGroups({name: aggregate for aggregate, name in aggregates.found.items()}, numbered)
    items = tuple(
        item if item.expression is None else replace(item, expression=over.plain(item.expression))
        for item in clauses.items
    )
    having = tuple(over.sampled(part, known, clauses.having_token) for part in clauses.having)
    order = tuple(
        OrderCondition(
            over.sampled(part.expression, known | selected, clauses.order_token), part.descending
        )
        for part in clauses.order
    )
    changed = replace(clauses, items=items, having=having, order=order)
    return changed, Group(keys.pattern, keys.variables, numbered.named())


def _check_having(clauses: Clauses, keys: Keys) -> None:
    named = {item.variable for item in clauses.items}
    unknown = named - set(keys.variables) - set(variables(keys.pattern))
    for variable in (name for condition in clauses.having for name in own_variables(condition)):
        if variable in unknown:
            message = f"HAVING comes before SELECT and does not know ?{variable.name}"
            advice = "repeat the expression that it names"
            raise clauses.having_token.error(f"{message}; {advice}")


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
        return with_operands(expression, lambda part: self.sampled(part, known, token))
