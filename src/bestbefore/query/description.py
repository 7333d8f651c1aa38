"""Descriptions of patterns for people: the algebra as an indented tree."""

from typing import assert_never

from bestbefore.query.algebra import (
    BGP,
    Distinct,
    Extend,
    Filter,
    Graph,
    Group,
    Join,
    LeftJoin,
    Minus,
    OrderBy,
    OrderCondition,
    PathPattern,
    Pattern,
    Project,
    Reduced,
    Service,
    Slice,
    Union,
    Values,
    Variable,
    Window,
    children,
    expressions_of,
)
from bestbefore.query.expression_printing import Wording, print_path, print_term
from bestbefore.query.expressions import Expression, exists_patterns
from bestbefore.query.printing import print_iri, print_triple


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
        case Values(_, rows):
            return [
                " ".join("UNDEF" if cell is None else print_term(cell) for cell in row) or "()"
                for row in rows
            ]
    return []


def _words(pattern: Pattern) -> list[str]:  # noqa: PLR0911 - one case per node
    """The first line of a pattern: its operator, and what belongs to it."""
    name = type(pattern).__name__
    match pattern:
        case PathPattern(subject, path, object_):
            return ["Path", print_term(subject), print_path(path), print_term(object_)]
        case Filter(condition, _) | LeftJoin(_, _, condition) if condition is not None:
            return [name, _expression(condition)]
        case Extend(_, variable, expression):
            return [name, print_term(variable), "=", _expression(expression)]
        case Values(names, _) | Project(_, names):
            return [name, *map(print_term, names)]
        case Graph() | Window() | Service():
            return _clause(pattern)
        case Group() | OrderBy() | Slice():
            return _modifier(pattern)
        case BGP() | Join() | LeftJoin() | Union() | Minus() | Filter() | Distinct() | Reduced():
            return [name]
    assert_never(pattern)


def _clause(pattern: Graph | Window | Service) -> list[str]:
    match pattern:
        case Graph(name, _):
            return ["Graph", print_term(name)]
        case Window(name, _):
            return ["Window", print_iri(name)]
        case Service(iri, _, silent):
            name = print_term(iri) if isinstance(iri, Variable) else print_iri(iri)
            return ["Service", name, *(["silent"] if silent else [])]
    assert_never(pattern)


def _modifier(pattern: Group | OrderBy | Slice) -> list[str]:
    match pattern:
        case Group(_, keys, aggregates):
            wording = Wording(_mention)
            made = [f"{print_term(name)} = {wording.aggregate(one)}" for name, one in aggregates]
            return [f"Group by {' '.join(map(print_term, keys)) or 'nothing'}: {', '.join(made)}"]
        case OrderBy(_, conditions):
            return ["OrderBy", ", ".join(map(_order, conditions))]
        case Slice(_, offset, limit):
            return ["Slice", f"from {offset}", *([] if limit is None else [f"at most {limit}"])]
    assert_never(pattern)


def _order(condition: OrderCondition) -> str:
    direction = " descending" if condition.descending else ""
    return f"{_expression(condition.expression)}{direction}"


def _expression(expression: Expression) -> str:
    return Wording(_mention).expression(expression)


def _mention(_: Pattern) -> str:
    """What stands for the pattern of EXISTS, which is described below."""
    return "{ … }"
