"""The comparison of results: what it must hold for the same, and what it must tell apart."""

import pytest

from .results import Bindings, Triples, Truth, same

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


def test_order_and_repetitions_count_only_where_they_are_asked_for():
    one = bindings({"x": "<a:1>"}, {"x": "<a:2>"})
    assert not same(one, bindings({"x": "<a:2>"}, {"x": "<a:1>"}), ordered=True)
    assert same(one, bindings({"x": "<a:2>"}, {"x": "<a:1>"}, {"x": "<a:1>"}), set_semantics=True)
