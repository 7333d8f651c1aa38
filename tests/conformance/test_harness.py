"""The harness itself: how it reads, evaluates and compares, and what it must tell apart."""

from pathlib import Path

import pytest

from bestbefore.query import parse_sparql, rewrite

from . import evaluation, manifest, results
from .results import Bindings, Triples, Truth, read_result, read_triples, same

INTEGER = "^^<http://www.w3.org/2001/XMLSchema#integer>"
DECIMAL = "^^<http://www.w3.org/2001/XMLSchema#decimal>"
DOUBLE = "^^<http://www.w3.org/2001/XMLSchema#double>"


def bindings(*rows):
    return Bindings(tuple(tuple(row.items()) for row in rows))


SAME = [
    (bindings({"x": f'"2.50"{DECIMAL}'}), bindings({"x": f'"2.5"{DECIMAL}'})),
    (bindings({"x": f'"1.0E0"{DOUBLE}'}), bindings({"x": f'"1"{DOUBLE}'})),
    (bindings({"x": "_:a", "y": "_:b"}), bindings({"x": "_:b", "y": "_:a"})),
    (bindings({"x": "_:a"}, {"x": "_:a"}), bindings({"x": "_:c"}, {"x": "_:c"})),
    (bindings({"x": "<a:1>"}, {"x": "<a:2>"}), bindings({"x": "<a:2>"}, {"x": "<a:1>"})),
    (Truth(value=True), Truth(value=True)),
    (
        Triples(frozenset({("_:a", "<a:p>", "_:b"), ("_:b", "<a:p>", '"x"')})),
        Triples(frozenset({("_:b", "<a:p>", "_:a"), ("_:a", "<a:p>", '"x"')})),
    ),
]
DIFFERENT = [
    (bindings({"x": f'"2"{DECIMAL}'}), bindings({"x": f'"2"{INTEGER}'})),
    (bindings({"x": f'"2"{INTEGER}'}), bindings({"x": f'"3"{INTEGER}'})),
    (bindings({"x": "_:a", "y": "_:a"}), bindings({"x": "_:b", "y": "_:a"})),
    (bindings({"x": "_:a"}, {"x": "_:b"}), bindings({"x": "_:c"}, {"x": "_:c"})),
    (bindings({"x": "<a:1>"}), bindings({"x": "<a:1>"}, {"x": "<a:1>"})),
    (bindings({"x": "<a:1>"}), bindings({"y": "<a:1>"})),
    (bindings({"x": "<a:1>"}), bindings({"x": "<a:1>", "y": '""'})),
    (bindings({"x": '"a"@en'}), bindings({"x": '"a"'})),
    (bindings(), bindings({})),
    (Truth(value=True), Truth(value=False)),
    (
        Triples(frozenset({("_:a", "<a:p>", "_:b")})),
        Triples(frozenset({("_:a", "<a:p>", "_:a")})),
    ),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_results_that_are_the_same(one, other):
    assert same(one, other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_results_that_differ(one, other):
    assert not same(one, other)


def test_order_counts_only_where_it_is_asked_for():
    one = bindings({"x": "<a:1>"}, {"x": "<a:2>"})
    assert not same(one, bindings({"x": "<a:2>"}, {"x": "<a:1>"}), ordered=True)


LAX = [
    (("<a:1>",), ("<a:1>", "<a:1>"), True),
    (("<a:1>", "<a:1>"), ("<a:1>",), False),
    ((), ("<a:1>",), False),
    (("<a:1>", "<a:2>"), ("<a:1>", "<a:1>"), False),
    (("_:a", "_:b"), ("_:x", "_:x", "_:y"), True),
    (("_:a", "_:a", "_:b"), ("_:x", "_:y"), False),
]


@pytest.mark.parametrize(("found", "expected", "equal"), LAX)
def test_a_lax_result_has_each_row_at_most_as_often_as_expected(found, expected, equal):
    one, other = (bindings(*({"x": term} for term in terms)) for terms in (found, expected))
    assert same(one, other, lax=True) is equal


@pytest.fixture
def suite(tmp_path, monkeypatch):
    """Write a file of a suite; its IRI."""
    monkeypatch.setattr(results, "file_of", lambda iri: tmp_path / iri.removeprefix("a:"))

    def write(name, text):
        (tmp_path / name).write_text(text)
        return f"a:{name}"

    return write


def test_files_of_one_test_share_no_blank_node(suite):
    text = "_:x <a:p> _:y . _:y <a:p> [] ."
    one, other = (read_triples(suite(name, text)) for name in ("one.ttl", "other.ttl"))
    nodes = [{term for triple in found for term in triple[::2]} for found in (one, other)]
    assert [len(each) for each in nodes] == [3, 3]
    assert not nodes[0] & nodes[1]
    assert read_triples("a:one.ttl") == one


def test_rows_of_a_result_in_rdf_are_sorted_by_their_number(suite):
    solutions = " , ".join(
        f"[ rs:index {number} ; rs:binding [ rs:variable 'x' ; rs:value {number} ] ]"
        for number in (10, 9, 100, 1)
    )
    text = f"PREFIX rs: <{results.RS}> [] a rs:ResultSet ; rs:solution {solutions} ."
    found = read_result(suite("result.ttl", text), construct=False)
    assert [dict(row)["x"] for row in found.rows] == [f'"{n}"{INTEGER}' for n in (1, 9, 10, 100)]


def test_what_is_evaluated_is_what_the_engine_would_evaluate(monkeypatch):
    form, pattern, _ = parse_sparql("SELECT * { ?s <a:p> ?o FILTER(?o > 1) { ?s <a:q> ?r } }")
    compiled = []
    monkeypatch.setattr(evaluation, "compile_solutions", lambda *given: compiled.append(given[0]))
    with pytest.raises(AttributeError):
        evaluation.result_of(None, form, pattern, dataset=None)
    assert compiled == [rewrite(pattern)] != [pattern]


def test_without_the_suites_it_is_said_where_they_are_expected(monkeypatch, tmp_path):
    monkeypatch.setenv("BESTBEFORE_RDF_TESTS", str(tmp_path))
    with pytest.raises(pytest.skip.Exception, match=f"not at {tmp_path}: clone https.*rdf-tests"):
        manifest.need_suites()
    monkeypatch.delenv("BESTBEFORE_RDF_TESTS")
    beside = Path("shared") / "data" / "rdf-tests"
    assert manifest.expected_root() == Path(__file__).parents[3] / beside
