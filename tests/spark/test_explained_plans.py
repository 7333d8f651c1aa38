"""The Spark plans that `explain` shows, for the queries whose plans are stored as text."""

import re

import pytest

from bestbefore.query import parse_query, plan
from bestbefore.spark.explained_plans import describe_plans
from tests.golden.test_query_plans import QUERIES

SHOWN = [path for path in QUERIES if path.stem in ("static_graphs", "two_services", "two_windows")]


@pytest.mark.parametrize("path", SHOWN, ids=lambda path: path.stem)
def test_both_jobs_are_shown_with_all_that_they_read_and_join(spark, path):
    """What stands in for data must not let Spark leave out a part of the query."""
    query = parse_query(path.read_text())
    found = plan(query)
    (_, first), (_, second) = describe_plans(spark, query, found)
    assert first.count("Range (") >= sum(len(window.needed) for window in found.windows)
    for service in found.services:
        for variable in service.join_key:
            assert f"?{variable.name}#" in first
            assert re.search(rf"HashJoin \[[^\]]*\?{variable.name}#", second)
    assert all(f"?{variable.name}#" in second for variable in query.form.projection)
