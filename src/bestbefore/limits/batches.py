"""Requests and units: limits count requests, γ counts units, and a request may carry several."""

from math import ceil


def requests_for(units: int, units_per_request: int) -> int:
    """The requests worth having for a fetch: one per batch, room to confirm each, and a retry.

    >>> requests_for(120, 50), requests_for(0, 50)
    (7, 0)
    """
    return 2 * ceil(units / units_per_request) + 1 if units > 0 else 0


def units_for(requests: int, units_per_request: int) -> int:
    """The most units that so many requests can ask for."""
    return requests * units_per_request
