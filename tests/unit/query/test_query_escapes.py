import pytest

from bestbefore.errors import QueryError
from bestbefore.query.grammar.prologue import iri_value, local_value, string_value
from bestbefore.query.grammar.tokens import tokenize


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"plain"', "plain"),
        ('""', ""),
        (r'"tab\tquote\"backslash\\"', 'tab\tquote"backslash\\'),
        (r"""'it\'s "so"'""", 'it\'s "so"'),
        ('"""a "quoted"\nword"""', 'a "quoted"\nword'),
        (r'"\u00e9\U0001F600"', "é😀"),
        (r'"\u0022 stays inside"', '" stays inside'),
        (r'"\\u0041"', r"\u0041"),
    ],
)
def test_value_of_a_string(text, value):
    assert string_value(tokenize(text)[0]) == value


@pytest.mark.parametrize("escape", [r"\q", r"\u12", r"\uD800", r"\U00110000", r"\u0000"])
def test_an_escape_that_means_nothing_is_refused(escape):
    with pytest.raises(QueryError, match="is not an escape") as caught:
        string_value(tokenize(f' "{escape}"')[0])
    assert (caught.value.line, caught.value.column) == (1, 2)


def test_an_escape_in_an_iri():
    assert iri_value(tokenize(r"<http://e/\u00e9>")[0]) == "http://e/é"


def test_an_escape_cannot_bring_a_forbidden_character_into_an_iri():
    with pytest.raises(QueryError, match="percent-encoded"):
        iri_value(tokenize(r"<http://e/\u003E>")[0])


def test_a_backslash_in_a_local_name_only_protects():
    assert local_value(r"a\-b\~%20") == "a-b~%20"
