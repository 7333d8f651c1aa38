"""The client against an endpoint that misbehaves on command."""

import gzip
import json
import tracemalloc
import zlib

import pytest
from aiohttp import web

from bestbefore.errors import ServiceError
from bestbefore.service import ClientSettings, ServiceClient

from .conftest import key, row, user


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


@pytest.mark.parametrize("method", ["get", "post", "post-direct"])
def test_what_arrives_is_what_is_counted_when_connections_are_dropped(endpoint, client_of, method):
    """HTTP clients like to send a GET again by themselves."""
    endpoint.facts = {user(1): ["5"]}
    client = client_of(method=method, attempts=2)
    client.fetch([key(1)])
    endpoint.script.extend([endpoint.refuse_connection] * 2)
    fetched = client.fetch([key(1)], requests_allowed=2)
    assert fetched.failed[key(1)].startswith("no connection: ")
    assert (fetched.requests, len(endpoint.queries)) == (2, 3)


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
        "cut or is no XML": endpoint.raw(
            "<sparql xmlns='http://www.w3.org/2005/sparql-results#'>", content_type="text/xml"
        ),
        "its last line has no end": endpoint.raw(
            '?user\t?count\n<http://e/u/1>\t"1', content_type="text/tab-separated-values"
        ),
        "no SPARQL 1.1 JSON result": endpoint.raw('{"head": {}, "boolean": true}'),
        "5 rows or more": endpoint.rows([(user(1), "a")] * 5),
        "counts as truncated": endpoint.rows([(user(1), "a")] * 6),
        "compressed data has no end": endpoint.raw(
            gzip.compress(good().encode())[:-9], Content_Encoding="gzip"
        ),
        "compressed as 'br'": endpoint.raw(good(), Content_Encoding="br"),
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


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "raw deflate"])
def test_a_compressed_reply_is_unpacked(endpoint, client_of, encoding):
    packed = {
        "gzip": gzip.compress(good().encode()),
        "deflate": zlib.compress(good().encode()),
        "raw deflate": zlib.compress(good().encode())[2:-4],
    }
    reply = endpoint.raw(packed[encoding], Content_Encoding=encoding.split()[-1])
    endpoint.script.append(reply)
    assert client_of().fetch([key(1)]).rows == {key(1): (row(1, "x"),)}


def test_an_error_in_compressed_words_is_told(endpoint, client_of):
    async def refuse(_request):
        body = gzip.compress(b"no such graph")
        return web.Response(status=404, body=body, headers={"Content-Encoding": "gzip"})

    endpoint.script.append(refuse)
    assert client_of().fetch([key(1)]).failures == ("HTTP 404 Not Found: no such graph",)


def test_an_endless_reply_is_left_at_the_first_row_too_many(endpoint, client_of):
    begin = b'{"head": {"vars": ["user", "count"]}, "results": {"bindings": ['
    endpoint.script.append(endpoint.trickle([begin, b"{}," * 20_000], again=1_000))
    tracemalloc.start()
    fetched = client_of(max_rows=10_000).fetch([key(1)])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "10000 rows or more" in fetched.failed[key(1)]
    assert (fetched.requests, peak < 20_000_000) == (1, True)


def test_reading_ends_with_the_time_for_a_reply(endpoint, client_of):
    begin = b'{"head": {"vars": ["user", "count"]}, "results": {"bindings": ['
    endpoint.script.append(endpoint.trickle([begin, b"{}," * 20_000], again=1_000))
    fetched = client_of(max_rows=None, timeout_s=0.15, attempts=1).fetch([key(1)])
    assert fetched.failed == {key(1): "no complete reply within 0.15 s"}
    assert fetched.seconds < 5


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_on_the_same_server_is_followed_and_counted(endpoint, client_of, status):
    endpoint.facts = {user(1): ["5"]}
    endpoint.script.append(endpoint.status(status, Location="/elsewhere#x"))
    endpoint.script.append(endpoint.status(status, Location=endpoint.url))
    fetched = client_of(authorization="Bearer abc").fetch([key(1)])
    assert (dict(fetched.rows), fetched.requests) == ({key(1): (row(1, 5),)}, 3)
    assert [each.path for each in endpoint.requests] == ["/sparql", "/elsewhere", "/sparql"]
    assert {each.method for each in endpoint.requests} == {"POST"}
    assert {each.headers["Authorization"] for each in endpoint.requests} == {"Bearer abc"}


