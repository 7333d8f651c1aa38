"""The plan of a query: its window, its service, and the key that joins them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import assert_never

from bestbefore.errors import QueryError, UnsupportedSparql, nearest
from bestbefore.query.algebra import (
    BGP,
    Construct,
    Pattern,
    Select,
    Service,
    Variable,
    Window,
    children,
    services_of,
    triple_variables,
    variables,
    walk,
    windows_of,
)
from bestbefore.query.continuous import ContinuousQuery, NamedWindow


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """What an engine needs to know of a query beside its algebra."""

    window: NamedWindow
    window_pattern: Pattern
    window_variables: tuple[Variable, ...]
    service: Service
    service_variables: tuple[Variable, ...]
    join_key: tuple[Variable, ...]
    around: Pattern


def plan(query: ContinuousQuery) -> QueryPlan:
    """The plan of a query, or the reason why this version cannot run it."""
    _check_nesting(query.pattern)
    _check_nothing_outside(query.pattern)
    clause, window = _only_window(query)
    service = _only_service(query.pattern)
    _check_answer(query)
    window_side, service_side = variables(clause), variables(service)
    return QueryPlan(
        window=window,
        window_pattern=clause.pattern,
        window_variables=window_side,
        service=service,
        service_variables=service_side,
        join_key=_join_key(window_side, service_side),
        around=query.pattern,
    )


def _check_nesting(pattern: Pattern) -> None:
    clauses: list[Window | Service] = [*windows_of(pattern), *services_of(pattern)]
    for outer in clauses:
        for inner in walk(outer.pattern):
            if isinstance(inner, Window | Service):
                raise QueryError(
                    f"{_clause(inner)} stands inside {_clause(outer)}; write one after the other, "
                    "they are joined on the variables they share"
                )


def _check_nothing_outside(pattern: Pattern) -> None:
    match pattern:
        case Window() | Service():
            return
        case BGP(patterns) if patterns:
            raise UnsupportedSparql(
                "a triple pattern outside WINDOW and SERVICE is not supported in this version; "
                "move it into the clause whose data it describes"
            )
    for child in children(pattern):
        _check_nothing_outside(child)


def _only_window(query: ContinuousQuery) -> tuple[Window, NamedWindow]:
    declared = {window.name: window for window in query.windows}
    clauses = windows_of(query.pattern)
    for clause in clauses:
        if clause.name not in declared:
            raise QueryError(
                f"the window <{clause.name}> is not declared; {nearest(clause.name, declared)}"
            )
    used = {clause.name for clause in clauses}
    for name in declared:
        if name not in used:
            raise QueryError(
                f"the window <{name}> is declared but never used; add WINDOW <{name}> {{ … }}"
            )
    if len(clauses) > 1:
        raise UnsupportedSparql(_several("WINDOW", sorted(used)))
    if not clauses:
        raise QueryError(
            "the query has no WINDOW clause; add FROM NAMED WINDOW … and WINDOW <w> { … }"
        )
    return clauses[0], declared[clauses[0].name]


def _only_service(pattern: Pattern) -> Service:
    services = services_of(pattern)
    if not services:
        raise QueryError("the query has no SERVICE clause; add SERVICE <endpoint> { … }")
    if len(services) > 1:
        raise UnsupportedSparql(_several("SERVICE", [each.iri for each in services]))
    return services[0]


def _several(keyword: str, names: list[str]) -> str:
    listed = ", ".join(f"<{name}>" for name in names)
    return f"several {keyword} clauses ({listed}) are not supported in this version; write one"


def _check_answer(query: ContinuousQuery) -> None:
    in_scope = variables(query.pattern)
    match query.form:
        case Select(projection):
            wanted, place = projection, "selected"
        case Construct(template):
            wanted, place = triple_variables(template), "used in the CONSTRUCT template"
    for variable in wanted:
        if variable not in in_scope:
            hint = nearest(f"?{variable.name}", (f"?{each.name}" for each in in_scope))
            raise QueryError(f"?{variable.name} is {place} but occurs nowhere in WHERE; {hint}")


def _join_key(window: tuple[Variable, ...], service: tuple[Variable, ...]) -> tuple[Variable, ...]:
    shared = tuple(variable for variable in service if variable in window)
    if not shared:
        raise QueryError(
            f"WINDOW ({_listed(window)}) and SERVICE ({_listed(service)}) share no variable; "
            "without one every stream element would join with every remote mapping. Name what both "
            "describe by the same variable"
        )
    return shared


def _listed(names: Iterable[Variable]) -> str:
    return ", ".join(f"?{variable.name}" for variable in names) or "no variables"


def _clause(pattern: Window | Service) -> str:
    match pattern:
        case Window(name):
            return f"WINDOW <{name}>"
        case Service(iri):
            return f"SERVICE <{iri}>"
    assert_never(pattern)
