"""The Spark plans that `explain` shows, for the queries whose plans are stored as text."""

import re
from collections import Counter

import pytest

from bestbefore.query import parse_query, plan
from bestbefore.spark.explained_plans import describe_plans
from bestbefore.spark.window_mappings import telling_service
from tests.golden.test_query_plans import QUERIES

# The shuffles of job A and of job B.
SHUFFLES = {
    "influential_users": (2, 4),
    "optional_service": (2, 3),
    "static_graphs": (5, 12),
    "two_services": (9, 6),
    "two_windows": (12, 5),
}
SHOWN = [path for path in QUERIES if path.stem in SHUFFLES]
PRODUCTS = ("CartesianProduct", "BroadcastNestedLoopJoin")


@pytest.fixture(scope="module", params=SHOWN, ids=lambda path: path.stem)
def explained(request, spark):
    """A query's name and plan, and the lines of its two Spark plans."""
    query = parse_query(request.param.read_text())
    planned = plan(query)
    jobs = [text.splitlines() for _, text in describe_plans(spark, query, planned)]
    return request.param.stem, planned, jobs


def kept_tables(name, planned):
    """How often job B reads what was kept: mappings, and twice the rows that DSTREAM compares.

    Mappings that the key statistics tell are not read again.
    """
    told = sum(telling_service(window, planned) is not None for window in planned.windows)
    return len(planned.windows) - told + (2 if name == "static_graphs" else 0)


def operators(lines):
    found = (re.match(r"[ :+-]*(?:\*\(\d+\) )?([A-Z]\w+)", line) for line in lines)
    return Counter(each[1] for each in found if each)


def scans(lines, column):
    """How often a table that has a column is read."""
    return sum(bool(re.search(rf"Scan ExistingRDD\[.*\b{column}#", line)) for line in lines)


def test_a_plan_shows_the_work_and_not_that_stand_ins_are_empty(explained):
    _, planned, (job_a, job_b) = explained
    assert "LocalTableScan" not in operators([*job_a, *job_b])
    assert scans(job_a, "time") >= len(planned.windows)
    assert operators(job_a)["InMemoryRelation"] >= len(planned.windows)


def test_job_b_joins_kept_mappings_with_a_slice_per_service(explained):
    name, planned, (_, job_b) = explained
    assert scans(job_b, "time") == 0
    assert operators(job_b)["InMemoryTableScan"] == kept_tables(name, planned)
    assert scans(job_b, "fresh") == len(planned.services)
    assert operators(job_b)["ShuffledHashJoin"] >= len(planned.services)


def test_nothing_is_a_product_and_nothing_is_shuffled_once_more(explained):
    name, _, jobs = explained
    counted = [operators(lines) for lines in jobs]
    assert not any(each[product] for each in counted for product in PRODUCTS)
    assert tuple(each["Exchange"] for each in counted) == SHUFFLES[name]
