"""Checks of a query before it is planned: what cannot be run, and what can only be a mistake."""

from collections.abc import Collection, Iterable, Iterator
from typing import assert_never

from bestbefore.errors import QueryError, UnsupportedSparql, nearest
from bestbefore.query.algebra import (
    BGP,
    Construct,
    Extend,
    Filter,
    Graph,
    LeftJoin,
    PathPattern,
    Pattern,
    Project,
    Service,
    Variable,
    Window,
    children,
    expressions_of,
    services_of,
    triple_variables,
    variables,
    visible_variables,
    walk,
    windows_of,
)
from bestbefore.query.certainty import certain_variables
from bestbefore.query.continuous import ContinuousQuery
from bestbefore.query.expressions import (
    Call,
    Expression,
    exists_patterns,
    expression_variables,
    operands,
    own_variables,
)
from bestbefore.query.join_keys import join_key
from bestbefore.query.printing import print_expression
from bestbefore.query.rebuilding import numbered
from bestbefore.rdf.terms import IRI


def check_query(query: ContinuousQuery) -> None:
    """Refuse what this version cannot run, with its line, and what can only be a mistake."""
    _check_nesting(query)
    _check_services(query)
    _check_graphs(query, query.pattern)
    _check_windows(query)
    _check_join_keys(query)
    _check_template(query)
    _check_expressions(query, query.pattern)


def _mistake(query: ContinuousQuery, node: Pattern, message: str) -> QueryError:
    line, column = query.places.get(node, (None, None))
    return QueryError(message, line=line, column=column)


def _unsupported(query: ContinuousQuery, node: Pattern, construct: str, instead: str) -> QueryError:
    line, column = query.places.get(node, (None, None))
    message = f"{construct} is not supported in this version; {instead}"
    return UnsupportedSparql(message, line=line, column=column)


def _check_nesting(query: ContinuousQuery) -> None:
    for outer in (node for node in walk(query.pattern) if isinstance(node, Window | Service)):
        for inner in walk(outer.pattern):
            if isinstance(inner, Window | Service):
                message = f"{clause_name(inner)} stands inside {clause_name(outer)}"
                advice = "write one after the other, they are joined on the variables they share"
                raise _mistake(query, inner, f"{message}; {advice}")
            if isinstance(inner, Graph) and isinstance(outer, Window):
                advice = "the content of a window is one graph; leave GRAPH out"
                raise _unsupported(query, inner, "GRAPH inside WINDOW", advice)


def _check_services(query: ContinuousQuery) -> None:
    for service in services_of(query.pattern):
        if isinstance(service.iri, Variable):
            construct, instead = f"SERVICE ?{service.iri.name}", "name the endpoint by its IRI"
            raise _unsupported(query, service, construct, instead)
    for node in walk(query.pattern):
        for inner in (each for part in expressions_of(node) for each in exists_patterns(part)):
            for service in services_of(inner):
                instead = "join with it, and test what it binds"
                raise _unsupported(query, service, "SERVICE inside EXISTS", instead)


def _check_graphs(query: ContinuousQuery, pattern: Pattern) -> None:
    """Check that patterns outside of clauses have a graph to match."""
    match pattern:
        case Window() | Service():
            return
        case Graph(name, _):
            _check_named(query, pattern, name)
            return
        case PathPattern() | BGP((_, *_)) if not query.default_graphs:
            construct = "a triple pattern outside WINDOW and SERVICE"
            instead = "move it into the clause whose data it describes, or add FROM <graph>"
            raise _unsupported(query, pattern, construct, instead)
    tested = (each for part in expressions_of(pattern) for each in exists_patterns(part))
    for inner in (*children(pattern), *tested):
        _check_graphs(query, inner)


def _check_named(query: ContinuousQuery, clause: Graph, name: object) -> None:
    known = query.named_graphs
    if not known:
        message = "GRAPH needs a graph to look at; add FROM NAMED <graph>"
        raise _mistake(query, clause, message)
    if isinstance(name, IRI) and name.value not in known:
        message = f"the graph <{name.value}> is not declared by FROM NAMED"
        raise _mistake(query, clause, f"{message}; {nearest(name.value, known)}")
    for inner in walk(clause.pattern):
        if isinstance(inner, Window | Service):
            message = f"{clause_name(inner)} stands inside GRAPH; write one after the other"
            raise _mistake(query, inner, message)


