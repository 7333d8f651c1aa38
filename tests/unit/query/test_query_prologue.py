import pytest

from bestbefore.errors import QueryError
from bestbefore.query.grammar.prologue import Prologue
from bestbefore.query.grammar.tokens import tokenize

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
