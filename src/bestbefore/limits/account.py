"""What one SERVICE of a query takes from the limits of the service that it asks."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from bestbefore.limits.batches import requests_for, units_for
from bestbefore.limits.ceilings import Grant
from bestbefore.limits.ledger import RequestLedger, Reservation
from bestbefore.limits.settings import NO_LIMITS, Limits

_NOTHING = Reservation(Grant(0))


@dataclass(frozen=True, slots=True)
class Spending:
    """What an evaluation has reserved so far, in this attempt at it and in earlier ones."""

    units: int = 0
    requests: int = 0

    def plus(self, other: "Spending") -> "Spending":
        """Both together."""
        return Spending(self.units + other.units, self.requests + other.requests)

    def less(self, other: "Spending") -> "Spending":
        """What is left of it without another that is part of it."""
        return Spending(self.units - other.units, self.requests - other.requests)

    def at_least(self, other: "Spending") -> "Spending":
        """The larger of both, units and requests each by themselves."""
        return Spending(max(self.units, other.units), max(self.requests, other.requests))

    def within(self, other: "Spending") -> bool:
        """Whether another is as large, in units and in requests."""
        return self.units <= other.units and self.requests <= other.requests


@dataclass(frozen=True, slots=True)
class Affordable:
    """How many units the limits leave requests for, and if these are too few, which limit bound."""

    units: int
    bound_by: str | None = None


@dataclass
class RequestAccount:
    """The limits of one SERVICE, evaluation by evaluation, and one reservation at a time.

    Without a `ledger` nothing is limited beyond an evaluation.
    """

    limits: Limits = NO_LIMITS
    ledger: RequestLedger | None = None
    units_per_request: int = 1
    _reservation: Reservation = field(default=_NOTHING, init=False)

    @property
    def counts_requests(self) -> bool:
        """Whether there is a limit on requests, and not only on units."""
        return self.ledger is not None or self.limits.requests_per_evaluation is not None

    def affordable(self, units: int, spending: Spending) -> Affordable:
        """How many of so many units could be asked for now."""
        found = [Affordable(units)]
        if self.limits.units_per_evaluation is not None:
            left = max(0, self.limits.units_per_evaluation - spending.units)
            found.append(Affordable(left, "units_per_evaluation"))
        wanted = requests_for(units, self.units_per_request)
        if (room := self._room(wanted, spending)) < wanted:
            fitting = units_for(room, self.units_per_request)
            found.append(Affordable(fitting, "requests_per_evaluation"))
        grant = self.ledger.available(wanted) if self.ledger else Grant(wanted)
        found.append(Affordable(units_for(grant.requests, self.units_per_request), grant.bound_by))
        return min(found, key=lambda one: one.units)

    def take(self, units: int, spending: Spending) -> Spending:
        """Reserve requests for so many units; what was reserved, with the units that they cover."""
        room = self._room(requests_for(units, self.units_per_request), spending)
        self._reservation = self._reserved(room)
        covered = min(units, units_for(self.allowed, self.units_per_request))
        return Spending(covered, self.allowed)

    def take_requests(self, requests: int) -> Grant:
        """Reserve requests that are part of no evaluation."""
        self._reservation = self._reserved(requests)
        return self._reservation.grant

    @property
    def written(self) -> int:
        """How many reservations its ledger has written down."""
        return 0 if self.ledger is None else self.ledger.written

    @property
    def allowed(self) -> int:
        """The requests that may be sent now."""
        return self._reservation.grant.requests

    def settle(self, sent: int, *, not_modified: int = 0) -> None:
        """Give back what was not sent of the requests that were taken last."""
        reservation, self._reservation = self._reservation, _NOTHING
        if self.ledger is not None:
            self.ledger.settle(reservation, sent, not_modified=not_modified)

    def left(self) -> Mapping[str, int]:
        """The requests that each lasting limit leaves for now, by its name."""
        return self.ledger.left() if self.ledger else {}

    def _room(self, wanted: int, spending: Spending) -> int:
        """How many of some requests an evaluation may still have."""
        most = self.limits.requests_per_evaluation
        return wanted if most is None else max(0, min(wanted, most - spending.requests))

    def _reserved(self, requests: int) -> Reservation:
        return self.ledger.reserve(requests) if self.ledger else Reservation(Grant(requests))
