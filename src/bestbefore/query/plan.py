"""The plan of a query: its clauses by number, and the keys that join them."""

from dataclasses import dataclass

from bestbefore.query.algebra import Pattern, Service, Variable, numbered, services_of, windows_of
from bestbefore.query.continuous import ContinuousQuery, NamedWindow
from bestbefore.query.join_keys import join_key
from bestbefore.query.needed_triples import TripleShape, needed_triples
from bestbefore.query.plan_checks import check_query
from bestbefore.query.rewrites import rewrite
from bestbefore.query.scope import visible_variables
from bestbefore.query.thresholds import Threshold, find_thresholds
from bestbefore.query.window_outputs import window_outputs


@dataclass(frozen=True, slots=True)
class WindowPlan:
    """A WINDOW clause: its window, its pattern and variables, and those that others look at.

    `needed` are the triples that the pattern can look at.
    """

    number: int
    window: NamedWindow
    pattern: Pattern
    variables: tuple[Variable, ...]
    outputs: tuple[Variable, ...]
    needed: tuple[TripleShape, ...]


@dataclass(frozen=True, slots=True)
class ServicePlan:
    """A SERVICE clause: its variables, those that it is joined on, and what binds these.

    `bound_by` is a pattern of WINDOW clauses that are joined or alternatives (`JoinKey`).
    """

    number: int
    service: Service
    variables: tuple[Variable, ...]
    join_key: tuple[Variable, ...]
    bound_by: Pattern
    thresholds: tuple[Threshold, ...] = ()

    @property
    def iri(self) -> str:
        """The IRI of the endpoint, which a plan always knows."""
        return str(self.service.iri)

    @property
    def windows(self) -> tuple[int, ...]:
        """The numbers of the WINDOW clauses that bind the join key."""
        numbers = (clause.number for clause in windows_of(self.bound_by))
        return tuple(number for number in numbers if number is not None)


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """What an engine needs to know of a query beside its algebra.

    `around` is the pattern that is evaluated; the number of a clause in it is its index in
    `windows`, or in `services`.
    """

    windows: tuple[WindowPlan, ...]
    services: tuple[ServicePlan, ...]
    around: Pattern
    thresholds: tuple[Threshold, ...] = ()


def plan(query: ContinuousQuery) -> QueryPlan:
    """The plan of a query, or the reason why this version cannot run it."""
    check_query(query)
    around = numbered(rewrite(query.pattern))
    services = _service_plans(query, around)
    everything = tuple(dict.fromkeys(name for part in services for name in part.variables))
    thresholds = find_thresholds(query.pattern, everything)
    return QueryPlan(_window_plans(query, around), services, around, thresholds)


def _window_plans(query: ContinuousQuery, around: Pattern) -> tuple[WindowPlan, ...]:
    declared = {window.name: window for window in query.windows}
    return tuple(
        WindowPlan(
            number,
            declared[clause.name],
            clause.pattern,
            visible_variables(clause),
            window_outputs(clause, around, query.form),
            needed_triples(clause.pattern),
        )
        for number, clause in enumerate(windows_of(around))
    )


def _service_plans(query: ContinuousQuery, around: Pattern) -> tuple[ServicePlan, ...]:
    plans = []
    for number, clause in enumerate(services_of(around)):
        key, names = join_key(clause, around), visible_variables(clause)
        assert key is not None  # noqa: S101 - the checks refuse a service that meets no window
        thresholds = find_thresholds(query.pattern, names)
        plans.append(ServicePlan(number, clause, names, key.variables, key.bound_by, thresholds))
    return tuple(plans)
