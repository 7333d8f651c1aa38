"""Which replies are believed."""

import json

import pytest

from bestbefore.service.reply import NoAnswerError, Reply, check_status, read_rows

VARIABLES = ("user", "count")


def reply(bindings, *, names=VARIABLES, **headers):
    document = {"head": {"vars": list(names)}, "results": {"bindings": bindings}}
    return Reply(200, headers, json.dumps(document).encode())


def rows_of(got, *, max_rows=10_000, limit=None):
    return read_rows(got, VARIABLES, max_rows=max_rows, limit=limit)


ROW = {"user": {"type": "uri", "value": "http://e/a"}, "count": {"type": "literal", "value": "1"}}


def test_rows_are_encoded_in_the_order_of_the_variables_and_kept_twice():
    unbound = {"user": {"type": "bnode", "value": "b0"}}
    assert rows_of(reply([ROW, ROW, unbound])) == [
        ("<http://e/a>", '"1"'),
        ("<http://e/a>", '"1"'),
        ("_:b0", None),
    ]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b'{"head": {"vars": ["user", "count"]}, "results": {"bindings": [{"user"',
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b'{"head": ' + b"9" * 5000 + b"}",
    ],
)
def test_a_cut_reply_is_not_believed(body):
    with pytest.raises(NoAnswerError, match=r"cut or is no JSON \(text/html\)"):
        rows_of(Reply(200, {"content-type": "text/html"}, body))


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {"boolean": True},
        {"head": {"vars": ["user", "count"]}, "results": {"bindings": {}}},
        {"head": {"vars": ["user", "count"]}, "results": {"bindings": [1]}},
        {"results": {"bindings": []}},
    ],
)
def test_json_of_another_shape_is_not_believed(document):
    with pytest.raises(NoAnswerError, match=r"no SPARQL 1\.1 SELECT result"):
        rows_of(Reply(200, {}, json.dumps(document).encode()))


def test_a_reply_to_another_query_is_not_believed():
    with pytest.raises(NoAnswerError, match="lacks the variables count"):
        rows_of(reply([], names=("user",)))


@pytest.mark.parametrize(
    "term",
    [
        None,
        "x",
        {},
        {"type": "uri"},
        {"type": "uri", "value": 5},
        {"type": "triple", "value": "x"},
        {"type": "literal", "value": "\ud800"},
        {"type": "literal", "value": "x", "datatype": 'a"b'},
        {"type": "literal", "value": "x", "datatype": 5},
        {"type": "literal", "value": "x", "xml:lang": 'a"b'},
        {"type": "literal", "value": "x", "xml:lang": 5},
    ],
)
def test_a_malformed_term_is_not_believed(term):
    with pytest.raises(NoAnswerError, match="a row of the reply is malformed"):
        rows_of(reply([ROW, {**ROW, "count": term}]))


@pytest.mark.parametrize(
    ("rows", "max_rows", "limit", "headers"),
    [
        (3, 3, None, {}),
        (3, 3, 5, {}),
        (2, 9, None, {"x-sparql-maxrows": "2"}),
        (3, 9, 9, {"x-sparql-maxrows": " 2 "}),
        (1, 9, None, {"x-sql-state": "s1tat"}),
        (1, 9, 1, {"x-sql-state": "S1TAT"}),
    ],
)
def test_a_reply_that_may_be_truncated_is_not_believed(rows, max_rows, limit, headers):
    with pytest.raises(NoAnswerError, match="truncated"):
        rows_of(reply([ROW] * rows, **headers), max_rows=max_rows, limit=limit)


@pytest.mark.parametrize(
    ("rows", "max_rows", "limit", "headers"),
    [
        (2, 3, None, {}),
        (4, 3, None, {}),
        (3, None, None, {}),
        (3, 3, 3, {}),
        (3, 9, 3, {"x-sparql-maxrows": "3"}),
        (1, 9, None, {"x-sparql-maxrows": "2"}),
        (1, 9, None, {"x-sparql-maxrows": "many"}),
        (1, 9, None, {"x-sql-state": "00000"}),
    ],
)
def test_a_complete_reply_is_believed(rows, max_rows, limit, headers):
    assert len(rows_of(reply([ROW] * rows, **headers), max_rows=max_rows, limit=limit)) == rows


def test_more_rows_than_the_limit_mean_that_it_was_ignored():
    with pytest.raises(NoAnswerError, match="ignores LIMIT: asked for 2 rows, got 3"):
        rows_of(reply([ROW] * 3), limit=2)


@pytest.mark.parametrize(
    ("status", "passing", "refused"),
    [(s, True, False) for s in (408, 429, 500, 502, 503, 504)]
    + [(s, False, False) for s in (201, 204, 301, 401, 403, 404, 501)]
    + [(s, False, True) for s in (400, 413)],
)
def test_what_a_status_means(status, passing, refused):
    with pytest.raises(NoAnswerError, match=f"HTTP {status}") as caught:
        check_status(Reply(status, {}, b""))
    assert (caught.value.passing, caught.value.refused) == (passing, refused)


def test_the_error_text_of_the_service_is_shown_on_one_tame_line():
    body = b"Parse error:\n\n  line 1\x1b[31m " + b"x" * 5000
    with pytest.raises(NoAnswerError) as caught:
        check_status(Reply(400, {}, body))
    message = str(caught.value)
    assert message.startswith("HTTP 400 Bad Request: Parse error: line 1 [31m xxx")
    assert len(message) < 300


@pytest.mark.parametrize("location", ["http://[", "", "/other/path"])
def test_a_redirect_without_a_host_is_refused_too(location):
    with pytest.raises(NoAnswerError, match="another place on the same host"):
        check_status(Reply(307, {"location": location}, b""))
