"""The plan of a query: its windows, its services, and the keys that join them."""

from dataclasses import dataclass

from bestbefore.query.algebra import (
    Pattern,
    Service,
    Variable,
    Window,
    services_of,
    visible_variables,
    windows_of,
)
from bestbefore.query.continuous import ContinuousQuery, NamedWindow
from bestbefore.query.join_keys import join_key
from bestbefore.query.needed_triples import TripleShape, needed_triples
from bestbefore.query.plan_checks import check_query
from bestbefore.query.rewrites import rewrite
from bestbefore.query.thresholds import Threshold, find_thresholds
from bestbefore.query.window_outputs import window_outputs


@dataclass(frozen=True, slots=True)
class WindowPlan:
    """A WINDOW clause: its window, its pattern and variables, and those that others look at.

    `needed` are the triples that the pattern can look at.
    """

    window: NamedWindow
    pattern: Pattern
    variables: tuple[Variable, ...]
    outputs: tuple[Variable, ...]
    needed: tuple[TripleShape, ...]

    @property
    def clause(self) -> Window:
        """The clause as it stands in the pattern around it."""
        return Window(self.window.name, self.pattern)


@dataclass(frozen=True, slots=True)
class ServicePlan:
    """A SERVICE clause: its variables, those that windows bind, and these windows.

    `alternative` says that a mapping comes from one of them, not from all of them together.
    """

    service: Service
    variables: tuple[Variable, ...]
    join_key: tuple[Variable, ...]
    windows: tuple[Window, ...]
    alternative: bool = False
    thresholds: tuple[Threshold, ...] = ()

    @property
    def iri(self) -> str:
        """The IRI of the endpoint, which a plan always knows."""
        return str(self.service.iri)


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """What an engine needs to know of a query beside its algebra.

    The clauses are in the order of `around`, the pattern that is evaluated.
    """

    windows: tuple[WindowPlan, ...]
    services: tuple[ServicePlan, ...]
    around: Pattern
    thresholds: tuple[Threshold, ...] = ()


def plan(query: ContinuousQuery) -> QueryPlan:
    """The plan of a query, or the reason why this version cannot run it."""
    check_query(query)
    around = rewrite(query.pattern)
    services = tuple(_service_plan(each, around, query.pattern) for each in services_of(around))
    everything = tuple(dict.fromkeys(each for part in services for each in part.variables))
    thresholds = find_thresholds(query.pattern, everything)
    return QueryPlan(_window_plans(query, around), services, around, thresholds)


def _window_plans(query: ContinuousQuery, around: Pattern) -> tuple[WindowPlan, ...]:
    declared = {window.name: window for window in query.windows}
    return tuple(
        WindowPlan(
            declared[each.name],
            each.pattern,
            visible_variables(each),
            window_outputs(each, around, query.form),
            needed_triples(each.pattern),
        )
        for each in windows_of(around)
    )


def _service_plan(service: Service, around: Pattern, written: Pattern) -> ServicePlan:
    key, names = join_key(service, around), visible_variables(service)
    thresholds = find_thresholds(written, names)
    return ServicePlan(service, names, key.variables, key.windows, key.alternative, thresholds)
