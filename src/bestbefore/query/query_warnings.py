"""Warnings: what SPARQL gives a meaning that hardly anyone means, with its place in the text.

A condition on a variable that nothing binds is an error for every solution, and a graph that no
FROM NAMED declares is empty. Both are run as they are written.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from bestbefore.errors import nearest
from bestbefore.query.algebra import (
    Extend,
    Filter,
    Graph,
    LeftJoin,
    Pattern,
    Project,
    Service,
    Window,
    children,
    tested_patterns,
)
from bestbefore.query.continuous import ContinuousQuery, Place
from bestbefore.query.expressions import (
    And,
    Call,
    Constant,
    Exists,
    Expression,
    In,
    Not,
    Or,
    Variable,
    conjuncts,
    operands,
    own_variables,
)
from bestbefore.query.printing import print_expression
from bestbefore.query.scope import variables
from bestbefore.rdf.terms import IRI, XSD, Literal

Names = frozenset[Variable]
_TRUE, _FALSE, _ERROR = "true", "false", "error"
_ANY = frozenset({_TRUE, _FALSE, _ERROR})


@dataclass(frozen=True, slots=True)
class QueryWarning:
    """What is probably a mistake, and where it is written."""

    message: str
    place: Place | None = None

    def __str__(self) -> str:
        if self.place is None:
            return self.message
        return f"line {self.place.line}, column {self.place.column}: {self.message}"


@dataclass(frozen=True, slots=True)
class _Scope:
    """What a pattern sees of what is around it: variables that EXISTS brings in, local graphs."""

    names: Names = frozenset()
    remote: bool = False


def find_warnings(query: ContinuousQuery) -> tuple[QueryWarning, ...]:
    """What in a query is probably a mistake, outer patterns before inner ones."""
    return tuple(_warnings(query, query.pattern, _Scope()))


def _warnings(query: ContinuousQuery, pattern: Pattern, scope: _Scope) -> Iterator[QueryWarning]:
    """The warnings about a pattern.

    A clause inside EXISTS is evaluated on its own, and a subquery sees what it selects.
    """
    in_scope, inner = frozenset(variables(pattern)) | scope.names, scope
    match pattern:
        case Filter(condition, _) | LeftJoin(_, _, condition) if condition is not None:
            yield from _never_true(query, condition, in_scope)
        case Extend(below, variable, expression):
            known = frozenset(variables(below)) | scope.names
            if outcomes(expression, known) == {_ERROR}:
                message = f"{_text(expression)} is always an error and ?{variable.name} unbound"
                yield _unbound(query, expression, known, message)
        case Graph(IRI(name)) if not scope.remote and name not in query.named_graphs:
            hint = f"; {nearest(name, query.named_graphs)}" if query.named_graphs else ""
            message = f"no FROM NAMED declares the graph <{name}>, so it is empty{hint}"
            yield QueryWarning(message, query.places.of(pattern))
        case Window() | Service():
            inner = _Scope(remote=isinstance(pattern, Service))
        case Project(_, names):
            inner = replace(scope, names=scope.names & {*names})
    for child in children(pattern):
        yield from _warnings(query, child, inner)
    for tested in tested_patterns(pattern):
        yield from _warnings(query, tested, replace(inner, names=in_scope))


def _never_true(
    query: ContinuousQuery, condition: Expression, in_scope: Names
) -> Iterator[QueryWarning]:
    for part in conjuncts(condition):
        if _TRUE not in outcomes(part, in_scope):
            yield _unbound(query, part, in_scope, f"FILTER({_text(part)}) is never true")


def _text(expression: Expression) -> str:
    text = print_expression(expression)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _unbound(
    query: ContinuousQuery, expression: Expression, in_scope: Names, message: str
) -> QueryWarning:
    unbound = [name for name in own_variables(expression) if name not in in_scope]
    listed = ", ".join(f"?{name.name}" for name in unbound)
    reason = f": no pattern of that group binds {listed}" if unbound else ""
    known = [f"?{name.name}" for name in in_scope if not name.hidden]
    hint = f"; {nearest(f'?{unbound[0].name}', known)}" if unbound and known else ""
    return QueryWarning(message + reason + hint, query.places.of(expression))


def outcomes(  # noqa: PLR0911 - one case per node
    expression: Expression, in_scope: Names
) -> frozenset[str]:
    """What an expression can come to, as a condition, if other variables than these are unbound."""
    found = [outcomes(operand, in_scope) for operand in operands(expression)]
    match expression:
        case Variable():
            return _ANY if expression in in_scope else frozenset({_ERROR})
        case Constant(Literal(lexical, datatype)) if datatype == XSD + "boolean":
            return frozenset({_TRUE if lexical in ("true", "1") else _FALSE})
        case Not():
            turned = {_TRUE: _FALSE, _FALSE: _TRUE, _ERROR: _ERROR}
            return frozenset(turned[outcome] for outcome in found[0])
        case And():
            return _joined(found, decisive=_FALSE, other=_TRUE)
        case Or():
            return _joined(found, decisive=_TRUE, other=_FALSE)
        case Exists():
            return frozenset({_TRUE, _FALSE})
        case Call("BOUND", (Variable() as variable,)):
            return frozenset({_TRUE, _FALSE} if variable in in_scope else {_FALSE})
        case Call("IF"):
            return _chosen(*found)
        case Call("COALESCE"):
            return _ANY if any(operand != {_ERROR} for operand in found) else frozenset({_ERROR})
    return _strict(expression, found)


def _joined(found: list[frozenset[str]], *, decisive: str, other: str) -> frozenset[str]:
    """What `&&` or `||` can come to: one decisive operand decides, even beside an error."""
    possible = {decisive} if any(decisive in operand for operand in found) else set[str]()
    possible |= {other} if all(other in operand for operand in found) else set()
    possible |= {_ERROR} if any(_ERROR in operand for operand in found) else set()
    return frozenset(possible)


def _chosen(
    test: frozenset[str], then: frozenset[str], otherwise: frozenset[str]
) -> frozenset[str]:
    """What IF can come to."""
    ways = {_TRUE: then, _FALSE: otherwise, _ERROR: frozenset({_ERROR})}
    return frozenset().union(*(ways[outcome] for outcome in test))


def _strict(expression: Expression, found: list[frozenset[str]]) -> frozenset[str]:
    """What an operator can come to that is an error where an operand is one.

    IN is one where it has choices and all of them are.
    """
    errors = [outcome == {_ERROR} for outcome in found]
    if isinstance(expression, In):
        operand, *choices = errors
        failed = operand or (bool(choices) and all(choices))
    else:
        failed = any(errors)
    return frozenset({_ERROR}) if failed else _ANY