def test_see_other_leads_to_a_finished_result(endpoint, client_of):
    endpoint.script.append(endpoint.status(303, Location="/results/7"))
    endpoint.script.append(endpoint.rows([(user(1), "5")]))
    assert client_of().fetch([key(1)]).rows == {key(1): (row(1, 5),)}
    assert [(each.method, each.path) for each in endpoint.requests] == [
        ("POST", "/sparql"),
        ("GET", "/results/7"),
    ]


def test_redirects_do_not_go_on_for_ever_or_past_what_is_allowed(endpoint, client_of):
    endpoint.script.extend([endpoint.status(307, Location="/again")] * 9)
    fetched = client_of().fetch([key(1)])
    assert (fetched.requests, len(endpoint.queries)) == (4, 4)
    assert fetched.failures == ("the service redirected more than 3 times",)
    fetched = client_of().fetch([key(1)], requests_allowed=2)
    assert (fetched.requests, len(endpoint.queries)) == (2, 6)


def test_a_redirect_to_another_host_is_not_followed(endpoint, client_of):
    endpoint.script.append(endpoint.status(302, Location="http://127.0.0.2:9/sparql"))
    fetched = client_of().fetch([key(1)])
    assert (fetched.requests, len(endpoint.queries)) == (1, 1)
    assert fetched.failures[0].startswith("HTTP 302 Found: the service redirects to '127.0.0.2'")


def test_an_address_that_is_not_allowed_is_not_connected_to(endpoint, client_of):
    url = endpoint.url.replace("127.0.0.1", "localhost")
    networks = ("10.0.0.0/8",)
    client = client_of(endpoint=url, allow_addresses=networks, attempts=1, circuit_failures=1)
    fetched = client.fetch([key(1)])
    assert "which is not in allow_addresses" in fetched.failed[key(1)]
    assert client.circuit == "open"
    assert endpoint.queries == []
    allowed = client_of(endpoint=url, allow_addresses=("127.0.0.0/8", "::1"))
    assert allowed.fetch([key(1)]).failed == {}


def test_a_service_that_is_down_is_not_asked_to_the_end(endpoint, client_of, moved_time):
    endpoint.script.extend([endpoint.status(500)] * 6)
    client = client_of(units_per_request=1, connections=1)
    fetched = client.fetch([key(n) for n in range(20)])
    assert (len(fetched.failed), fetched.requests, fetched.state) == (20, 5, "open")
    reason = "nothing was sent, because the last 5 requests failed; the service is tried again in"
    assert fetched.failed[key(19)].startswith(reason)
    assert fetched.failed[key(19)].endswith("(last reason: HTTP 500 Internal Server Error)")
    again = client.fetch([key(1)])
    assert (again.requests, again.state, client.circuit) == (0, "open", "open")
    moved_time.now_ms += 10_000
    assert client.circuit == "half-open"
    probed = client.fetch([key(n) for n in range(20)])
    assert (probed.requests, probed.state) == (1, "open")
    moved_time.now_ms += 19_000
    assert client.fetch([key(1)]).requests == 0
    moved_time.now_ms += 1_000
    back = client.fetch([key(n) for n in range(20)])
    assert (back.requests, back.state, back.failed) == (20, "ok", {})
    assert client.circuit == "closed"


def test_whoever_comes_during_a_probe_waits_for_its_outcome(endpoint, client_of, moved_time):
    endpoint.script.extend([endpoint.refuse_connection] * 2)
    client = client_of(units_per_request=1, circuit_failures=2, attempts=1, connections=4)
    assert client.fetch([key(1)]).state == "unreachable"
    assert client.fetch([key(1)]).state == "open"
    moved_time.now_ms += 10_000
    endpoint.hold_s = 0.02
    back = client.fetch([key(n) for n in range(8)])
    assert (back.requests, back.failed) == (8, {})


def test_words_of_refusal_do_not_open_the_circuit(endpoint, client_of):
    endpoint.script.extend([endpoint.status(403)] * 12)
    client = client_of(circuit_failures=2)
    for _ in range(12):
        assert client.fetch([key(1)]).state == "failed"
    assert client.fetch([key(1)]).state == "ok"


