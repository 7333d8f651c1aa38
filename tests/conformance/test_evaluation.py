"""The W3C's query evaluation tests, on Spark."""

import pytest

from bestbefore.query import parse_sparql
from bestbefore.query.algebra import Construct
from bestbefore.spark.session import tune

from .evaluation import dataset_of, is_ordered, result_of
from .known_failures import KNOWN_FAILURES, check_known_failures, known_failure
from .manifest import FOLDERS, entries, file_of, need_suites
from .results import read_result, read_triples, same

need_suites()

TESTS = [
    each
    for folder in FOLDERS
    for each in entries(folder)
    if each.kind == "QueryEvaluationTest" and each.approval != "Withdrawn"
]


@pytest.fixture(scope="module")
def session(spark):
    session = tune(spark.newSession(), rows=0)
    session.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    return session


def run(entry, session):
    """What a test finds, what it expects, and whether the two are the same."""
    query = file_of(entry.query).read_text()
    form, pattern, clause = parse_sparql(query, base=entry.query)
    default = [each for iri in (*entry.data, *clause.default) for each in read_triples(iri)]
    graphs = {iri: read_triples(iri) for iri in (*entry.graphs, *clause.named)}
    found = result_of(session, form, pattern, dataset_of(session, default, graphs))
    expected = read_result(entry.result, construct=isinstance(form, Construct))
    ordered = is_ordered(pattern)
    return (
        found,
        expected,
        same(found, expected, ordered=ordered, lax=entry.lax),
    )


@pytest.mark.parametrize("entry", TESTS, ids=str)
def test_a_query_of_the_suite(entry, session):
    reason = known_failure("evaluation", entry)
    try:
        found, expected, equal = run(entry, session)
    except Exception as error:
        if reason is None:
            raise
        pytest.xfail(f"{reason} ({type(error).__name__})")
    if reason is not None:
        assert not equal, f"{entry.iri} passes: take it off the list of known failures"
        pytest.xfail(reason)
    assert equal, f"\nfound {found}\nexpected {expected}"


def test_all_of_the_suite_was_found_and_few_are_known_to_fail():
    assert {each.folder for each in TESTS} == set(FOLDERS)
    assert len(TESTS) >= 225
    check_known_failures("evaluation", TESTS)
    assert len(KNOWN_FAILURES) <= 0.03 * len(TESTS)
