"""A service that is asked within its limits, whoever asks it."""

from collections.abc import Sequence
from dataclasses import dataclass

from bestbefore.errors import ServiceError
from bestbefore.limits import Grant, RequestAccount
from bestbefore.rdf.terms import Key
from bestbefore.service import Fetched, Loaded, Service
from bestbefore.service.kinds import ClientKind, PluggedService, fetch_within
from bestbefore.time import format_instant

# How many pages a view has is unknown before it is loaded; a crash meanwhile wastes as many.
_PAGES = 1_000


@dataclass(frozen=True)
class LimitedService:
    """A service behind the account that its requests are taken from.

    What is fetched was taken from the account before, with the refreshes; what is loaded is taken
    here. If trouble hides how many requests were sent, all that might have been count.
    """

    service: Service
    account: RequestAccount
    address: str
    load_requests: int

    def load(self, *, requests_allowed: int | None = None) -> Loaded:
        """Return all mappings of the pattern, complete, or raise `ServiceError`."""
        if self.account.ledger is None:
            return self.service.load(requests_allowed=requests_allowed)
        wanted = self.load_requests if requests_allowed is None else requests_allowed
        grant = self.account.take_requests(wanted)
        if grant.requests == 0:
            raise ServiceError(f"{self.address} cannot be loaded from: {_why(grant)}")
        try:
            loaded = self.service.load(requests_allowed=grant.requests)
        except BaseException:
            self.account.settle(grant.requests)
            raise
        self.account.settle(loaded.requests)
        return loaded

    def fetch(
        self,
        keys: Sequence[Key],
        *,
        requests_allowed: int | None = None,
        deadline_s: float | None = None,
    ) -> Fetched:
        """Return the current rows of the units, with no more requests than were taken for them."""
        taken = self.account.allowed
        allowed = taken if requests_allowed is None else min(taken, requests_allowed)
        try:
            fetched = fetch_within(
                self.service, keys, requests_allowed=allowed, deadline_s=deadline_s
            )
        except BaseException:
            self.account.settle(allowed)
            raise
        self.account.settle(fetched.requests, not_modified=fetched.not_modified)
        return fetched

    def close(self) -> None:
        """Close the service."""
        self.service.close()


def load_requests(client: ClientKind) -> int:
    """The requests that loading a view may need."""
    if isinstance(client, PluggedService):
        return _PAGES
    return client.attempts if client.page_rows is None else _PAGES


def _why(grant: Grant) -> str:
    """Which limit leaves no request, and what to do about it."""
    if grant.retry_at_ms is None:
        return f"limits.{grant.bound_by} leaves no request; raise it"
    moment = format_instant(grant.retry_at_ms)
    return f"limits.{grant.bound_by} leaves no request before {moment}; start again then"
