"""The client against an endpoint that misbehaves on command."""

import gzip
import json

import pytest

from bestbefore.errors import ServiceError


def user(number):
    return f"http://e/u/{number}"


def key(number):
    return (f"<{user(number)}>",)


def row(number, value):
    return (f"<{user(number)}>", f'"{value}"')


def test_trouble_that_passes_is_waited_out(endpoint, client_of, moved_time):
    endpoint.facts = {user(1): ["5"]}
    endpoint.script.extend([endpoint.status(503), endpoint.break_off])
    fetched = client_of().fetch([key(1)])
    assert (dict(fetched.rows), fetched.requests) == ({key(1): (row(1, 5),)}, 3)
    assert len(moved_time.slept) == 2
    assert 0.25 <= moved_time.slept[0] <= 0.5 <= moved_time.slept[1] <= 1.0


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_a_passing_status_is_tried_again_until_the_attempts_end(endpoint, client_of, status):
    endpoint.script.extend([endpoint.status(status)] * 3)
    fetched = client_of().fetch([key(1)])
    assert fetched.requests == 3
    assert fetched.failed[key(1)].startswith(f"HTTP {status} ")
    assert fetched.failed[key(1)].endswith("(after 3 attempts)")


def test_the_last_request_allowed_fails_with_its_own_reason(endpoint, client_of, moved_time):
    endpoint.script.append(endpoint.status(503))
    fetched = client_of().fetch([key(1)], requests_allowed=1)
    assert (fetched.failures, fetched.requests) == (("HTTP 503 Service Unavailable",), 1)
    assert moved_time.slept == []


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 501])
def test_another_status_is_not_tried_again(endpoint, client_of, status):
    endpoint.script.append(endpoint.status(status))
    fetched = client_of().fetch([key(1)])
    assert fetched.requests == 1
    assert fetched.failed[key(1)].startswith(f"HTTP {status}")


def test_retry_after_is_honoured(endpoint, client_of, moved_time):
    endpoint.facts = {user(1): ["5"]}
    endpoint.script.append(endpoint.status(429, Retry_After="20"))
    began = moved_time.now_ms
    fetched = client_of().fetch([key(1)])
    assert fetched.rows == {key(1): (row(1, 5),)}
    assert moved_time.now_ms - began == 20_000


def test_retry_after_as_a_date_is_honoured(endpoint, client_of, moved_time):
    endpoint.script.append(endpoint.status(503, Retry_After="Tue, 14 Nov 2023 22:13:35 GMT"))
    began = moved_time.now_ms
    assert client_of().fetch([key(1)]).failed == {}
    assert moved_time.now_ms - began == 15_000


def test_retry_after_holds_back_the_next_call_too(endpoint, client_of, moved_time):
    endpoint.script.append(endpoint.status(403, Retry_After="20"))
    client = client_of()
    assert client.fetch([key(1)]).failures == ("HTTP 403 Forbidden",)
    assert moved_time.slept == []
    client.fetch([key(1)])
    assert moved_time.slept == [20.0]


def test_a_long_retry_after_makes_the_service_unavailable(endpoint, client_of, moved_time):
    endpoint.script.append(endpoint.status(429, Retry_After="31"))
    client = client_of(connections=1, units_per_request=1)
    reason = "the service asked not to be called before 2023-11-14T22:13:51Z"
    assert client.fetch([key(1), key(2)]).failures == (reason,)
    moved_time.now_ms += 30_999
    assert client.fetch([key(1)]).requests == 0
    with pytest.raises(ServiceError, match=reason):
        client.load()
    assert (len(endpoint.queries), moved_time.slept) == (1, [])
    moved_time.now_ms += 1
    assert client.fetch([key(1)]).failed == {}


def test_a_service_that_does_not_answer_in_time(endpoint, client_of):
    endpoint.script.extend([endpoint.hang] * 2)
    fetched = client_of(timeout_s=0.1, attempts=2).fetch([key(1)])
    assert fetched.failed == {key(1): "no complete reply within 0.1 s (after 2 attempts)"}


