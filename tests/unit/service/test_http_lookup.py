"""Lookups by HTTP against a real server: what is asked, what is read, what is refused."""

import json
from urllib.parse import unquote

import pytest

from bestbefore.job import read_job
from bestbefore.service import ServiceClient, ServicePattern
from bestbefore.service.kinds import open_service
from bestbefore.service.results import Rows
from bestbefore.service.validators import Validators
from tests.json_server import JsonServer

XSD = "http://www.w3.org/2001/XMLSchema#"
CITY = "http://example.org/city/{}"
NASTY = [
    "a'b", 'a"b', "{city}", "{keys}", "a\nb", "a>b", "%00", "../../admin", "..%2F..", "a/b", "a;b",
    "a&city=oslo", "a#b", "a?b=c", "https://evil.example/", "@evil.example", "\\", "a b", "ü",
    "'; DROP TABLE weather; --", '"}, {"id": "x', "[1]", "null", "$(id)", "\t", "a|b",
]  # fmt: skip


@pytest.fixture(scope="module")
def server():
    made = JsonServer()
    yield made
    made.close()


@pytest.fixture(autouse=True)
def fresh(server):
    server.facts, server.requests, server.headers = {}, [], []
    server.answer = server.look_up


@pytest.fixture
def client(server):
    made = []

    def make(text="?city :t ?t . ?city :h ?h", *, key=("city",), **section):
        section = {
            "url": f"{server.url}/weather?city={{city}}",
            "columns": {"t": "/main/temp", "h": "/main/humidity"},
            **section,
        }
        made.append(client_of(section, text, key))
        return made[-1]

    yield make
    for one in made:
        one.close()


def job_of(section, text="?city :t ?t . ?city :h ?h", kind="http", key=("city",), **sections):
    bound = " ".join(f"?event :p{number} ?{name} ." for number, name in enumerate(key))
    query = (
        "PREFIX : <http://example.org/> REGISTER RSTREAM :o AS SELECT * "
        "FROM NAMED WINDOW :w ON :s [RANGE PT10S STEP PT5S] WHERE { "
        f"WINDOW :w {{ {bound} }} SERVICE :bkg {{ {text} }} }}"
    )
    return read_job(
        {
            "query": {"text": query},
            "streams": {"s": {"source": "dataframe"}},
            "services": {"bkg": {"kind": kind, **section}},
            **sections,
        }
    )


def client_of(section, text, key, kind="http"):
    service = job_of(section, text, kind, key).services[0]
    variables = tuple(one.name for one in service.plan.variables)
    return open_service(
        service.client, ServicePattern(service.plan.service.pattern, variables, key)
    )


def key(city):
    return (f'"{city}"',)


def number(value, kind="decimal"):
    return f'"{value}"^^<{XSD}{kind}>'


def test_a_document_per_unit(server, client):
    server.facts = {"Rome": {"main": {"temp": 21.50, "humidity": 40}}}
    made = client()
    assert isinstance(made, ServiceClient)
    fetched = made.fetch([key("Rome"), key("Oslo")])
    assert fetched.rows == {
        key("Rome"): (('"Rome"', number("21.5"), number(40, "integer")),),
        key("Oslo"): (),
    }
    assert (fetched.requests, fetched.failed, fetched.state) == (2, {}, "ok")
    assert {path for _, path, _ in server.requests} == {
        "/weather?city=Rome",
        "/weather?city=Oslo",
    }
    assert server.headers[0]["Accept"] == "application/json"


def test_types_templates_and_numbers_as_they_are_written(server, client):
    body = (
        b'{"t": 21.500, "h": "4.2E3", "n": 12345678901234567890, "w": "a b", "l": "Rom", "x": true}'
    )
    server.answer = lambda *_: (200, body, {})
    made = client(
        "?city :t ?t . ?city :h ?h . ?city :n ?n . ?city :w ?w . ?city :l ?l . ?city :x ?x",
        columns={
            "t": "/t",
            "h": {"pointer": "/h", "datatype": "xsd:double"},
            "n": "/n",
            "w": {"pointer": "/w", "iri": "http://e/{}"},
            "l": {"pointer": "/l", "language": "de"},
            "x": "/x",
        },
    )
    (row,) = made.fetch([key("Rome")]).rows[key("Rome")]
    assert row[1:] == (
        number("21.500"), number("4.2E3", "double"), number("12345678901234567890", "integer"),
        "<http://e/a%20b>", '"Rom"@de', number("true", "boolean"),
    )  # fmt: skip


