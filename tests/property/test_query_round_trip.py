"""The law of printing: what is printed reads back as the same query."""

from dataclasses import replace
from itertools import count

import pyoxigraph
from hypothesis import given, settings
from hypothesis import strategies as st

from bestbefore.query import (
    BGP,
    Construct,
    ContinuousQuery,
    Filter,
    Join,
    NamedWindow,
    OutputOperator,
    Select,
    Service,
    TriplePattern,
    Variable,
    Window,
    parse_query,
    print_pattern,
    print_query,
    variables,
)
from bestbefore.query.expressions import (
    And,
    Arithmetic,
    Call,
    Compare,
    Constant,
    In,
    Negate,
    Not,
    Or,
)
from bestbefore.rdf.terms import IRI, RDF_LANG_STRING, RDF_TYPE, XSD, BlankNode, Literal

FIXED = settings(max_examples=100, deadline=None, derandomize=True)

characters = st.characters(exclude_categories=("Cs",), exclude_characters="\x00")
variable = st.sampled_from(["x", "y", "user", "WINDOW", "é1", "0"]).map(Variable)
iri = st.sampled_from(
    ["http://e/a", "http://e/b#c", "urn:x:1", RDF_TYPE, "http://e/?q=a&b=c;d,(e)'f'", "http://e/é"]
).map(IRI)
number = st.one_of(
    st.from_regex(r"\A-?[0-9]{1,4}\Z").map(lambda text: Literal(text, XSD + "integer")),
    st.from_regex(r"\A-?[0-9]{0,2}\.[0-9]{1,3}\Z").map(lambda text: Literal(text, XSD + "decimal")),
    st.from_regex(r"\A[0-9]{1,2}\.?[eE][+-]?[0-9]\Z").map(
        lambda text: Literal(text, XSD + "double")
    ),
)
literal = st.one_of(
    st.text(characters, max_size=8).map(Literal),
    st.sampled_from(["WINDOW { }", "# no", "a\\u0041", "'''", '"', "\\", "\\\\u0022"]).map(Literal),
    st.tuples(st.text(characters, max_size=4), st.sampled_from(["en", "en-gb"])).map(
        lambda pair: Literal(pair[0], RDF_LANG_STRING, pair[1])
    ),
    st.tuples(st.text(characters, max_size=4), iri).map(
        lambda pair: Literal(pair[0], pair[1].value)
    ),
    number,
    st.sampled_from(["true", "false", "1", "TRUE"]).map(
        lambda text: Literal(text, XSD + "boolean")
    ),
    st.just(Literal("+5", XSD + "integer")),
)


def grow(expression):
    several = st.lists(expression, min_size=2, max_size=3).map(tuple)
    some = st.lists(expression, max_size=3).map(tuple)
    return st.one_of(
        st.builds(
            Compare, st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), expression, expression
        ),
        st.builds(Arithmetic, st.sampled_from(["+", "-", "*", "/"]), expression, expression),
        st.builds(And, several),
        st.builds(Or, several),
        st.builds(Not, expression),
        st.builds(Negate, expression),
        st.builds(In, expression, some, st.booleans()),
        st.builds(Call, st.just("COALESCE"), some),
        st.builds(Call, st.just("IF"), st.tuples(expression, expression, expression)),
        st.builds(Call, st.just("BOUND"), st.tuples(variable)),
        st.builds(Call, st.sampled_from(["STR", "ABS", "ISIRI", "LCASE"]), st.tuples(expression)),
        st.builds(Call, st.sampled_from(["CONTAINS", "REGEX"]), st.tuples(expression, expression)),
    )


expression = st.recursive(variable | st.one_of(iri, literal).map(Constant), grow, max_leaves=8)


blank = st.sampled_from("ab").map(BlankNode)
triple = st.builds(
    TriplePattern, variable | iri | blank, variable | iri, variable | iri | blank | literal
)
bgp = st.lists(triple, min_size=1, max_size=3).map(lambda triples: BGP(tuple(triples)))


def combine(pattern):
    return st.builds(Join, pattern, pattern) | st.builds(Filter, expression, pattern)


group = st.recursive(bgp, combine, max_leaves=4)


def with_labels_apart(pattern, number=None):
    """The pattern with other labels in each BGP, because SPARQL forbids one label in two."""
    number = count() if number is None else number
    match pattern:
        case BGP(patterns):
            mark = next(number)
            return BGP(
                tuple(TriplePattern(*(labelled(t, mark) for t in terms(p))) for p in patterns)
            )
        case Join(left, right):
            return Join(with_labels_apart(left, number), with_labels_apart(right, number))
    return replace(pattern, pattern=with_labels_apart(pattern.pattern, number))


def terms(pattern):
    return pattern.subject, pattern.predicate, pattern.object


def labelled(term, mark):
    return BlankNode(f"{term.label}{mark}") if isinstance(term, BlankNode) else term


name = st.sampled_from(["http://e/w", "http://e/s?x=1", "w", "urn:w"])
window = st.builds(Window, name, group | st.just(BGP(())))
service = st.builds(Service, name, group | st.just(BGP(())), st.booleans())
where = st.recursive(bgp | window | service, combine, max_leaves=3).map(with_labels_apart)
duration = st.integers(1, 10**12)
named_window = st.builds(NamedWindow, name, name, duration, duration)


@st.composite
def queries(draw):
    pattern = draw(where)
    names = st.lists(variable, min_size=1, max_size=3, unique=True).map(tuple)
    select = st.builds(Select, st.one_of(names, st.just(variables(pattern))), st.booleans())
    construct = st.lists(triple, max_size=3).map(lambda triples: Construct(tuple(triples)))
    windows = st.lists(named_window, min_size=1, max_size=2, unique_by=lambda each: each.name)
    return ContinuousQuery(
        OutputOperator.RSTREAM,
        draw(name),
        tuple(draw(windows)),
        draw(select | construct),
        pattern,
    )


@FIXED
@given(queries())
def test_a_printed_query_reads_back_as_the_same_query(query):
    assert parse_query(print_query(query)) == query


@FIXED
@given(group.map(with_labels_apart))
def test_a_printed_pattern_is_sparql_for_another_engine(pattern):
    pyoxigraph.Store().query(f"SELECT * WHERE {{ {print_pattern(pattern)} }}")
