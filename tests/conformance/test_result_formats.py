"""The W3C's tests of result formats: the same solutions as their JSON, CSV and TSV files say."""

import csv

import pyoxigraph as ox
import pytest

from bestbefore.query import parse_sparql
from bestbefore.spark.session import tune

from .evaluation import dataset_of, is_ordered, result_of
from .manifest import entries, file_of, need_suites
from .results import Bindings, bindings, by_value, read_result, read_triples, same

need_suites()


@pytest.fixture(scope="module")
def session(spark):
    return tune(spark.newSession(), rows=0)


FORMATS = [each for folder in ("json-res", "csv-tsv-res") for each in entries(folder)]


@pytest.mark.parametrize("entry", FORMATS, ids=str)
def test_result_formats(entry, session):
    text = file_of(entry.query).read_text()
    form, pattern, _ = parse_sparql(text, base=entry.query)
    triples = [each for iri in entry.data for each in read_triples(iri)]
    found = result_of(session, form, pattern, dataset_of(session, triples))
    if entry.kind == "CSVResultFormatTest":
        assert as_csv(found) == sorted(csv_rows(file_of(entry.result)), key=str)
        return
    if entry.result.endswith(".tsv"):
        expected = tsv_bindings(file_of(entry.result))
    else:
        expected = read_result(entry.result, construct=False)
    assert same(found, expected, ordered=is_ordered(pattern)), f"{found}\n{expected}"


def tsv_bindings(path):
    return bindings(ox.parse_query_results(path=str(path), format=ox.QueryResultsFormat.TSV))


def csv_rows(path):
    """The rows of a CSV result: plain texts, in which all blank nodes are the same."""
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            yield {name: plain(value) for name, value in row.items() if value != ""}


def as_csv(found: Bindings):
    rows = [{name: plain(lexical(by_value(term))) for name, term in row} for row in found.rows]
    return sorted(({n: v for n, v in row.items() if v != ""} for row in rows), key=str)


def lexical(term):
    if term.startswith("<"):
        return term[1:-1]
    return term if term.startswith("_:") else term[1 : term.rindex('"')]


def plain(text):
    if text.startswith("_:"):
        return "_:"
    try:
        return str(float(text))
    except ValueError:
        return text