def test_iris_are_asked_for_by_what_their_template_leaves(server, client):
    server.facts = {"New York": {"main": {"temp": 5, "humidity": 1}}}
    made = client(keys={"city": CITY})
    asked_for = ("<http://example.org/city/New%20York>",)
    fetched = made.fetch([asked_for, ("<http://example.org/town/x>",), key("Rome")])
    assert len(fetched.rows[asked_for]) == 1
    assert server.requests == [("GET", "/weather?city=New%20York", "")]
    assert sorted(fetched.failed.values()) == [
        f"""never sent: '"Rome"' is not an IRI such as {CITY}, which the service is asked by""",
        f"never sent: <http://example.org/town/x> is no IRI such as {CITY}",
    ]


def test_several_rows_and_a_path(server, client):
    server.answer = lambda *_: (200, {"items": [{"t": 1}, {"t": None}, {"u": 3}, {"t": [3]}]}, {})
    made = client(
        "?city :t ?t", url=f"{server.url}/w/{{city}}/now", columns={"t": "/t"}, rows="/items"
    )
    fetched = made.fetch([key("Rome")])
    assert fetched.rows[key("Rome")] == (('"Rome"', number(1, "integer")), ('"Rome"', None))
    assert fetched.invalid == 2
    assert server.requests == [("GET", "/w/Rome/now", "")]


@pytest.mark.parametrize("batch", [
    {"url": "/weather?cities={keys}", "key": "/id"},
    {"body": {"ids": "{keys}", "unit": "C"}, "url": "/weather", "key": "/id"},
])  # fmt: skip
def test_a_batch_is_one_request(server, client, batch):
    server.facts = {name: {"main": {"temp": 1, "humidity": 2}} for name in ("Rome", "Oslo", "Bonn")}
    batch = {**batch, "url": server.url + batch["url"], "units_per_request": 2}
    made = client(batch=batch, rows="/items", columns={"t": "/main/temp", "h": "/main/humidity"})
    fetched = made.fetch([key("Rome"), ('"Rome"@it',), key("Oslo"), key("Bonn")])
    assert {one: len(rows) for one, rows in fetched.rows.items()} == {
        key("Rome"): 1, ('"Rome"@it',): 1, key("Oslo"): 1, key("Bonn"): 1,
    }  # fmt: skip
    assert fetched.requests == len(server.requests) == 2


def test_numbers_as_keys_of_a_batch(server, client):
    server.facts = {5: {"t": 1}}
    batch = {"body": {"ids": "{keys}"}, "key": "/id"}
    made = client("?city :t ?t", url=f"{server.url}/w", batch=batch, rows="/items",
                  columns={"t": "/t"}, keys={"city": {"type": "integer"}})  # fmt: skip
    five = (number("05", "integer"),)
    fetched = made.fetch([five, key("x")])
    assert json.loads(server.requests[0][2]) == {"ids": [5]}
    assert len(fetched.rows[five]) == 1
    assert "'x' is no integer" in fetched.failed[key("x")]


@pytest.mark.parametrize("place", ["/w/{city}/now", "/w?city={city}&unit=C", "/w/a-{city}.json"])
def test_a_key_never_changes_path_parameters_or_host(server, client, place):
    server.answer = lambda *_: (200, {"t": 1}, {})
    made = client("?city :t ?t", url=server.url + place, columns={"t": "/t"})
    before, after = place.split("{city}")
    for text in NASTY:
        fetched = made.fetch([key(text)])
        assert len(fetched.rows[key(text)]) == 1, text
        method, path, body = server.requests[-1]
        value = path.removeprefix(before).removesuffix(after)
        assert (method, body) == ("GET", "")
        assert path == before + value + after
        assert not set(value) & set("/?#&=;{}%'\"<>\\ \n@:") - {"%"}, path
        assert unquote(value) == text
    assert len(server.requests) == len(NASTY)


@pytest.mark.parametrize("text", ["", ".", ".."])
def test_a_key_never_makes_a_segment_that_means_another_path(server, client, text):
    made = client("?city :t ?t", url=f"{server.url}/w/{{city}}/now", columns={"t": "/t"})
    fetched = made.fetch([key(text)])
    assert fetched.failed == {
        key(text): f"never sent: it would make {text!r} of a segment of the URL's path"
    }
    assert server.requests == []


