"""The texts of recorded keys and values: equal exactly if what they say is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore.engine.recorded_texts import ValueTexts, measured_in, text_of
from bestbefore.job import read_job
from bestbefore.rdf.terms import XSD

from .conftest import EX, integer, query, user

LINKED = {"refresh_key": ["?item"], "fill": "start"}
terms = st.none() | st.sampled_from(['"1"', "<u:1>", '"a,\\"b"', "_:b", '"[1]"', integer(5)])
rows = st.lists(st.tuples(terms, terms), max_size=3)


def job(text, **view):
    return read_job(
        {
            "query": {"text": text},
            "streams": {"s": {"source": "dataframe"}},
            "services": {"bkg": {}},
            "view": view,
        }
    )


@given(st.lists(terms, min_size=1, max_size=3), st.lists(terms, min_size=1, max_size=3))
def test_keys_are_equal_if_their_texts_are(one, other):
    assert (text_of(tuple(one)) == text_of(tuple(other))) == (one == other)


@given(rows, rows)
def test_values_are_equal_if_the_rows_are_in_any_order(one, other):
    values = ValueTexts(("key", "x", "y"), ("key",))
    texts = [values.of([("<k>", *row) for row in some]) for some in (one, other)]
    same = sorted(one, key=repr) == sorted(other, key=repr)
    assert (texts[0] == texts[1]) == same
    assert (texts[0] == "") == (not one)
    # No text of rows is taken for a number.
    with pytest.raises(ValueError, match="float"):
        float(texts[0])


def test_a_single_term_is_itself():
    values = ValueTexts(("key", "x"), ("key",))
    assert values.of([("<k>", '"a, b"@en')]) == '"a, b"@en'
    assert ValueTexts(("key",), ("key",)).of([("<k>",)]) == "[[]]"


@pytest.mark.parametrize(
    ("filter_", "found", "option"),
    [
        ("FILTER(?followers > 100)", "250", ">100"),
        ("FILTER(100000000 >= ?followers)", "5", "<=100000000"),
        ("FILTER(?followers < -1.5e3)", "5", "<-1500"),
    ],
)
def test_a_filtered_value_is_the_number_that_decides(filter_, found, option):
    measured = measured_in(job(query(rest=filter_)))
    assert measured.option == ("--filter", option)
    values = ValueTexts(("user", "followers"), ("user",), measured)
    told = [integer(250), '"many"', None, integer(5), f'"NaN"^^<{XSD}double>']
    assert values.of([(user(1), term) for term in told]) == found
    assert values.of([]) == ""
    assert values.of([(user(1), '"many"')]) == '"many"'


def test_units_are_aggregated_by_their_numbers():
    text = query("?item :of ?user ; :price ?price") + " GROUP BY ?user"
    text = text.replace("SELECT ?user", "SELECT ?user (SUM(?price) AS ?sum)")
    measured = measured_in(job(text, **LINKED))
    assert measured.option == ("--aggregate", "sum")
    values = ValueTexts(("item", "user", "price"), ("item",), measured)
    item = f"<{EX}i1>"
    assert values.of([(item, user(1), integer(5)), (item, user(2), integer(5))]) == "5"
    assert values.of([(item, user(1), integer(5)), (item, user(2), integer(6))]).startswith("[[")
    # In a 1:1 join the rows of a unit are aggregated, not units.
    assert measured_in(job(text)) is None
    assert measured_in(job(text.replace("SUM(", "SUM(DISTINCT "), **LINKED)) is None