def test_a_connection_that_breaks_in_the_middle(endpoint, client_of):
    endpoint.script.append(endpoint.break_off)
    fetched = client_of(attempts=1).fetch([key(1)])
    assert fetched.failed == {key(1): "the connection broke in the middle of the reply"}


def test_a_connection_that_is_dropped(endpoint, client_of):
    endpoint.script.append(endpoint.refuse_connection)
    fetched = client_of(attempts=1).fetch([key(1)])
    assert fetched.failed[key(1)].startswith("no connection: ")


def test_nobody_listens(client_of, unused_port):
    fetched = client_of(endpoint=f"http://127.0.0.1:{unused_port}/", attempts=2).fetch([key(1)])
    assert fetched.failed[key(1)].startswith("no connection: ")
    assert fetched.requests == 2


def test_no_tls_is_no_answer(endpoint, client_of):
    url = endpoint.url.replace("http:", "https:")
    fetched = client_of(endpoint=url, attempts=1).fetch([key(1)])
    assert fetched.failed[key(1)].startswith("no ")


def good(size=1):
    return json.dumps(
        {
            "head": {"vars": ["user", "count"]},
            "results": {
                "bindings": [
                    {
                        "user": {"type": "uri", "value": user(1)},
                        "count": {"type": "literal", "value": "x" * size},
                    }
                ]
            },
        }
    )


def test_replies_that_are_not_believed(endpoint, client_of):
    replies = {
        "cut or is no JSON": endpoint.raw(good()[:-20]),
        "text/html": endpoint.raw("<html>All is well</html>", content_type="text/html"),
        "no SPARQL 1.1 SELECT result": endpoint.raw('{"boolean": true}'),
        "counts as truncated": endpoint.rows([(user(1), "a")] * 5),
        "S1TAT": endpoint.rows([(user(1), "a")], X_SQL_State="S1TAT"),
        "the most this service sends": endpoint.rows([(user(1), "a")], X_SPARQL_MaxRows="1"),
        "longer than max_response_bytes": endpoint.raw(good(size=3000)),
        "than max_response_bytes": endpoint.raw(
            gzip.compress(good(size=3_000_000).encode()), Content_Encoding="gzip"
        ),
        "malformed": endpoint.raw(good().replace("uri", "url")),
    }
    client = client_of(max_rows=5, max_response_bytes=2000)
    for part, reply in replies.items():
        endpoint.script.append(reply)
        fetched = client.fetch([key(1)])
        assert (dict(fetched.rows), fetched.requests) == ({}, 1), part
        assert part in fetched.failed[key(1)]
    assert client.fetch([key(1)]).rows == {key(1): ()}


def test_a_bad_reply_fails_its_own_units_only(endpoint, client_of):
    endpoint.facts = {user(n): [str(n)] for n in range(4)}
    endpoint.script.append(endpoint.raw(good().replace("uri", "url")))
    fetched = client_of(units_per_request=2, connections=1).fetch([key(n) for n in range(4)])
    assert set(fetched.failed) == {key(0), key(1)}
    assert set(fetched.rows) == {key(2), key(3)}


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    ("location", "named"),
    [("http://127.0.0.2:9/sparql", "'127.0.0.2'"), ("/sparql2", "the same host")],
)
def test_a_redirect_is_not_followed(endpoint, client_of, status, location, named):
    endpoint.script.append(endpoint.status(status, Location=location))
    fetched = client_of().fetch([key(1)])
    assert (fetched.requests, len(endpoint.queries)) == (1, 1)
    assert f"HTTP {status}" in fetched.failed[key(1)]
    assert named in fetched.failed[key(1)]


def test_a_service_that_is_down_is_not_asked_to_the_end(endpoint, client_of):
    endpoint.script.extend([endpoint.status(500)] * 100)
    client = client_of(units_per_request=1, connections=1)
    fetched = client.fetch([key(n) for n in range(20)])
    assert len(fetched.failed) == 20
    assert fetched.requests == 9
    assert "3 queries in a row failed, so no more were sent" in fetched.failures
