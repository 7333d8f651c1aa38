"""Descriptions of patterns for people: the algebra as an indented tree."""

from typing import assert_never

from bestbefore.query.algebra import (
    BGP,
    Binary,
    Extend,
    Filter,
    Graph,
    Group,
    LeftJoin,
    OrderBy,
    OrderCondition,
    PathPattern,
    Pattern,
    Project,
    Selection,
    Service,
    Slice,
    Values,
    Window,
    children,
    expressions_of,
)
from bestbefore.query.expression_printing import Wording, print_path, print_term
from bestbefore.query.expressions import exists_patterns
from bestbefore.query.printing import print_clause_name, print_rows, print_triple

# The pattern of EXISTS is described below the expression that it stands in.
_WORDING = Wording(lambda _: "{ … }")


def describe_algebra(pattern: Pattern) -> str:
    """A pattern as an indented tree, one operator or triple pattern on each line."""
    return "\n".join(_describe(pattern))


def _describe(pattern: Pattern) -> list[str]:
    below = [line for child in children(pattern) for line in _describe(child)]
    for expression in expressions_of(pattern):
        for number, inner in enumerate(exists_patterns(expression), start=1):
            below += [f"EXISTS {number}", *(f"  {line}" for line in _describe(inner))]
    return [" ".join(_words(pattern)), *(f"  {line}" for line in _leaves(pattern) + below)]


def _leaves(pattern: Pattern) -> list[str]:
    match pattern:
        case BGP(patterns):
            return [print_triple(triple) for triple in patterns]
        case Values():
            return [row or "()" for row in print_rows(pattern)]
    return []


def _words(pattern: Pattern) -> list[str]:  # noqa: PLR0911 - one case per node
    """The first line of a pattern: its operator, and what belongs to it."""
    name = type(pattern).__name__
    match pattern:
        case PathPattern(subject, path, object_):
            return ["Path", print_term(subject), print_path(path), print_term(object_)]
        case Filter(condition, _) | LeftJoin(_, _, condition) if condition is not None:
            return [name, _WORDING.expression(condition)]
        case Extend(_, variable, expression):
            return [name, print_term(variable), "=", _WORDING.expression(expression)]
        case Values(names, _) | Project(_, names):
            return [name, *map(print_term, names)]
        case Graph() | Window() | Service():
            silent = ["silent"] if isinstance(pattern, Service) and pattern.silent else []
            return [name, print_clause_name(pattern), *silent]
        case Group(_, keys, aggregates):
            made = [f"{print_term(new)} = {_WORDING.aggregate(one)}" for new, one in aggregates]
            return [f"Group by {' '.join(map(print_term, keys)) or 'nothing'}: {', '.join(made)}"]
        case OrderBy(_, conditions):
            return [name, ", ".join(map(_order, conditions))]
        case Slice(_, offset, limit):
            return [name, f"from {offset}", *([] if limit is None else [f"at most {limit}"])]
    if isinstance(pattern, BGP | Binary | Selection):
        return [name]
    assert_never(pattern)


def _order(condition: OrderCondition) -> str:
    direction = " descending" if condition.descending else ""
    return f"{_WORDING.expression(condition.expression)}{direction}"
