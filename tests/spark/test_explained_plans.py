"""The Spark plans that `explain` shows, for the queries whose plans are stored as text."""

import pytest

from bestbefore.query import parse_query, plan
from bestbefore.spark.explained_plans import describe_plans
from tests.golden.test_query_plans import QUERIES

SHOWN = [path for path in QUERIES if path.stem in ("static_graphs", "two_services", "two_windows")]


@pytest.mark.parametrize("path", SHOWN, ids=lambda path: path.stem)
def test_both_jobs_of_a_query_can_be_shown(spark, path):
    query = parse_query(path.read_text())
    first, second = describe_plans(spark, query, plan(query))
    assert "window" in first[1]
    assert "Physical Plan" in second[1]
