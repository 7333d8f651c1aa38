"""The work of planning grows with the query: it is counted, not timed."""

import sys

import pytest

from benchmarks.planning import QUERIES
from bestbefore.job import explain
from bestbefore.query import find_warnings, parse_query


def calls(text):
    """How many functions are called to read, plan and explain a query."""
    count = 0

    def profile(_frame, event, _argument):
        nonlocal count
        count += event == "call"

    sys.setprofile(profile)
    try:
        query = parse_query(text)
        find_warnings(query)
        explain(query)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("name", QUERIES)
def test_twice_the_query_is_twice_the_work(name):
    parts, query = QUERIES[name]
    if parts >= 1_000:
        few, many = calls(query(100)), calls(query(400))
        assert many < 4.4 * few
    else:
        # Each clause looks at all others, of which there are at most two hundred.
        few, many = calls(query(20)), calls(query(80))
        assert many < 16 * few
