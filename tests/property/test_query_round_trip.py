"""The law of printing: what is printed reads back as the same query."""

from functools import cache

import pyoxigraph
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bestbefore.query import (
    ContinuousQuery,
    CountWindow,
    DatasetClause,
    NamedWindow,
    OutputOperator,
    TimeWindow,
    describe_algebra,
    parse_query,
    parse_sparql,
    print_query,
    print_sparql,
)
from bestbefore.query.algebra import (
    Ask,
    Construct,
    Describe,
    OrderBy,
    Select,
    TriplePattern,
    children,
)
from bestbefore.query.printing import print_pattern
from bestbefore.query.select_parts import select_parts

from . import terms
from .patterns import (
    group,
    grouped,
    grouped_selects,
    name,
    orders,
    selects,
    sliced,
    where,
    with_labels_apart,
    without_clauses,
)

FIXED = settings(max_examples=100, deadline=None, derandomize=True)

template = st.lists(
    st.builds(
        TriplePattern,
        terms.variable | terms.iri | terms.blank,
        terms.variable | terms.iri,
        terms.variable | terms.value | terms.blank,
    ),
    max_size=3,
).map(tuple)
other_forms = st.one_of(
    template.map(Construct),
    st.just(Ask()),
    st.lists(terms.variable | terms.iri, min_size=1, max_size=2).map(tuple).map(Describe),
)
graphs = st.lists(name, max_size=2, unique=True).map(tuple)
dataset = st.builds(DatasetClause, graphs, graphs)
extent = st.one_of(
    st.builds(TimeWindow, st.integers(1, 10**12), st.integers(1, 10**12)),
    st.builds(CountWindow, st.integers(1, 10**6), st.integers(1, 10**6)),
)
streams = st.lists(name, min_size=1, max_size=2, unique=True).map(tuple)
windows = st.lists(
    st.builds(NamedWindow, name, streams, extent),
    min_size=1,
    max_size=2,
    unique_by=lambda each: each.name,
).map(tuple)


@st.composite
def other_patterns(draw, pattern):
    """The pattern of a query that has no SELECT clause."""
    if draw(st.booleans()):
        found, _ = grouped(draw, pattern, named=0)
        return sliced(draw, found)
    found = draw(pattern)
    if draw(st.booleans()):
        found = OrderBy(found, draw(orders(terms.expression)))
    return sliced(draw, found)


@cache
def with_select(pattern):
    """The pattern of a query that has a SELECT clause, or of one that has none."""
    return selects(pattern) | grouped_selects(pattern), other_patterns(pattern)


@st.composite
def bodies(draw, pattern, forms=other_forms):
    """A form and a pattern that go together."""
    selected, others = with_select(pattern)
    if draw(st.booleans()):
        found = with_labels_apart(draw(selected))
        return Select(select_parts(found).projection), found
    return draw(forms), with_labels_apart(draw(others))


parts = bodies(where, other_forms.filter(lambda each: type(each) is not Describe))


@FIXED
@given(bodies(group), dataset)
def test_a_printed_query_of_sparql_reads_back_as_the_same(body, clause):
    assert parse_sparql(print_sparql(*body, clause)) == (*body, clause)


@st.composite
def queries(draw):
    form, pattern = draw(parts)
    return ContinuousQuery(
        draw(st.sampled_from(OutputOperator)),
        draw(name),
        draw(windows),
        form,
        pattern,
        draw(graphs),
        draw(graphs),
    )


@FIXED
@given(queries())
def test_a_printed_query_reads_back_as_the_same_query(query):
    assert parse_query(print_query(query)) == query


def understood(text):
    """Whether Oxigraph reads a query and answers it, with whatever it has."""
    try:
        return pyoxigraph.Store().query(text) is not None
    except SyntaxError:
        return False


@FIXED
@given(group.map(with_labels_apart).map(without_clauses))
def test_a_printed_pattern_is_sparql_for_another_engine(pattern):
    text = print_pattern(pattern)
    assume("!()" not in text)  # which Oxigraph does not know
    assert understood(f"ASK {{ {text} }}"), text


@FIXED
@given(where)
def test_every_node_of_a_pattern_is_described(pattern):
    lines = describe_algebra(pattern).splitlines()
    assert lines[0].split()[0] == type(pattern).__name__.removesuffix("Pattern")
    for child in children(pattern):
        described = [f"  {line}" for line in describe_algebra(child).splitlines()]
        assert set(described) <= set(lines)
