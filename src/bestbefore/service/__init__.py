"""The client of a remote SPARQL endpoint: load the SERVICE pattern once, then refresh units of it.

client ─► fetching ─► request (query text) ─► endpoint (gate, breaker, pacing, slots, retries)
                                                 └─► transport (HTTP) ─► results (rows)
"""

from bestbefore.rdf.terms import Key, Row
from bestbefore.service.client import ServiceClient
from bestbefore.service.request import (
    ServicePattern,
    load_query,
    refresh_query,
    refusal,
    single_query,
)
from bestbefore.service.request_times import RequestTimes
from bestbefore.service.service import Fetched, Loaded, Service, ServiceState
from bestbefore.service.settings import ClientSettings

__all__ = [
    "ClientSettings",
    "Fetched",
    "Key",
    "Loaded",
    "RequestTimes",
    "Row",
    "Service",
    "ServiceClient",
    "ServicePattern",
    "ServiceState",
    "load_query",
    "refresh_query",
    "refusal",
    "single_query",
]
