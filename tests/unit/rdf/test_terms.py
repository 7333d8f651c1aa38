import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore.errors import InputError, ServiceError
from bestbefore.rdf.json_results import encode_json_term
from bestbefore.rdf.terms import IRI, XSD, BlankNode, Literal, decode, encode, to_sparql

characters = st.characters(exclude_categories=["Cs"])
literals = st.one_of(
    st.builds(Literal, st.text(characters)),
    st.builds(Literal, st.text(characters), st.sampled_from([XSD + "integer", "http://e/t"])),
    st.builds(
        lambda lexical, tag: Literal(
            lexical, "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString", tag
        ),
        st.text(characters),
        st.sampled_from(["en", "de-ch"]),
    ),
)
terms = st.one_of(
    literals,
    st.sampled_from([IRI("http://example.org/a"), IRI("urn:x:ü"), BlankNode("b0")]),
)


@given(terms)
def test_decode_is_the_inverse_of_encode(term):
    assert decode(encode(term)) == term


def in_json(term):
    """A term as the SPARQL 1.1 JSON result format writes it."""
    match term:
        case IRI(value):
            return {"type": "uri", "value": value}
        case BlankNode(label):
            return {"type": "bnode", "value": label}
        case Literal(lexical, _, str(language)):
            return {"type": "literal", "value": lexical, "xml:lang": language}
        case Literal(lexical, datatype):
            typed = {} if datatype == XSD + "string" else {"datatype": datatype}
            return {"type": "literal", "value": lexical, **typed}


@given(terms)
def test_a_term_is_read_from_json_as_it_was_written(term):
    assert encode_json_term(in_json(term)) == encode(term)


@given(literals)
def test_no_literal_can_change_the_query_around_it(literal):
    solutions = ox.Store().query(f"SELECT ?x WHERE {{ BIND({to_sparql(literal)} AS ?x) }}")
    (found,) = [solution["x"] for solution in solutions]
    assert found.value == literal.lexical


def test_encodings_of_equal_terms_are_equal():
    assert encode(Literal("a", XSD + "string")) == encode(Literal("a")) == '"a"'
    assert encode_json_term({"type": "literal", "value": "a", "xml:lang": "EN"}) == '"a"@en'
    assert encode_json_term({"type": "literal", "value": "a", "xml:lang": ""}) == '"a"'


@pytest.mark.parametrize(
    "term",
    [
        BlankNode("b"),
        IRI("http://e/a> } DELETE WHERE { ?s ?p ?o"),
        IRI("http://e/\n"),
        Literal("x", "http://e/t> ;"),
        Literal("x", "", 'en" . <a'),
    ],
)
def test_a_term_that_sparql_cannot_name_is_refused(term):
    with pytest.raises(InputError, match="cannot be written in a SPARQL query"):
        to_sparql(term)


@pytest.mark.parametrize(
    "term",
    [{}, {"type": "uri"}, {"type": "uri", "value": 5}, {"type": "triple", "value": "x"}, [], None],
)
def test_what_is_no_json_term_is_the_service_s_error(term):
    with pytest.raises(ServiceError):
        encode_json_term(term)


def test_decoding_junk_is_an_error():
    with pytest.raises(InputError, match="not an encoded RDF term"):
        decode("junk")
