import pytest

from bestbefore.errors import QueryError
from bestbefore.query import parse_sparql
from bestbefore.query.grammar.prologue import Prologue
from bestbefore.query.grammar.tokens import tokenize
from bestbefore.rdf.terms import IRI

PROLOGUE = Prologue({"": "http://e/", "foaf": "http://foaf/"}, "http://base/a/b")


def resolve(text, prologue=PROLOGUE):
    return prologue.resolve_absolute(tokenize(text)[0])


@pytest.mark.parametrize(
    ("text", "iri"),
    [
        ("<urn:x>", "urn:x"),
        ("<http:c>", "http:c"),
        ("<c>", "http://base/a/c"),
        ("<#c>", "http://base/a/b#c"),
        ("</c>", "http://base/c"),
        (":", "http://e/"),
        (":a:b", "http://e/a:b"),
        (r"foaf:a\.b", "http://foaf/a.b"),
    ],
)
def test_iris_of_tokens(text, iri):
    assert resolve(text) == iri


@pytest.mark.parametrize(
    ("prologue", "written", "iri"),
    [
        ("BASE <http://example.org/x/> PREFIX : <#>", ":x", "http://example.org/x/#x"),
        ("BASE <http://example.org/x/> PREFIX : <?>", ":x", "http://example.org/x/?x"),
        ("BASE <http://example.org/x#f>", "<>", "http://example.org/x"),
        ("BASE <http://example.org/x#f> PREFIX : <>", ":y", "http://example.org/xy"),
        ("BASE <urn:x:y>", "<#z>", "urn:x:y#z"),
        ("BASE <tag:>", "<#z>", "tag:#z"),
        ("BASE <http://example.org/a/> BASE <b/>", "<c>", "http://example.org/a/b/c"),
    ],
)
def test_relative_iris_of_a_query(prologue, written, iri):
    _, pattern, _ = parse_sparql(f"{prologue} ASK {{ ?s ?p {written} }}")
    assert pattern.patterns[0].object == IRI(iri)


def test_an_undeclared_prefix_is_named_with_the_nearest_ones():
    with pytest.raises(
        QueryError, match=r"'foa:' is not declared; .* did you mean 'foaf'\?"
    ) as caught:
        resolve("\n  foa:name")
    assert (caught.value.line, caught.value.column) == (2, 3)


def test_no_prefix_is_known_without_being_declared():
    with pytest.raises(QueryError, match="'rdf:' is not declared; add PREFIX rdf: <…>"):
        resolve("rdf:type", Prologue())


def test_a_relative_iri_names_nothing_in_data_but_may_be_a_name():
    token = tokenize("<w>")[0]
    assert Prologue().resolve(token) == "w"
    with pytest.raises(QueryError, match="<w> is relative; write it in full or declare BASE"):
        Prologue().resolve_absolute(token)