def test_how_the_service_was_found(endpoint, client_of, unused_port):
    nobody = client_of(endpoint=f"http://127.0.0.1:{unused_port}/", attempts=1)
    assert nobody.fetch([key(1)]).state == "unreachable"
    endpoint.script.append(endpoint.status(429, Retry_After="99"))
    assert client_of().fetch([key(1)]).state == "waiting"
    endpoint.script.append(endpoint.raw("?"))
    some = client_of(units_per_request=1, connections=1).fetch([key(1), key(2)])
    assert some.state == "degraded"
    assert client_of().fetch([("_:b",)]).state == "ok"


def test_at_the_deadline_what_came_is_kept(endpoint, client_of):
    endpoint.facts = {user(n): [str(n)] for n in range(6)}
    client = client_of(units_per_request=1, connections=2)
    client.fetch([key(0)])
    endpoint.script.extend([endpoint.hang, endpoint.rows([("1",)], variables=("count",))])
    endpoint.script.extend([endpoint.hang] * 9)
    fetched = client.fetch([key(n) for n in range(6)], deadline_s=0.15)
    assert fetched.seconds < 5
    assert len(fetched.rows) == 1
    assert fetched.failures == ("not back within the deadline of 0.15 s",)
    assert (len(fetched.failed), fetched.requests, fetched.state) == (5, 3, "degraded")
    # Two were asked for and hung, one came.
    assert len(fetched.unsent) == 3
    endpoint.script.clear()
    assert client.fetch([key(n) for n in range(6)]).failed == {}


def test_a_deadline_that_is_over_sends_nothing(endpoint, client_of):
    fetched = client_of().fetch([key(1)], deadline_s=0.0)
    assert (fetched.requests, endpoint.queries) == (0, [])
    assert fetched.failures == ("not back within the deadline of 0 s",)
    assert fetched.unsent == {key(1)}


def test_deadlines_that_pass_in_silence_open_the_circuit(endpoint, client_of, moved_time):
    endpoint.script.extend([endpoint.hang] * 9)
    client = client_of(circuit_failures=2)
    for state in ("unreachable", "open"):
        silent = client.fetch([key(1)], deadline_s=0.1)
        assert (silent.requests, silent.state) == (1, state)
    assert client.fetch([key(1)], deadline_s=0.1).requests == 0
    moved_time.now_ms += 10_000
    probe = client.fetch([key(1)], deadline_s=0.1)
    assert (probe.requests, probe.state) == (1, "open")
    assert client.fetch([key(1)], deadline_s=0.1).requests == 0


def test_waiting_for_a_turn_ends_with_the_deadline(endpoint, followers):
    settings = ClientSettings(endpoint.url, requests_per_second=0.1)
    with ServiceClient(settings, followers) as client:
        fetched = client.fetch([key(1)], deadline_s=0.05)
    assert (fetched.requests, fetched.seconds < 5) == (0, True)
    assert fetched.failures == ("not back within the deadline of 0.05 s",)


def test_the_pace_is_never_exceeded(endpoint, client_of, moved_time):
    answer = endpoint.rows([("1",)], variables=("count",))
    endpoint.script.extend([answer, answer, endpoint.status(503)] * 6)
    client = client_of(units_per_request=1, requests_per_second=4, circuit_failures=99)
    pacer, sent, began = client._endpoint._pacer, [], moved_time.now_ms
    use = pacer.used
    pacer.used = lambda: (sent.append(moved_time.now_ms), use())
    fetched = client.fetch([key(n) for n in range(12)])
    assert fetched.requests == len(sent) == len(endpoint.queries) > 12
    assert sent[0] - began > 1000
    assert all(later - first > 1000 for first, later in zip(sent, sent[4:], strict=False))


def test_a_storm_of_refusals_is_counted_to_the_last_request(endpoint, client_of):
    endpoint.script.extend([endpoint.status(429, Retry_After="1")] * 7)
    endpoint.facts = {user(n): ["1"] for n in range(0, 20, 2)}
    client = client_of(units_per_request=4, circuit_failures=99)
    fetched = client.fetch([key(n) for n in range(20)])
    assert fetched.requests == len(endpoint.queries)
    assert sorted([*fetched.rows, *fetched.failed]) == sorted(key(n) for n in range(20))
