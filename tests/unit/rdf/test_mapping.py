import pytest

from bestbefore.errors import InputError
from bestbefore.rdf.lexical_forms import datatype_iri
from bestbefore.rdf.mapping import LiteralColumn, RowMapping, TripleMap, parse_template
from bestbefore.rdf.terms import XSD


def test_a_template_is_texts_and_columns_in_turn():
    template = parse_template("http://e/{a b}/x{c.d}{e}")
    assert template.pieces == ("http://e/", "a b", "/x", "c.d", "", "e", "")
    assert template.columns == ("a b", "c.d", "e")
    assert str(template) == "<http://e/{a b}/x{c.d}{e}>"
    assert parse_template("urn:always").columns == ()


@pytest.mark.parametrize(
    "text",
    ["{iri}", "user/{id}", "http://e/{id", "http://e/id}", "http://e/{}", "http://e/{{id}}",
     "http://e/a b/{id}", "http://e/<{id}>", "{scheme}://e/", ""],
)  # fmt: skip
def test_what_is_no_template_of_an_iri(text):
    with pytest.raises(InputError, match="is no template of an IRI; write one with its scheme"):
        parse_template(text)


def test_a_mapping_knows_its_columns_and_reads_as_triples():
    user, post = parse_template("urn:u:{user}"), parse_template("urn:p:{post}")
    mapping = RowMapping(
        timestamp="at",
        subject=user,
        triples=(
            TripleMap(user, "urn:in", post),
            TripleMap(post, "urn:n", LiteralColumn("n", XSD + "integer")),
            TripleMap(post, "urn:t", LiteralColumn("text", language="en-GB")),
        ),
    )
    assert mapping.needed == ("at", "user")
    assert mapping.columns == ("at", "user", "post", "n", "text")
    assert list(map(str, mapping.triples)) == [
        "<urn:u:{user}> <urn:in> <urn:p:{post}> .",
        f'<urn:p:{{post}}> <urn:n> "{{n}}"^^<{XSD}integer> .',
        '<urn:p:{post}> <urn:t> "{text}"@en-gb .',
    ]


def test_predicates_and_languages_are_checked():
    node = LiteralColumn("x")
    with pytest.raises(InputError, match="'ex:p q' is no predicate; write an IRI in full"):
        TripleMap(parse_template("urn:s"), "ex:p q", node)
    with pytest.raises(InputError, match="'e n' is no language tag"):
        LiteralColumn("x", language="e n")


def test_datatypes_by_prefix_and_in_full():
    assert datatype_iri("xsd:dateTime") == datatype_iri(XSD + "dateTime") == XSD + "dateTime"
    assert datatype_iri("http://e/any") == "http://e/any"
    with pytest.raises(InputError, match="no datatype of XML Schema; did you mean 'xsd:decimal'"):
        datatype_iri("xsd:decmal")
    with pytest.raises(InputError, match="'decimal' is no datatype; write xsd:decimal"):
        datatype_iri("decimal")
    with pytest.raises(InputError, match="needs a language"):
        datatype_iri("http://www.w3.org/1999/02/22-rdf-syntax-ns#langString")
