"""The client of a remote SPARQL endpoint: load the SERVICE pattern once, then refresh units of it.

pattern + keys ─► request (query text) ─► endpoint (HTTP, retries) ─► reply (rows)
                                 └──────────── client ────────────┘
"""

from bestbefore.rdf.terms import Key, Row
from bestbefore.service.client import SparqlClient
from bestbefore.service.request import (
    ServicePattern,
    load_query,
    refresh_query,
    refusal,
    single_query,
)
from bestbefore.service.service import Fetched, Loaded, Service
from bestbefore.service.settings import ClientSettings

__all__ = [
    "ClientSettings",
    "Fetched",
    "Key",
    "Loaded",
    "Row",
    "Service",
    "ServicePattern",
    "SparqlClient",
    "load_query",
    "refresh_query",
    "refusal",
    "single_query",
]
