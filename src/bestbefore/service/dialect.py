"""What tells kinds of services apart: how units are asked for, and how replies are read."""

from collections.abc import Sequence
from typing import Protocol

from bestbefore.rdf.terms import Key
from bestbefore.service.call import Question


class Dialect(Protocol):
    """The language in which one SERVICE pattern is asked of one kind of service."""

    def refusal(self, key: Key) -> str | None:
        """The reason why a key can never be sent, or `None` if it can."""
        ...

    def units(self, keys: Sequence[Key]) -> Question:
        """The question for all mappings of some units, at most `units_per_request` of them."""
        ...

    def page(self, offset: int) -> Question:
        """The question for all mappings of the pattern, or for the page of them from `offset`."""
        ...
