"""The algebra: frozen, typed nodes, one for each operator of the SPARQL 1.1 algebra.

https://www.w3.org/TR/sparql11-query/#sparqlAlgebra, with `Window` as RSP-QL adds it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count

from bestbefore.query.expressions import (
    Aggregate,
    Exists,
    Expression,
    Variable,
    exists_patterns,
    with_operands,
)
from bestbefore.query.paths import Path
from bestbefore.rdf.terms import IRI, BlankNode, Literal

# fmt: off
__all__ = [
    "BGP", "Ask", "Binary", "Construct", "Describe", "Distinct", "Extend", "Filter", "Form",
    "Graph", "Group", "Join", "Leaf", "LeftJoin", "Minus", "Modifier", "NamedClause", "OrderBy",
    "OrderCondition", "PathPattern", "Pattern", "PatternTerm", "Project", "Reduced", "Select",
    "Selection", "Service", "Slice", "TriplePattern", "Unary", "Union", "Values", "Variable",
    "Window", "children", "expressions_of", "numbered", "services_of", "tested_patterns", "walk",
    "windows_of", "with_children", "with_expressions",
]
# fmt: on

PatternTerm = Variable | IRI | BlankNode | Literal


@dataclass(frozen=True, slots=True)
class TriplePattern:
    """A triple in which any term may be a variable."""

    subject: PatternTerm
    predicate: PatternTerm
    object: PatternTerm

    @property
    def terms(self) -> tuple[PatternTerm, PatternTerm, PatternTerm]:
        """Subject, predicate and object."""
        return self.subject, self.predicate, self.object


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


Leaf = BGP | PathPattern | Values
Binary = Join | LeftJoin | Union | Minus
NamedClause = Graph | Window | Service
Modifier = Group | Project | Distinct | Reduced | OrderBy | Slice
Selection = Filter | Distinct | Reduced | OrderBy | Slice
"""What has some mappings of the pattern below it, and has them unchanged."""
Unary = NamedClause | Modifier | Filter | Extend
Pattern = Leaf | Binary | Unary


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
    if isinstance(pattern, Leaf):
        return ()
    if isinstance(pattern, Binary):
        return (pattern.left, pattern.right)
    return (pattern.pattern,)


def with_children(pattern: Pattern, change: Callable[[Pattern], Pattern]) -> Pattern:
    """A pattern with its children changed."""
    if isinstance(pattern, Leaf):
        return pattern
    if isinstance(pattern, Binary):
        return replace(pattern, left=change(pattern.left), right=change(pattern.right))
    return replace(pattern, pattern=change(pattern.pattern))


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


def with_expressions(pattern: Pattern, change: Callable[[Expression], Expression]) -> Pattern:
    """A pattern with the expressions changed that it evaluates itself."""
    match pattern:
        case Filter(condition, _):
            return replace(pattern, condition=change(condition))
        case LeftJoin(_, _, condition) if condition is not None:
            return replace(pattern, condition=change(condition))
        case Extend(_, _, expression):
            return replace(pattern, expression=change(expression))
        case OrderBy(_, conditions):
            changed = (replace(part, expression=change(part.expression)) for part in conditions)
            return replace(pattern, conditions=tuple(changed))
        case Group(_, _, aggregates):
            return replace(pattern, aggregates=tuple(_aggregated(aggregates, change)))
    return pattern


def _aggregated(
    aggregates: tuple[tuple[Variable, Aggregate], ...], change: Callable[[Expression], Expression]
) -> Iterator[tuple[Variable, Aggregate]]:
    for variable, aggregate in aggregates:
        argument = aggregate.argument
        changed = None if argument is None else change(argument)
        yield variable, replace(aggregate, argument=changed)


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


def windows_of(pattern: Pattern) -> tuple[Window, ...]:
    """The WINDOW clauses of a pattern, in the order they are written."""
    return tuple(node for node in walk(pattern) if isinstance(node, Window))


def services_of(pattern: Pattern) -> tuple[Service, ...]:
    """The SERVICE clauses of a pattern, in the order they are written."""
    return tuple(node for node in walk(pattern) if isinstance(node, Service))


def numbered(pattern: Pattern) -> Pattern:
    """A pattern whose WINDOW clauses have numbers, and its SERVICE clauses, in `walk`'s order."""
    windows, services = count(), count()

    def number(node: Pattern) -> Pattern:
        match node:
            case Window():
                node = replace(node, number=next(windows))
            case Service():
                node = replace(node, number=next(services))
        return with_expressions(with_children(node, number), tested)

    def tested(expression: Expression) -> Expression:
        if isinstance(expression, Exists):
            return replace(expression, pattern=number(expression.pattern))
        return with_operands(expression, tested)

    return number(pattern)
