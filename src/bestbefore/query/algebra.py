"""The algebra: frozen, typed nodes, one for each operator of the SPARQL 1.1 algebra.

https://www.w3.org/TR/sparql11-query/#sparqlAlgebra, with `Window` as RSP-QL adds it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import assert_never

from bestbefore.query.expressions import (
    Aggregate,
    Expression,
    Variable,
    exists_patterns,
    expression_variables,
)
from bestbefore.query.paths import Path
from bestbefore.rdf.terms import IRI, BlankNode, Literal

# fmt: off
__all__ = [
    "BGP", "Ask", "Construct", "Describe", "Distinct", "Extend", "Filter", "Form", "Graph",
    "Group", "Join", "LeftJoin", "Minus", "OrderBy", "OrderCondition", "PathPattern", "Pattern",
    "PatternTerm", "Project", "Reduced", "Select", "Service", "Slice", "TriplePattern", "Union",
    "Values", "Variable", "Window", "children", "expressions_of", "mentioned_variables",
    "outside_clauses", "services_of", "tested_patterns", "triple_variables", "variables",
    "visible_variables", "walk", "windows_of",
]
# fmt: on

PatternTerm = Variable | IRI | BlankNode | Literal


@dataclass(frozen=True, slots=True)
class TriplePattern:
    """A triple in which any term may be a variable."""

    subject: PatternTerm
    predicate: PatternTerm
    object: PatternTerm


@dataclass(frozen=True, slots=True)
class BGP:
    """A basic graph pattern: triple patterns that one graph must match together."""

    patterns: tuple[TriplePattern, ...]


@dataclass(frozen=True, slots=True)
class Join:
    """The compatible mappings of two patterns, put together."""

    left: "Pattern"
    right: "Pattern"


@dataclass(frozen=True, slots=True)
class Filter:
    """The mappings of a pattern for which a condition is true."""

    condition: Expression
    pattern: "Pattern"


@dataclass(frozen=True, slots=True)
class Window:
    """A pattern over the content of a named window.

    A plan numbers its WINDOW clauses: two that are written alike are two all the same.
    """

    name: str
    pattern: "Pattern"
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Service:
    """A pattern that a remote SPARQL endpoint answers; its IRI may be that of a variable.

    A plan numbers its SERVICE clauses: two that are written alike are two all the same.
    """

    iri: str | Variable
    pattern: "Pattern"
    silent: bool = False
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Graph:
    """A pattern over a named graph, or over each of them in turn with its name in a variable."""

    name: Variable | IRI
    pattern: "Pattern"


@dataclass(frozen=True, slots=True)
class PathPattern:
    """A pair of terms that a property path connects."""

    subject: PatternTerm
    path: Path
    object: PatternTerm


@dataclass(frozen=True, slots=True)
class LeftJoin:
    """OPTIONAL: the left mappings, extended where a compatible right one fulfils the condition."""

    left: "Pattern"
    right: "Pattern"
    condition: Expression | None = None


@dataclass(frozen=True, slots=True)
class Union:
    """The mappings of either pattern."""

    left: "Pattern"
    right: "Pattern"


@dataclass(frozen=True, slots=True)
class Minus:
    """The left mappings with no compatible right one that shares a variable with them."""

    left: "Pattern"
    right: "Pattern"


@dataclass(frozen=True, slots=True)
class Extend:
    """The mappings with one more variable, unbound where its expression is an error."""

    pattern: "Pattern"
    variable: Variable
    expression: Expression


@dataclass(frozen=True, slots=True)
class Values:
    """Mappings as written; None is UNDEF."""

    variables: tuple[Variable, ...]
    rows: tuple[tuple[IRI | Literal | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Group:
    """A mapping per group: the variables it is grouped by, and aggregates under new variables.

    Without keys there is one group, also if there is no mapping.
    """

    pattern: "Pattern"
    keys: tuple[Variable, ...]
    aggregates: tuple[tuple[Variable, Aggregate], ...]


@dataclass(frozen=True, slots=True)
class Project:
    """The mappings restricted to some variables; a subquery shows no others."""

    pattern: "Pattern"
    variables: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class Distinct:
    """The mappings without repetitions."""

    pattern: "Pattern"


@dataclass(frozen=True, slots=True)
class Reduced:
    """The mappings, of which repetitions may be left out."""

    pattern: "Pattern"


@dataclass(frozen=True, slots=True)
class OrderCondition:
    """What mappings are ordered by, and in which direction."""

    expression: Expression
    descending: bool = False


@dataclass(frozen=True, slots=True)
class OrderBy:
    """The mappings in an order."""

    pattern: "Pattern"
    conditions: tuple[OrderCondition, ...]


@dataclass(frozen=True, slots=True)
class Slice:
    """Some of the mappings in their order: after an offset, up to a limit."""

    pattern: "Pattern"
    offset: int = 0
    limit: int | None = None


Pattern = (
    BGP
    | PathPattern
    | Join
    | LeftJoin
    | Union
    | Minus
    | Filter
    | Extend
    | Values
    | Graph
    | Window
    | Service
    | Group
    | Project
    | Distinct
    | Reduced
    | OrderBy
    | Slice
)


@dataclass(frozen=True, slots=True)
class Select:
    """An answer of mappings, with columns in this order.

    What DISTINCT, ORDER BY and LIMIT do is in the pattern.
    """

    projection: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class Construct:
    """An answer of triples, made from a template for each mapping."""

    template: tuple[TriplePattern, ...]


@dataclass(frozen=True, slots=True)
class Ask:
    """An answer that says whether there is any mapping."""


@dataclass(frozen=True, slots=True)
class Describe:
    """An answer of the triples around some terms: those of variables, and IRIs."""

    terms: tuple[Variable | IRI, ...]


Form = Select | Construct | Ask | Describe


def children(pattern: Pattern) -> tuple[Pattern, ...]:
    """The patterns directly below one, in the order they are written; not those of EXISTS."""
    match pattern:
        case BGP() | PathPattern() | Values():
            return ()
        case Join() | LeftJoin() | Union() | Minus():
            return (pattern.left, pattern.right)
        case Filter() | Extend() | Graph() | Window() | Service() | Group() | Project():
            return (pattern.pattern,)
        case Distinct() | Reduced() | OrderBy() | Slice():
            return (pattern.pattern,)
    assert_never(pattern)


def expressions_of(pattern: Pattern) -> tuple[Expression, ...]:
    """The expressions that a pattern itself evaluates, without those of the patterns below it."""
    match pattern:
        case Filter(condition, _):
            return (condition,)
        case LeftJoin(_, _, condition):
            return () if condition is None else (condition,)
        case Extend(_, _, expression):
            return (expression,)
        case OrderBy(_, conditions):
            return tuple(condition.expression for condition in conditions)
        case Group(_, _, aggregates):
            arguments = (aggregate.argument for _, aggregate in aggregates)
            return tuple(argument for argument in arguments if argument is not None)
    return ()


def tested_patterns(pattern: Pattern) -> Iterator[Pattern]:
    """The patterns of EXISTS in the expressions that a pattern itself evaluates."""
    return (inner for part in expressions_of(pattern) for inner in exists_patterns(part))


def walk(pattern: Pattern) -> Iterator[Pattern]:
    """A pattern and all patterns below it, outer before inner, left before right.

    The patterns of EXISTS come after those that its condition is about.
    """
    pending = [pattern]
    while pending:
        yield (node := pending.pop())
        pending.extend(reversed((*children(node), *tested_patterns(node))))


def outside_clauses(pattern: Pattern) -> Iterator[Pattern]:
    """A pattern and those below it, but for what stands inside WINDOW, SERVICE or EXISTS."""
    yield pattern
    if not isinstance(pattern, Window | Service):
        for child in children(pattern):
            yield from outside_clauses(child)


def windows_of(pattern: Pattern) -> tuple[Window, ...]:
    """The WINDOW clauses of a pattern, in the order they are written."""
    return tuple(node for node in walk(pattern) if isinstance(node, Window))


def services_of(pattern: Pattern) -> tuple[Service, ...]:
    """The SERVICE clauses of a pattern, in the order they are written."""
    return tuple(node for node in walk(pattern) if isinstance(node, Service))


def variables(pattern: Pattern) -> tuple[Variable, ...]:  # noqa: PLR0911 - one case per node
    """The variables in scope in a pattern (SPARQL 1.1 section 18.2.1), by first appearance.

    A FILTER and the right side of MINUS bring none into scope, and a blank node never is one.
    Hidden variables count: patterns are joined on them too.
    """
    match pattern:
        case BGP(patterns):
            return triple_variables(patterns)
        case PathPattern(subject, _, object_):
            return _distinct(end for end in (subject, object_) if isinstance(end, Variable))
        case Join() | LeftJoin() | Union():
            return _distinct((*variables(pattern.left), *variables(pattern.right)))
        case Minus(left, _):
            return variables(left)
        case Extend(inner, variable, _):
            return _distinct((*variables(inner), variable))
        case Values(names, _) | Project(_, names):
            return _distinct(names)
        case Graph(name, inner) | Service(name, inner):
            named = (name,) if isinstance(name, Variable) else ()
            return _distinct((*named, *variables(inner)))
        case Group(_, keys, aggregates):
            return _distinct((*keys, *(variable for variable, _ in aggregates)))
        case Filter() | Window() | Distinct() | Reduced() | OrderBy() | Slice():
            return variables(pattern.pattern)
    assert_never(pattern)


def visible_variables(pattern: Pattern) -> tuple[Variable, ...]:
    """The variables in scope that a query can name: what `SELECT *` selects."""
    return tuple(name for name in variables(pattern) if not name.hidden)


def mentioned_variables(pattern: Pattern) -> tuple[Variable, ...]:
    """The variables that a pattern binds or reads, but for those that a subquery keeps inside."""
    if isinstance(pattern, Project | Values):
        return variables(pattern)
    below = (name for child in children(pattern) for name in mentioned_variables(child))
    read = (name for part in expressions_of(pattern) for name in expression_variables(part))
    return _distinct((*variables(pattern), *below, *read))


def triple_variables(patterns: tuple[TriplePattern, ...]) -> tuple[Variable, ...]:
    """The variables of triple patterns, in order of first appearance."""
    terms = (term for one in patterns for term in (one.subject, one.predicate, one.object))
    return _distinct(term for term in terms if isinstance(term, Variable))


def _distinct(several: Iterable[Variable]) -> tuple[Variable, ...]:
    return tuple(dict.fromkeys(several))