def test_keys_that_cannot_be_sent(server, client):
    made = client("?city :t ?t", columns={"t": "/t"}, url=f"{server.url}/w",
                  batch={"url": f"{server.url}/w?cities={{keys}}", "key": "/id"})  # fmt: skip
    fetched = made.fetch([key("a\x00b"), key("a,b"), key("\ud800"), ("<http://e/x>",), ("_:b",)])
    assert not fetched.rows
    assert len(fetched.failed) == 5
    assert all(why.startswith("never sent: ") for why in fetched.failed.values())
    assert server.requests == []


def test_nasty_keys_in_a_body_are_values(server, client):
    server.facts = {text: {"t": 1} for text in NASTY}
    made = client("?city :t ?t", url=f"{server.url}/w", columns={"t": "/t"}, rows="/items",
                  batch={"body": {"ids": "{keys}"}, "key": "/id"})  # fmt: skip
    fetched = made.fetch([key(text) for text in NASTY])
    assert {one: len(rows) for one, rows in fetched.rows.items()} == {key(t): 1 for t in NASTY}
    assert [path for _, path, _ in server.requests] == ["/w"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"<p>", "the reply was cut or is no JSON"),
        (b'{"t": 1', "the reply was cut or is no JSON"),
        (b"[" * 100_000, "the reply was cut or is no JSON"),
        (b'{"t": NaN}', "the reply holds NaN, which is no JSON"),
        (b'{"t": 1, "t": 2}', "an object of the reply has a member twice"),
        (b"{}", "the reply has nothing at '/t'"),
        (b"null", "the reply has nothing at '/t'"),
        (b'{"error": "t"}', "the reply has nothing at '/t'"),
        (b'{"t": {"a": 1}}', "all rows that came for it hold something that is no RDF term"),
        (b'{"t": "\\ud800"}', "all rows that came for it hold something that is no RDF term"),
        (b'{"t": "\xff"}', "the reply was cut or is no JSON"),
        (b'{"t": 1}' + b" " * 2000, "the reply is longer than max_response_bytes = 1000"),
    ],
)  # fmt: skip
def test_replies_that_say_nothing_of_a_unit(server, client, body, reason):
    server.answer = lambda *_: (200, body, {})
    made = client(
        "?city :t ?t", columns={"t": "/t"}, max_response_bytes=1000 if len(body) < 9999 else 10**6
    )
    fetched = made.fetch([key("Rome")])
    assert not fetched.rows
    assert fetched.failed[key("Rome")].startswith(reason)


def test_values_that_do_not_fit_their_type(server, client):
    server.answer = lambda *_: (200, {"items": [{"t": "abc"}, {"t": "2026-02-30"}, {"t": "7"}]}, {})
    made = client(
        "?city :t ?t", rows="/items", columns={"t": {"pointer": "/t", "datatype": "xsd:byte"}}
    )
    fetched = made.fetch([key("Rome")])
    assert fetched.rows[key("Rome")] == (('"Rome"', number(7, "byte")),)
    assert fetched.invalid == 2


def test_other_replies_are_trouble_as_with_any_service(server, client):
    server.answer = lambda *_: (403, {"why": "no"}, {})
    fetched = client().fetch([key("Rome")])
    assert fetched.failed[key("Rome")].startswith("HTTP 403 Forbidden")
    server.answer = lambda *_: (200, {"a": 1}, {"Content-Type": "text/html"})
    assert client().fetch([key("a")]).failed == {key("a"): "the reply is text/html, not JSON"}
    server.answer = lambda *_: (302, {}, {"Location": "http://127.0.0.2/x"})
    assert "which is not followed" in client().fetch([key("a")]).failed[key("a")]
    server.requests.clear()
    server.answer = lambda *_: (503, {}, {"Retry-After": "100"})
    made = client()
    assert made.fetch([key("a")]).state == "waiting"
    assert made.fetch([key("b")]).requests == 0
    assert len(server.requests) == 1


def test_a_batch_of_other_units_is_no_reply(server, client):
    server.answer = lambda *_: (200, [{"id": "x", "t": 1}, {"t": 2}, {"id": [], "t": 3}, 7], {})
    made = client("?city :t ?t", url=f"{server.url}/w", columns={"t": "/t"},
                  batch={"body": {"ids": "{keys}"}, "key": "/id"})  # fmt: skip
    fetched = made.fetch([key("a"), key("b")])
    assert set(fetched.failed) == {key("a"), key("b")}
    assert (fetched.unasked, fetched.invalid) == (1, 3)


