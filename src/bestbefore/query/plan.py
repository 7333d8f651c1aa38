"""The plan of a query: its window, its service, and the key that joins them."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import assert_never

from bestbefore.errors import QueryError, UnsupportedSparql, nearest
from bestbefore.query.algebra import (
    BGP,
    Construct,
    Filter,
    Form,
    Pattern,
    Select,
    Service,
    Variable,
    Window,
    children,
    outside_clauses,
    services_of,
    triple_variables,
    variables,
    walk,
    windows_of,
)
from bestbefore.query.continuous import ContinuousQuery, NamedWindow
from bestbefore.query.expression_printing import print_expression
from bestbefore.query.expressions import expression_variables
from bestbefore.query.thresholds import Threshold, find_thresholds
from bestbefore.rdf.terms import BlankNode


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """What an engine needs to know of a query beside its algebra."""

    window: NamedWindow
    window_pattern: Pattern
    window_variables: tuple[Variable, ...]
    service: Service
    service_variables: tuple[Variable, ...]
    join_key: tuple[Variable, ...]
    window_outputs: tuple[Variable, ...]
    around: Pattern
    thresholds: tuple[Threshold, ...] = ()

    @property
    def threshold(self) -> Threshold | None:
        """The FILTER that Filter rankers look at: the first of its kind."""
        return self.thresholds[0] if self.thresholds else None


def plan(query: ContinuousQuery) -> QueryPlan:
    """The plan of a query, or the reason why this version cannot run it."""
    _check_nesting(query.pattern)
    _check_nothing_outside(query.pattern)
    clause, window = _only_window(query)
    service = _only_service(query.pattern)
    window_side, service_side = variables(clause), variables(service)
    join_key = _join_key(window_side, service_side)
    _check_answer(query)
    _check_filters(query.pattern)
    return QueryPlan(
        window=window,
        window_pattern=clause.pattern,
        window_variables=window_side,
        service=service,
        service_variables=service_side,
        join_key=join_key,
        window_outputs=_window_outputs(query, window_side, join_key),
        around=query.pattern,
        thresholds=find_thresholds(query.pattern, service_side),
    )


def _window_outputs(
    query: ContinuousQuery, window_side: tuple[Variable, ...], join_key: tuple[Variable, ...]
) -> tuple[Variable, ...]:
    """The variables of the WINDOW that anything outside of it looks at."""
    used = {*join_key, *_answer_variables(query.form)}
    for node in outside_clauses(query.pattern):
        if isinstance(node, Filter):
            used |= set(expression_variables(node.condition))
    if isinstance(query.form, Construct) and _has_blank_nodes(query.form):
        # A template makes new blank nodes per mapping: mappings must be told apart in full.
        return window_side
    return tuple(each for each in window_side if each in used)


def _answer_variables(form: Form) -> tuple[Variable, ...]:
    return form.projection if isinstance(form, Select) else triple_variables(form.template)


def _has_blank_nodes(form: Construct) -> bool:
    return any(
        isinstance(term, BlankNode)
        for each in form.template
        for term in (each.subject, each.predicate, each.object)
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
    _check_names(declared, [clause.name for clause in clauses])
    if not clauses:
        message = "the query has no WINDOW clause; add FROM NAMED WINDOW … and WINDOW <w> { … }"
        raise QueryError(message)
    if len(clauses) > 1:
        raise UnsupportedSparql(_several("WINDOW", [clause.name for clause in clauses]))
    return clauses[0], declared[clauses[0].name]


def _check_names(declared: Collection[str], used: Collection[str]) -> None:
    for name in used:
        if name not in declared:
            raise QueryError(f"the window <{name}> is not declared; {nearest(name, declared)}")
    for name in declared:
        if name not in used:
            advice = f"add WINDOW <{name}> {{ … }}"
            raise QueryError(f"the window <{name}> is declared but never used; {advice}")


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
    match query.form:
        case Select(projection):
            _check_bound(projection, query.pattern, place="selected")
        case Construct(template):
            needed = triple_variables(template)
            _check_bound(needed, query.pattern, place="used in the CONSTRUCT template")


def _check_filters(pattern: Pattern) -> None:
    """Refuse a FILTER on a variable that its group never binds: it would drop every mapping."""
    for node in walk(pattern):
        if isinstance(node, Filter):
            place = f"used in FILTER({print_expression(node.condition)})"
            _check_bound(expression_variables(node.condition), node.pattern, place=place)


def _check_bound(needed: tuple[Variable, ...], pattern: Pattern, *, place: str) -> None:
    in_scope = variables(pattern)
    for variable in needed:
        if variable not in in_scope:
            hint = nearest(f"?{variable.name}", [f"?{each.name}" for each in in_scope])
            message = f"?{variable.name} is {place}, but no pattern of that group binds it"
            raise QueryError(f"{message}; {hint}" if in_scope else message)


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