def _check_windows(query: ContinuousQuery) -> None:
    declared, used = {window.name for window in query.windows}, windows_of(query.pattern)
    for clause in used:
        if clause.name not in declared:
            message = f"the window <{clause.name}> is not declared"
            raise _mistake(query, clause, f"{message}; {nearest(clause.name, declared)}")
    for window in query.windows:
        if window.name not in {clause.name for clause in used}:
            advice = f"add WINDOW <{window.name}> {{ … }}"
            raise QueryError(f"the window <{window.name}> is declared but never used; {advice}")


def _check_join_keys(query: ContinuousQuery) -> None:
    pattern = numbered(query.pattern)
    clauses = zip(services_of(query.pattern), services_of(pattern), strict=True)
    for written, service in clauses:
        if join_key(service, pattern) is None:
            bound = [name for clause in windows_of(pattern) for name in visible_variables(clause)]
            raise _mistake(query, written, _no_join_key(service, tuple(dict.fromkeys(bound))))


def _no_join_key(service: Service, bound: tuple[Variable, ...]) -> str:
    """Why a service meets no window, and the way out."""
    own = visible_variables(service)
    message = (
        f"WINDOW ({_listed(bound)}) and SERVICE ({_listed(own)}) share no variable on which they "
        "are joined; without one every stream element would join with every remote mapping. "
    )
    shared = [each for each in own if each in bound]
    if not shared:
        return message + "Name what both describe by the same variable"
    if loose := [each for each in shared if each not in certain_variables(service.pattern)]:
        return message + f"The SERVICE may leave {_listed(loose)} unbound: bind it in all its cases"
    return message + (
        f"{_listed(shared)} restricts the SERVICE only where a WINDOW always binds it: in the same "
        "group, or around an OPTIONAL or MINUS that holds the SERVICE"
    )


def _check_template(query: ContinuousQuery) -> None:
    if isinstance(query.form, Construct):
        needed = triple_variables(query.form.template)
        _check_bound(query, query.pattern, query.pattern, needed, "used in the CONSTRUCT template")


def _check_expressions(query: ContinuousQuery, pattern: Pattern) -> None:
    """Refuse variables that nothing binds where they are used.

    EXISTS also sees what is around, but a WINDOW in it does not: it is evaluated on its own.
    """
    match pattern:
        case Project(inner, names):
            _check_bound(query, pattern, inner, names, "selected")
        case Filter(condition, _) | LeftJoin(_, _, condition) if condition is not None:
            place = f"used in FILTER({print_expression(condition)})"
            _check_bound(query, pattern, pattern, _needed(condition), place)
        case Extend(inner, _, expression):
            place = f"used in {print_expression(expression)}"
            _check_bound(query, pattern, inner, _needed(expression), place)
    tested = (each for part in expressions_of(pattern) for each in exists_patterns(part))
    windows = (each for inner in tested for each in windows_of(inner))
    for below in (*children(pattern), *windows):
        _check_expressions(query, below)


def _needed(expression: Expression) -> Iterator[Variable]:
    """The variables without which an expression is an error; some functions expect unbound ones."""
    excused = set(_excused(expression))
    return (each for each in own_variables(expression) if each not in excused)


def _excused(expression: Expression) -> Iterator[Variable]:
    if isinstance(expression, Call) and expression.function in ("BOUND", "COALESCE"):
        yield from expression_variables(expression)
    for part in operands(expression):
        yield from _excused(part)


def _check_bound(
    query: ContinuousQuery, node: Pattern, scope: Pattern, needed: Iterable[Variable], place: str
) -> None:
    in_scope = variables(scope)
    for variable in needed:
        if variable not in in_scope:
            names = [f"?{each.name}" for each in in_scope if not each.hidden]
            message = f"?{variable.name} is {place}, but no pattern of that group binds it"
            hint = f"; {nearest(f'?{variable.name}', names)}" if names else ""
            raise _mistake(query, node, message + hint)


def _listed(names: Collection[Variable]) -> str:
    return ", ".join(f"?{variable.name}" for variable in names) or "no variables"


def clause_name(clause: Window | Service) -> str:
    """A clause as it is called in messages."""
    match clause:
        case Window(name):
            return f"WINDOW <{name}>"
        case Service(Variable(name)):
            return f"SERVICE ?{name}"
        case Service(iri):
            return f"SERVICE <{iri}>"
    assert_never(clause)
