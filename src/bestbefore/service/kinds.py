"""Kinds of services: SPARQL endpoints, lookups by HTTP and in SQL, and what plug-ins bring."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import Parameter, signature
from typing import Any, ClassVar

from bestbefore.errors import BestbeforeError, JobError
from bestbefore.rdf.terms import Key
from bestbefore.registry import Registry
from bestbefore.service.client import ServiceClient, dialect_of
from bestbefore.service.request import ServicePattern, refusal
from bestbefore.service.service import Fetched, Service
from bestbefore.service.settings import ClientSettings
from bestbefore.service.sql_settings import SqlSettings
from bestbefore.service.sql_transport import check_columns

SPARQL, HTTP, SQL = "sparql", "http", "sql"
BUILT_IN = (SPARQL, HTTP, SQL)

ServiceFactory = Callable[[Mapping[str, Any], ServicePattern], Service]
"""A function from the settings in a job file, and the SERVICE pattern, to a service."""

service_kinds: Registry[ServiceFactory] = Registry("kind of service", JobError)


@dataclass(frozen=True)
class PluggedService:
    """A service of a kind that a plug-in brings, with its settings as they stand in the job."""

    kind: str
    settings: Mapping[str, Any]
    meaning: ClassVar[None] = None


ClientKind = ClientSettings | SqlSettings | PluggedService
"""Who answers a SERVICE, as a job describes it."""


def states_changes(settings: ClientKind) -> bool:
    """Whether a lookup has a column that says when a unit has last changed."""
    if isinstance(settings, PluggedService):
        return False
    lookup = settings if isinstance(settings, SqlSettings) else settings.lookup
    return lookup is not None and lookup.modified is not None


def refusal_of(settings: ClientKind, pattern: ServicePattern) -> Callable[[Key], str | None]:
    """What tells why a key can never be sent to a service, or `None` if it can."""
    if isinstance(settings, PluggedService):
        return partial(refusal, pattern)
    return dialect_of(settings, pattern).refusal


def open_service(settings: ClientKind, pattern: ServicePattern) -> Service:
    """The service that answers a pattern."""
    if isinstance(settings, SqlSettings):
        check_columns(settings, pattern)
    if not isinstance(settings, PluggedService):
        return ServiceClient(settings, pattern)
    try:
        return service_kinds[settings.kind](settings.settings, pattern)
    except BestbeforeError:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise JobError(f"a service of kind {settings.kind!r} cannot be opened: {reason}") from error


def fetch_within(
    service: Service,
    keys: Sequence[Key],
    *,
    requests_allowed: int | None = None,
    deadline_s: float | None = None,
) -> Fetched:
    """Fetch units within a deadline; a service whose `fetch` takes none has all the time."""
    if deadline_s is None or not _takes_deadline(service):
        return service.fetch(keys, requests_allowed=requests_allowed)
    return service.fetch(keys, requests_allowed=requests_allowed, deadline_s=deadline_s)


def _takes_deadline(service: Service) -> bool:
    parameters = signature(service.fetch).parameters
    return "deadline_s" in parameters or any(
        parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters.values()
    )
