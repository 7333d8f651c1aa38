"""Checks of a query before it is planned: what cannot be run, and what can only be a mistake."""

from collections.abc import Collection, Iterable

from bestbefore.errors import nearest
from bestbefore.query.algebra import (
    BGP,
    Construct,
    Graph,
    NamedClause,
    PathPattern,
    Pattern,
    Project,
    Service,
    Variable,
    Window,
    children,
    expressions_of,
    numbered,
    services_of,
    tested_patterns,
    walk,
    windows_of,
)
from bestbefore.query.continuous import ContinuousQuery
from bestbefore.query.expressions import own_variables
from bestbefore.query.join_keys import join_keys
from bestbefore.query.printing import print_clause_name
from bestbefore.query.refusals import Refusal, error_at
from bestbefore.query.scope import certain_variables, triple_variables, variables, visible_variables


def check_query(query: ContinuousQuery) -> None:
    """Refuse what this version cannot run, with its line, and what can only be a mistake."""
    _check_nesting(query)
    _check_services(query)
    _check_graphs(query, query.pattern)
    _check_windows(query)
    _check_join_keys(query)
    _check_answer(query)
    _check_tests(query)


def _check_nesting(query: ContinuousQuery) -> None:
    for outer in (node for node in walk(query.pattern) if isinstance(node, NamedClause)):
        for inner in walk(outer.pattern):
            if isinstance(inner, Window | Service):
                around = "GRAPH" if isinstance(outer, Graph) else _name(outer)
                message = f"{_name(inner)} stands inside {around}"
                raise Refusal.NESTED_CLAUSES.mistake(query.places.of(inner), message)
            if isinstance(inner, Graph) and isinstance(outer, Window):
                raise Refusal.GRAPH_IN_WINDOW.at(query.places.of(inner))


def _check_services(query: ContinuousQuery) -> None:
    for service in services_of(query.pattern):
        if isinstance(service.iri, Variable):
            raise Refusal.SERVICE_VARIABLE.at(query.places.of(service), _name(service))
    for inner in (inner for node in walk(query.pattern) for inner in tested_patterns(node)):
        for service in services_of(inner):
            raise Refusal.SERVICE_IN_EXISTS.at(query.places.of(service))


def _check_graphs(query: ContinuousQuery, pattern: Pattern) -> None:
    """Check that patterns outside of clauses have a graph to match."""
    match pattern:
        case Window() | Service() | Graph():
            return
        case PathPattern() | BGP((_, *_)) if not query.default_graphs:
            raise Refusal.OUTSIDE_CLAUSES.at(query.places.of(pattern))
    for inner in (*children(pattern), *tested_patterns(pattern)):
        _check_graphs(query, inner)


def _check_windows(query: ContinuousQuery) -> None:
    declared, used = {window.name for window in query.windows}, windows_of(query.pattern)
    for clause in used:
        if clause.name not in declared:
            message = f"the window <{clause.name}> is not declared"
            raise error_at(query.places.of(clause), f"{message}; {nearest(clause.name, declared)}")
    for window in query.windows:
        if window.name not in {clause.name for clause in used}:
            message = f"the window <{window.name}> is declared but never used"
            raise Refusal.UNUSED_WINDOW.mistake(query.places.of(window), message)


def _check_join_keys(query: ContinuousQuery) -> None:
    pattern = numbered(query.pattern)
    clauses = zip(services_of(query.pattern), services_of(pattern), join_keys(pattern), strict=True)
    for written, service, key in clauses:
        if key is None:
            bound = [name for clause in windows_of(pattern) for name in visible_variables(clause)]
            message = _no_join_key(service, tuple(dict.fromkeys(bound)))
            raise error_at(query.places.of(written), message)


def _no_join_key(service: Service, bound: tuple[Variable, ...]) -> str:
    """Why a service meets no window, and the way out."""
    own = visible_variables(service)
    message = (
        f"WINDOW ({_listed(bound)}) and SERVICE ({_listed(own)}) share no variable on which they "
        "are joined; without one every stream element would join with every remote mapping. "
    )
    shared = [name for name in own if name in bound]
    if not shared:
        return message + "Name what both describe by the same variable"
    if loose := [name for name in shared if name not in certain_variables(service.pattern)]:
        return message + f"The SERVICE may leave {_listed(loose)} unbound: bind it in all its cases"
    return message + (
        f"{_listed(shared)} restricts the SERVICE only where a WINDOW always binds it: in the same "
        "group, or around an OPTIONAL or MINUS that holds the SERVICE"
    )


def _check_answer(query: ContinuousQuery) -> None:
    """Refuse to answer with a variable that nothing binds."""
    if isinstance(query.form, Construct):
        needed = triple_variables(query.form.template)
        _check_bound(query, query.pattern, query.pattern, needed, "used in the CONSTRUCT template")
    for node in walk(query.pattern):
        if isinstance(node, Project):
            _check_bound(query, node, node.pattern, node.variables, "selected")


def _check_bound(
    query: ContinuousQuery, node: Pattern, scope: Pattern, needed: Iterable[Variable], use: str
) -> None:
    in_scope = dict.fromkeys(variables(scope))
    for variable in needed:
        if variable not in in_scope:
            names = [f"?{name.name}" for name in in_scope if not name.hidden]
            message = f"?{variable.name} is {use}, but no pattern of that group binds it"
            hint = f" ({nearest(f'?{variable.name}', names)})" if names else ""
            raise Refusal.UNBOUND_ANSWER.mistake(query.places.of(node), message + hint)


def _check_tests(query: ContinuousQuery) -> None:
    """Refuse a WINDOW inside EXISTS that looks at what is outside: it is evaluated on its own."""
    for outer in walk(query.pattern):
        for window in (window for inner in tested_patterns(outer) for window in windows_of(inner)):
            _check_window_alone(query, window, frozenset(variables(outer)))


def _check_window_alone(
    query: ContinuousQuery, window: Window, outside: frozenset[Variable]
) -> None:
    for node in walk(window.pattern):
        read = dict.fromkeys(name for part in expressions_of(node) for name in own_variables(part))
        for name in read if read.keys() & outside else ():
            if name in outside and name not in variables(node):
                construct = f"?{name.name} of outside EXISTS in a WINDOW inside it"
                raise Refusal.OUTER_VARIABLE.at(query.places.of(node), construct)


def _listed(names: Collection[Variable]) -> str:
    return ", ".join(f"?{variable.name}" for variable in names) or "no variables"


def _name(clause: Window | Service) -> str:
    return f"{type(clause).__name__.upper()} {print_clause_name(clause)}"
