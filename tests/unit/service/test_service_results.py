"""Which replies are believed, in all three formats, however they are cut into pieces."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore.service.no_answer import NoAnswerError
from bestbefore.service.results import Wanted, open_reader
from tests.sparql_results import (
    ENCODED,
    FORMATS,
    JSON,
    ROW,
    TSV,
    VARIABLES,
    XML,
    formats,
    in_json,
    in_tsv,
    in_xml,
    read,
)


@formats
@pytest.mark.parametrize("piece", [1, 3, 1000])
def test_rows_are_encoded_in_the_order_of_the_variables_and_kept_twice(kind, piece):
    unbound = {"user": {"type": "bnode", "value": "nodeID://b0"}}
    body = FORMATS[kind]([ROW, ROW, unbound, {}])
    assert read(body, kind, piece=piece).rows == [
        ENCODED,
        ENCODED,
        ("_:nodeID://b0", None),
        (None, None),
    ]


texts = st.text(
    st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("\n\t\"'\\&<>é😀"), max_size=9
)
values = st.one_of(
    st.builds(lambda v: {"type": "literal", "value": v}, texts),
    st.builds(lambda v: {"type": "literal", "value": v, "xml:lang": "de-AT"}, texts),
    st.builds(lambda v: {"type": "literal", "value": v, "datatype": "http://e/t"}, texts),
    st.just({"type": "uri", "value": "http://e/ü?a=b&c#d"}),
)


@given(
    rows=st.lists(st.fixed_dictionaries({"user": values}, optional={"count": values}), max_size=5),
    piece=st.integers(1, 40),
)
def test_the_three_formats_say_the_same(rows, piece):
    whole = read(in_json(rows), JSON, piece=10_000).rows
    assert len(whole) == len(rows)
    for kind, write in FORMATS.items():
        assert read(write(rows), kind, piece=piece).rows == whole


@given(data=st.data(), kind=st.sampled_from(sorted(FORMATS)), piece=st.integers(1, 60))
def test_a_garbled_reply_is_rows_or_no_answer_and_nothing_else(data, kind, piece):
    body = bytearray(
        FORMATS[kind]([ROW, {**ROW, "count": literal("é", datatype="http://e/t")}]).encode()
    )
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(body) - 1))
        body[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=4))
    try:
        rows = read(bytes(body), kind, piece=piece).rows
    except NoAnswerError:
        rows = []
    assert all(len(row) == 2 for row in rows)


@pytest.mark.parametrize(
    ("text", "encoded"),
    [
        ("5", '"5"^^<http://www.w3.org/2001/XMLSchema#integer>'),
        ("-1.5", '"-1.5"^^<http://www.w3.org/2001/XMLSchema#decimal>'),
        ("1e6", '"1e6"^^<http://www.w3.org/2001/XMLSchema#double>'),
        ("true", '"true"^^<http://www.w3.org/2001/XMLSchema#boolean>'),
        ("'it''s'".replace("''", "\\'"), '"it\'s"'),
        (r'"\u00e9\U0001F600"', '"é😀"'),
    ],
)
def test_terms_as_turtle_abbreviates_them(text, encoded):
    assert read(f"?count\n{text}\r\n", TSV, variables=("count",)).rows == [(encoded,)]


def test_members_of_a_json_result_may_come_in_any_order():
    body = {
        "link": [1.5, None, {"a": [{}]}],
        "results": {"distinct": False, "bindings": [ROW], "ordered": True},
        "head": {"link": [], "vars": ["x", "user", "count"]},
        "more": 12,
    }
    for space in (None, 3):
        assert read("\ufeff" + json.dumps(body, indent=space), piece=1).rows == [ENCODED]
    assert (
        read(' { "results" : { "bindings" : [ ] } , "head" : {"vars":["user","count"]} } \n').rows
        == []
    )


@formats
def test_a_reply_that_ends_early_is_not_believed(kind):
    body = FORMATS[kind]([ROW, {**ROW, "count": {"type": "literal", "value": "é"}}]).encode()
    body = body.rstrip()
    whole_lines = {at + 1 for at, byte in enumerate(body) if byte == 10} if kind == TSV else set()
    for end in set(range(len(body))) - whole_lines:
        with pytest.raises(NoAnswerError):
            read(body[:end], kind, piece=1000)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"null",
        b"[]",
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b'{"head": ' + b"[" * 100_000,
        b'{"head": ' + b"9" * 5000 + b"}",
        b'{"boolean": true}',
        b'{"head": {"vars": ["user", "count"]}}',
        b'{"head": {"vars": ["user", "count"]}, "results": {}}',
        b'{"head": {"vars": ["user", "count"]}, "results": []}',
        b'{"head": {"vars": ["user", "count"]}, "results": {"bindings": {}}}',
        b'{"head": {"vars": ["user", "count"]}, "results": {"bindings": [1]}}',
        b'{"head": {"vars": ["user", "count"]}, "results": {"bindings": [{},]}}',
        b'{"head": {"vars": ["user", "count"]}, "results": {"bindings": [{} {}]}}',
        b'{"head": {"vars": ["user", "count"]}, "results": {"bindings": [], "bindings": []}}',
        b'{"head": {"vars": ["user", "count"]}, "results": {"bindings": []}} {}',
        b'{"head": {"vars": [[]]}, "results": {"bindings": []}}',
        b'{"results": {"bindings": []}}',
        in_json([ROW]).replace('"count": {', '"user": {').encode(),
        in_json([ROW]).replace('{"type": "uri"', '{"type": "uri", "value": "http://e/b"').encode(),
        in_json([ROW]).replace('"vars":', '"vars": [], "vars":').encode(),
    ],
)
def test_json_of_another_shape_is_not_believed(body):
    with pytest.raises(NoAnswerError, match="cut or is no JSON|no SPARQL 1.1 JSON|no SELECT"):
        read(body, piece=100)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("<html><body/></html>", "no SPARQL XML result"),
        ("<sparql><head/></sparql>", "no SPARQL XML result"),
        (in_xml([]).replace("<results></results>", ""), "no SPARQL XML result"),
        (in_xml([]).replace("results>", "boolean>"), "no SPARQL XML result"),
        (in_xml([ROW]).replace("uri>", "triple>"), "no SPARQL XML result"),
        (in_xml([]) + "<x/>", "cut or is no XML"),
        (in_xml([ROW]).replace('name="count">', 'name="user">'), "one term for each name"),
        (in_xml([ROW]).replace("</uri>", "</uri><uri>http://e/b</uri>"), "one term for each name"),
        (in_xml([ROW]).replace("<uri>http://e/a</uri>", ""), "one term for each name"),
        (in_xml([ROW]).replace('<binding name="user">', "<binding>"), "one term for each name"),
        (in_xml([ROW]).replace("</head>", "</head><head/>"), "twice"),
        (in_xml([ROW]).replace("<results>", "<results/><results>"), "twice"),
        (in_xml([ROW]).replace("<sparql", "<!DOCTYPE sparql><sparql", 1), "DOCTYPE"),
        (
            in_xml([ROW])
            .replace("<sparql", '<!DOCTYPE s [<!ENTITY x SYSTEM "file:///etc/passwd">]><sparql', 1)
            .replace("http://e/a", "&x;"),
            "DOCTYPE",
        ),
        (in_xml([ROW]).replace("http://e/a", "&x;"), "cut or is no XML"),
        ('<?xml version="1.0" encoding="foo-8"?><a/>', "cut or is no XML"),
        ('<?xml version="1.0" encoding="shift_jis"?><a/>', "cut or is no XML"),
    ],
)
def test_xml_of_another_shape_is_not_believed(body, reason):
    with pytest.raises(NoAnswerError, match=reason):
        read(body, XML)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("", "cut"),
        ("<html>\n<p>All is well\n</html>\n", "lacks the variables"),
        ("?user\t?count\t?user\n<http://e/a>\t1\t<http://e/b>\n", "names a variable twice"),
        (in_tsv([]) + "<http://e/a>\n", "a line of 1 fields, but 2 variables"),
        (in_tsv([]) + "<http://e/a>\t1\t2\n", "a line of 3 fields"),
        (in_tsv([]) + "<http://e/a>\tx\n", "malformed"),
        (in_tsv([]) + '<http://e/a>\t"x\n', "malformed"),
        (in_tsv([]) + '<http://e/a>\t"\\x"\n', "malformed"),
        (in_tsv([]) + '<http://e/a>\t"\\UFFFFFFFF"\n', "malformed"),
        (in_tsv([]) + '<http://e/a>\t"\\U00110000"\n', "malformed"),
        (in_tsv([ROW]).encode() + b"\xff\n", "no text in UTF-8"),
    ],
)
def test_tsv_of_another_shape_is_not_believed(body, reason):
    with pytest.raises(NoAnswerError, match=reason):
        read(body, TSV)


@pytest.mark.parametrize("kind", ["text/html", "text/plain", "text/csv", "application/rdf+xml"])
def test_another_content_type_is_not_read(kind):
    with pytest.raises(NoAnswerError, match=f"the reply is {kind.replace('+', '.')}"):
        read(in_json([ROW]), kind)


@pytest.mark.parametrize(
    ("kind", "write"), [("", in_json), ("Application/JSON", in_json), ("text/xml", in_xml)]
)
def test_other_names_of_the_formats(kind, write):
    assert read(write([ROW]), kind).rows == [ENCODED]


@formats
def test_a_reply_to_another_query_is_not_believed(kind):
    with pytest.raises(NoAnswerError, match="lacks the variables count"):
        read(FORMATS[kind]([], names=("user",)), kind)


@pytest.mark.parametrize(
    "term",
    [
        None,
        "x",
        {},
        {"type": "uri"},
        {"type": "uri", "value": 5},
        {"type": "bnode", "value": 5},
        {"type": "literal", "value": 5},
        {"type": "triple", "value": "x"},
        {"type": "literal", "value": "x", "datatype": 5},
        {"type": "literal", "value": "x", "xml:lang": 5},
        {"type": "literal", "value": "x", "xml:lang": []},
    ],
)
def test_what_has_not_the_form_of_a_term_is_not_believed(term):
    with pytest.raises(NoAnswerError, match="a row of the reply is malformed"):
        read(in_json([ROW, {**ROW, "count": term}]))


def literal(value, **marks):
    return {"type": "literal", "value": value, **marks}


@formats
@pytest.mark.parametrize(
    "term",
    [
        *(
            {"type": "uri", "value": value}
            for value in ("http://e/a b", 'http://e/"', "http://e/>", "http://e/<", "a", "", "/a")
        ),
        *({"type": "bnode", "value": value} for value in ("", "a b", "a>", 'a"')),
        *(literal("x", **{"xml:lang": tag}) for tag in ('a"b', "not a tag", "en_US", "1")),
        *(literal("x", datatype=iri) for iri in ("", "integer", "http://e/a b", "http://e/>")),
        literal("x", datatype="http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"),
    ],
)
def test_a_value_that_no_term_has_is_left_out_and_counted(kind, term):
    got = read(FORMATS[kind]([ROW, {**ROW, "count": term}, ROW]), kind)
    assert (got.rows, got.invalid, len(got)) == ([ENCODED] * 2, [("<http://e/a>", None)], 3)


@pytest.mark.parametrize(
    "term",
    [
        {"type": "uri", "value": "http://e/\n"},
        {"type": "uri", "value": "http://e/\ud800"},
        {"type": "bnode", "value": "a\nb"},
        {"type": "literal", "value": "\ud800"},
        {"type": "literal", "value": "x", "xml:lang": "en\n"},
        {"type": "literal", "value": "x", "datatype": "http://e/\n"},
    ],
)
def test_line_breaks_and_half_characters_are_left_out(term):
    assert read(in_json([{**ROW, "count": term}])).invalid == [("<http://e/a>", None)]


@formats
def test_an_empty_language_is_none(kind):
    term = {"type": "literal", "value": "x", "xml:lang": ""}
    assert read(FORMATS[kind]([{**ROW, "count": term}]), kind).rows == [("<http://e/a>", '"x"')]


@formats
@pytest.mark.parametrize(
    ("rows", "max_rows", "limit", "headers"),
    [
        (3, 3, None, {}),
        (4, 3, None, {}),
        (3, 3, 5, {}),
        (2, 9, None, {"x_sparql_maxrows": "2"}),
        (3, 9, 9, {"x_sparql_maxrows": " 2 "}),
        (1, 9, None, {"x_sql_state": "s1tat"}),
        (1, 9, 1, {"x_sql_state": "S1TAT"}),
    ],
)
def test_a_reply_that_may_be_truncated_is_not_believed(kind, rows, max_rows, limit, headers):
    with pytest.raises(NoAnswerError, match="truncated"):
        read(FORMATS[kind]([ROW] * rows), kind, max_rows=max_rows, limit=limit, **headers)


@formats
@pytest.mark.parametrize(
    ("rows", "max_rows", "limit", "headers"),
    [
        (2, 3, None, {}),
        (3, None, None, {}),
        (3, 3, 3, {}),
        (3, 9, 3, {"x_sparql_maxrows": "3"}),
        (1, 9, None, {"x_sparql_maxrows": "2"}),
        (1, 9, None, {"x_sparql_maxrows": "0"}),
        (1, 9, None, {"x_sparql_maxrows": "many"}),
        (1, 9, None, {"x_sql_state": "00000"}),
    ],
)
def test_a_complete_reply_is_believed(kind, rows, max_rows, limit, headers):
    got = read(FORMATS[kind]([ROW] * rows), kind, max_rows=max_rows, limit=limit, **headers)
    assert len(got) == rows


@formats
def test_more_rows_than_the_limit_mean_that_it_was_ignored(kind):
    with pytest.raises(NoAnswerError, match="ignores LIMIT: asked for 2 rows"):
        read(FORMATS[kind]([ROW] * 3), kind, limit=2)


@formats
def test_too_many_rows_are_noticed_before_the_end(kind):
    reader = open_reader({"content-type": kind}, Wanted(VARIABLES, max_rows=10))
    body = FORMATS[kind]([ROW] * 20).encode()
    with pytest.raises(NoAnswerError, match="10 rows or more"):
        reader.feed(body[: len(body) * 3 // 4])


def test_a_long_value_is_not_read_over_and_over():
    reader = open_reader({}, Wanted(VARIABLES))
    scans = []
    scan = reader._scan
    reader._scan = lambda text, at: (scans.append(at), scan(text, at))[1]
    body = in_json([{**ROW, "count": literal("x" * 1_000_000)}]).encode()
    for at in range(0, len(body), 1000):
        reader.feed(body[at : at + 1000])
    assert len(reader.close().rows[0][1]) == 1_000_002
    assert len(scans) < 40


def test_empty_members_beside_the_results_are_passed_over():
    whole = in_json([ROW])
    assert read(whole.replace('"results"', '"more": {}, "results": {}, "results"')) == read(whole)