def test_secret_parameters_go_with_every_request_and_nowhere_else(server, client, monkeypatch):
    monkeypatch.setenv("KEY", "s&x")
    server.answer = lambda *_: (400, {"why": "key s&x or s%26x is wrong"}, {})
    secret = {"secret_query": {"appid": {"env": "KEY"}}}
    made = client(**secret)
    assert "s&x" not in str(made.fetch([key("Rome")]))
    batch = {"url": f"{server.url}/all", "body": {"ids": "{keys}"}, "key": "/id"}
    client(url=f"{server.url}/w", batch=batch, **secret).fetch([key("Rome")])
    paths = [path for _, path, _ in server.requests]
    assert paths == ["/weather?city=Rome&appid=s%26x", "/all?appid=s%26x"]
    section = {"url": f"{server.url}/w/{{city}}", "columns": {"t": "/t", "h": "/h"}, **secret}
    settings = job_of(section).services[0]
    monkeypatch.setenv("KEY", "another")
    assert settings.identity == job_of(section).services[0].identity
    assert "s&x" not in repr(settings)


def test_secrets_of_the_url_are_not_told(server, client):
    server.answer = lambda *_: (400, {"why": "token verysecret is wrong"}, {})
    made = client(url=f"{server.url}/w?city={{city}}&key=verysecret")
    assert "verysecret" not in str(made.fetch([key("Rome")]))
    assert "verysecret" in server.requests[0][1]


def test_a_unit_that_has_not_changed_is_told_so(server, client):
    version = {"tag": '"1"', "t": 1}

    def answer(_method, path, _body):
        if server.headers[-1].get("If-None-Match") == version["tag"]:
            return 304, {}, {}
        if path.endswith("=b"):
            return 200, {"t": 9}, {"ETag": "no tag\x7f", "Last-Modified": "x\ty"}
        return 200, {"t": version["t"]}, {"ETag": version["tag"]}

    server.answer = answer
    made = client("?city :t ?t", columns={"t": "/t"})
    first, second = made.fetch([key("a"), key("b")]), made.fetch([key("a"), key("b")])
    assert (first.rows, first.not_modified) == (second.rows, 0)
    assert (second.requests, second.not_modified, second.state) == (2, 1, "ok")
    version |= {"tag": 'W/"2"', "t": 2}
    third = made.fetch([key("a")])
    assert third.rows[key("a")] == (('"a"', number(2, "integer")),)
    assert third.not_modified == 0
    assert made.fetch([key("a")]).not_modified == 1
    # Nobody asked whether it has changed.
    server.answer = lambda *_: (304, {}, {})
    assert made.fetch([key("c")]).failed == {key("c"): "HTTP 304 Not Modified"}


def test_a_date_is_a_version_too_and_a_unit_may_be_gone_since(server, client):
    date = "Wed, 21 Oct 2015 07:28:00 GMT"
    server.answer = lambda *_: (200, {"t": 1}, {"Last-Modified": date})
    made = client("?city :t ?t", columns={"t": "/t"})
    made.fetch([key("a")])
    server.answer = lambda *_: (404, {}, {})
    assert made.fetch([key("a")]).rows == {key("a"): ()}
    assert server.headers[-1]["If-Modified-Since"] == date


def test_versions_take_so_much_memory_and_no_more():
    kept = Validators(most=4_000)
    etag = {"etag": '"1"'}
    for number in range(100):
        kept.noting((str(number),), lambda _: Whole(Rows([("x" * 500,)], [])))(etag).close()
        kept.of(("0",))
    assert [number for number in range(100) if kept.of((str(number),))] == [0, 97, 98, 99]
    kept.noting(("99",), lambda _: Whole(Rows([("x",)], [("y",)])))(etag).close()
    assert kept.of(("99",)) is None
    kept.noting(("huge",), lambda _: Whole(Rows([("x" * 9_000,)], [])))(etag).close()
    assert kept.of(("huge",)) is None
    assert kept.of(("98",)) is not None


class Whole:
    """A reader that has read all."""

    def __init__(self, rows):
        self.rows = rows

    def close(self):
        return self.rows
