import pytest

from bestbefore.errors import QueryError
from bestbefore.query.grammar.tokens import Kind, bracket_error, split_comparison, tokenize


def kinds_and_texts(text):
    return [(token.kind, token.text) for token in tokenize(text)[:-1]]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("<http://example.org/a#b>", Kind.IRI),
        (r"<http://example.org/\u00e9>", Kind.IRI),
        ('"a # b <c> ?d"', Kind.STRING),
        (r'"a \" b"', Kind.STRING),
        ("''", Kind.STRING),
        ('"""two\nlines " and "" inside"""', Kind.STRING),
        ("'''it's'''", Kind.STRING),
        ("@en-GB", Kind.LANGUAGE),
        ("_:b0.x", Kind.BLANK),
        (":", Kind.NAME),
        ("foaf:name", Kind.NAME),
        (":a.b", Kind.NAME),
        (r"ex:a\-b%20:c", Kind.NAME),
        ("?x", Kind.VARIABLE),
        ("$é1", Kind.VARIABLE),
        ("100000", Kind.NUMBER),
        ("1.5", Kind.NUMBER),
        (".5e-3", Kind.NUMBER),
        ("1.e6", Kind.NUMBER),
        ("SELECT", Kind.WORD),
        ("^^", Kind.MARK),
        ("<=", Kind.MARK),
        ("&&", Kind.MARK),
    ],
)
def test_one_token(text, kind):
    assert kinds_and_texts(text) == [(kind, text)]


def test_a_dot_after_a_name_or_a_number_ends_the_triple():
    assert [token.text for token in tokenize(":s :p 5. _:b :q :r.")] == [
        *(":s", ":p", "5", ".", "_:b", ":q", ":r", "."),
        "",
    ]


def test_keywords_in_strings_comments_and_iris_are_no_words():
    text = """# WINDOW in a comment
    "WINDOW" 'SERVICE' <http://e/WINDOW> :WINDOW ?WINDOW # GRAPH
    WINDOW"""
    words = [token for token in tokenize(text) if token.kind is Kind.WORD]
    assert [(word.text, word.line, word.column) for word in words] == [("WINDOW", 3, 5)]


def test_places_count_lines_and_columns_from_one():
    text = '?a\r\n\t?b """x\ny""" ?c\n'
    places = [(token.text, token.line, token.column) for token in tokenize(text)]
    assert places == [
        ("?a", 1, 1),
        ("?b", 2, 2),
        ('"""x\ny"""', 2, 5),
        ("?c", 3, 6),
        ("", 4, 1),
    ]


def test_a_byte_order_mark_before_the_query_is_skipped():
    assert [token.text for token in tokenize("\ufeff?x")] == ["?x", ""]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("<?b&&?c>?d", ["<", "?b", "&&", "?c", ">", "?d"]),
        ("<=?f>=1", ["<=", "?f", ">=", "1"]),
        ("<1>2", ["<", "1", ">", "2"]),
        ("<http://e/p>?o", ["<http://e/p>", "?o"]),
        ("<a#b>?o", ["<a#b>", "?o"]),
        ("<a~>?o", ["<a~>", "?o"]),
    ],
)
def test_an_iri_where_an_operator_must_stand_is_what_it_looks_like(text, pieces):
    iri, *others = tokenize(f"\n ?a{text}")[1:-1]
    found = [*split_comparison(iri, others[0]), *others[1:]]
    assert [token.text for token in found] == pieces
    assert [token.offset for token in found] == sorted(token.offset for token in found)
    assert all((token.line, token.column) == (2, token.offset) for token in found)


def test_an_iri_after_a_variable_stays_an_iri():
    assert kinds_and_texts("?s<http://e/p>?o")[1] == (Kind.IRI, "<http://e/p>")
    assert kinds_and_texts("(?s <http://e/p>)")[2] == (Kind.IRI, "<http://e/p>")


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ('?x :p "open', 1, 7, "never closed"),
        ('?x :p "open\n"', 1, 7, "never closed"),
        ('\n """open "" ', 2, 2, "never closed"),
        ('?x :p "a\x00b"', 1, 9, "U+0000"),
        ("?x\n :p \ud800", 2, 5, "U+D800"),
        ("?x ~ ?y", 1, 4, "'~'"),
        ("?x\u00a0?y", 1, 3, "U+00A0"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(text, line, column, message):
    with pytest.raises(QueryError) as caught:
        tokenize(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("{ ?x }\n}", 2, 1, "closes nothing"),
        ("{ (\n }", 2, 2, "')' should close '(' of line 1, column 3"),
        ("{ {\n ( ) }", 1, 1, "'{' is never closed"),
    ],
)
def test_brackets_that_do_not_match(text, line, column, message):
    problem = bracket_error(tokenize(text))
    assert (problem.line, problem.column) == (line, column)
    assert message in str(problem)


def test_brackets_that_match():
    assert bracket_error(tokenize("{ ( [ ] ) } { }")) is None
