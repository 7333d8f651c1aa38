"""The plan of a query: its clauses by number, and the keys that join them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bestbefore.query.aggregates import aggregated_here, is_aggregated
from bestbefore.query.algebra import Pattern, Service, Variable, numbered, services_of, windows_of
from bestbefore.query.continuous import ContinuousQuery, NamedWindow
from bestbefore.query.join_keys import join_keys
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

    `bound_by` is a pattern of WINDOW clauses that are joined or alternatives, or the SERVICE clause
    with the number `after` (`JoinKey`). The answer of a join key is `aggregated` if what it has
    shows in nothing but aggregates.
    """

    number: int
    service: Service
    variables: tuple[Variable, ...]
    join_key: tuple[Variable, ...]
    bound_by: Pattern
    thresholds: tuple[Threshold, ...] = ()
    after: int | None = None
    aggregated: bool = False

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

    def window_of(self, service: ServicePlan) -> NamedWindow:
        """The window whose width and slide say how long a join key of a service is needed."""
        while service.after is not None:
            service = self.services[service.after]
        return self.windows[service.windows[0]].window

    def depth(self, service: ServicePlan) -> int:
        """How many services have to answer before a service can be asked."""
        return 0 if service.after is None else 1 + self.depth(self.services[service.after])

    @property
    def in_order(self) -> tuple[ServicePlan, ...]:
        """The services, each after the one that binds its join key."""
        return tuple(sorted(self.services, key=self.depth))


def plan(query: ContinuousQuery, units: Mapping[str, Sequence[str]] | None = None) -> QueryPlan:
    """The plan of a query, or the reason why this version cannot run it.

    `units` has the variables that name the units of an endpoint, by its IRI, where a job says so.
    """
    check_query(query)
    around = numbered(rewrite(aggregated_here(query.pattern, units or {})))
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
    for number, (clause, key) in enumerate(
        zip(services_of(around), join_keys(around), strict=True)
    ):
        assert key is not None  # noqa: S101 - the checks refuse a service that meets no window
        names = visible_variables(clause)
        plans.append(
            ServicePlan(
                number,
                clause,
                names,
                key.variables,
                key.bound_by,
                find_thresholds(query.pattern, names),
                key.after,
                is_aggregated(clause, key.variables, around),
            )
        )
    return tuple(plans)
