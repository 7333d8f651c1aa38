"""What a query asks of summaries, and what they cannot know."""

import pytest

from bestbefore.errors import UnsupportedSparql
from bestbefore.market import CannotAnswer, check_answerable, read_shape

BODY = "{ ?s <http://e/p> ?o ; <http://e/q> ?x }"


@pytest.mark.parametrize("form", ["*", "?s", "REDUCED ?s", "DISTINCT *", "DISTINCT ?x ?o ?s"])
def test_rows_that_all_count(form):
    check_answerable(read_shape(f"SELECT {form} {BODY} ORDER BY ?s"))


@pytest.mark.parametrize(
    ("query", "hidden"),
    [
        (f"SELECT DISTINCT ?s {BODY}", r"\?o"),
        (f"SELECT DISTINCT ?s ?o {BODY} ORDER BY ?s", r"\?x"),
        ("SELECT DISTINCT * { ?s <http://e/p> [] }", r"\?_:\w+"),
    ],
)
def test_rows_that_distinct_counts_once_are_known_to_no_summary(query, hidden):
    with pytest.raises(CannotAnswer, match=f"DISTINCT .* {hidden} alone"):
        check_answerable(read_shape(query))


def test_variables_of_a_subquery_are_others():
    with pytest.raises(UnsupportedSparql, match="a subquery is more than summaries know of"):
        read_shape(f"SELECT * {{ ?s <http://e/p> ?o {{ SELECT ?s {BODY} }} }}")
