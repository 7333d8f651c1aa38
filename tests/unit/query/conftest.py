"""Queries around the part that a test is about."""

from collections.abc import Callable

import pytest

from bestbefore.query import parse_query
from bestbefore.query.algebra import Pattern

HEAD = """PREFIX : <http://example.org/>
REGISTER RSTREAM :q AS
"""
WINDOW = "FROM NAMED WINDOW :w ON :s [RANGE PT10M STEP PT1M]"

INFLUENCERS = """PREFIX : <http://example.org/>
REGISTER RSTREAM :influencers AS
SELECT ?user ?followers
FROM NAMED WINDOW :w ON :mentions [RANGE PT10M STEP PT1M]
WHERE {
  WINDOW :w { ?user :isMentionedIn ?post }
  SERVICE :bkg { ?user :hasFollowers ?followers }
  FILTER(?followers > 100000)
}
"""


@pytest.fixture
def influencers() -> str:
    """The query of the influential users."""
    return INFLUENCERS


@pytest.fixture
def registered() -> Callable[..., str]:
    """A query with a given WHERE, which starts at line 5, column 9, and a given form in line 3."""

    def query(where: str, form: str = "SELECT *", after: str = "") -> str:
        return f"{HEAD}{form}\n{WINDOW}\nWHERE {{ {where} }}{after}"

    return query


@pytest.fixture
def pattern_of(registered: Callable[..., str]) -> Callable[[str], Pattern]:
    """The pattern of a query with a given WHERE, and nothing around it."""
    return lambda where: parse_query(registered(where, "ASK")).pattern
