"""The W3C's syntax tests: what is SPARQL is read and printed back, what is not is refused."""

import pytest

from bestbefore.errors import QueryError
from bestbefore.query import parse_sparql, print_sparql

from .known_failures import check_known_failures, known_failure
from .manifest import entries, file_of, need_suites, suite_root

need_suites()

FOLDERS = sorted(path.parent.name for path in (suite_root() / "sparql11").glob("*/manifest.ttl"))
SYNTAX = ("PositiveSyntaxTest11", "NegativeSyntaxTest11")
QUERY = (*SYNTAX, "QueryEvaluationTest")
TESTS = [each for folder in FOLDERS for each in entries(folder) if each.kind in QUERY]
BAD = [each for each in TESTS if each.kind == "NegativeSyntaxTest11"]
GOOD = [each for each in TESTS if each.kind != "NegativeSyntaxTest11"]


def read(entry):
    return parse_sparql(file_of(entry.query).read_text(), entry.query)


@pytest.mark.parametrize("entry", GOOD, ids=str)
def test_a_query_is_read_and_printed_back(entry):
    if reason := known_failure("syntax", entry):
        with pytest.raises(QueryError):
            read(entry)
        pytest.xfail(reason)
    query = read(entry)
    assert parse_sparql(print_sparql(*query)) == query


@pytest.mark.parametrize("entry", BAD, ids=str)
def test_what_is_no_query_is_refused_with_its_place(entry):
    with pytest.raises(QueryError) as caught:
        read(entry)
    assert caught.value.line is not None
    assert caught.value.column is not None


def test_all_of_the_suite_was_found():
    assert sum(each.folder == "syntax-query" for each in TESTS) == 94
    assert len(BAD) >= 31
    check_known_failures("syntax", TESTS)
