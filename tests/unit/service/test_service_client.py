"""What the client sends, what it brings back, and what it never exceeds."""

import threading
from types import SimpleNamespace
from urllib.parse import quote

import pytest
from aiohttp import web
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bestbefore import service
from bestbefore.errors import ServiceError
from bestbefore.service import Fetched, Service, ServiceClient
from bestbefore.service.auth import basic, bearer
from bestbefore.service.kinds import fetch_within

from .conftest import asked, key, row, user


def test_the_public_names():
    assert sorted(service.__all__) == [
        "ClientSettings",
        "Fetched",
        "Key",
        "Loaded",
        "RequestTimes",
        "Row",
        "Service",
        "ServiceClient",
        "ServicePattern",
        "ServiceState",
        "load_query",
        "refresh_query",
        "refusal",
        "single_query",
    ]


def test_the_client_is_a_service(client_of):
    plugged: Service = client_of()
    assert plugged.fetch([]) == Fetched({}, {}, 0, pytest.approx(0, abs=1), 0)


def test_load_brings_every_row(endpoint, client_of):
    endpoint.facts = {user(1): ["5", "5"], user(2): ["7"]}
    loaded = client_of().load()
    assert loaded.rows == (row(1, 5), row(1, 5), row(2, 7))
    assert loaded.requests == 1
    assert loaded.seconds > 0


def test_load_turns_pages_until_one_is_short(endpoint, client_of):
    pages = [[(user(1), "a"), (user(1), "b")], [(user(2), "a"), (user(3), "a")], []]
    endpoint.script.extend(endpoint.rows(page) for page in pages)
    loaded = client_of(page_rows=2, max_rows=2).load()
    assert loaded.rows == (row(1, "a"), row(1, "b"), row(2, "a"), row(3, "a"))
    ends = [" ".join(query.partition("}\n")[2].split()) for query in endpoint.queries]
    page = "ORDER BY ?user ?count LIMIT 2"
    assert ends == [page, f"{page} OFFSET 2", f"{page} OFFSET 4"]


def test_a_load_of_many_pages_tells_how_far_it_is(endpoint, client_of, caplog):
    pages = [[(user(1), "a"), (user(1), "b")], [(user(2), "a"), (user(3), "a")], []]
    endpoint.script.extend(endpoint.rows(page) for page in pages)
    with caplog.at_level("INFO", "bestbefore.service"):
        client_of(page_rows=2, max_rows=2).load()
    assert [line.split(" so far")[0] for line in caplog.messages] == ["4 rows loaded"] * 2


def test_load_keeps_rows_that_repeat_over_pages(endpoint, client_of):
    same = [(user(1), "a")] * 2
    endpoint.script.extend(endpoint.rows(page) for page in (same, same, []))
    assert client_of(page_rows=2).load().rows == (row(1, "a"),) * 4


def test_load_notices_that_pages_are_never_turned(endpoint, client_of):
    page = [(user(1), "a"), (user(2), "a")]
    endpoint.script.extend(endpoint.rows(page) for _ in range(5))
    with pytest.raises(ServiceError, match="ignores OFFSET"):
        client_of(page_rows=2).load()
    assert len(endpoint.queries) == 2


def test_load_that_is_truncated_names_the_way_out(endpoint, client_of):
    endpoint.facts = {user(n): ["1"] for n in range(3)}
    with pytest.raises(ServiceError, match=r"truncated; ask for less at once \(page_rows"):
        client_of(max_rows=3).load()


def test_load_fails_in_one_line_without_secrets(endpoint, client_of):
    endpoint.script.append(
        endpoint.status(403, body="no entry for\nhunter2 with Basic bWU6aHVudGVyMg==")
    )
    address = endpoint.url.replace("http://", "http://me:hunter2@") + "?key=s3cr3t"
    with pytest.raises(ServiceError) as caught:
        client_of(endpoint=address).load()
    assert str(caught.value) == (
        f"loading from http://***@127.0.0.1:{endpoint.port}/sparql?… failed:"
        " HTTP 403 Forbidden: no entry for *** with ***"
    )
    assert endpoint.requests[0].headers["Authorization"] == "Basic bWU6aHVudGVyMg=="
    assert endpoint.requests[0].query_string == "key=s3cr3t"


def test_the_request_introduces_itself(endpoint, client_of):
    client_of(headers=(("X-Team", "blue"),), authorization="Bearer abc").load()
    headers = endpoint.requests[0].headers
    assert headers["Accept"].startswith("application/sparql-results+json, ")
    assert headers["Accept-Encoding"] == "gzip, deflate"
    assert headers["User-Agent"].startswith("bestbefore/")
    assert headers["Content-Type"] == "application/x-www-form-urlencoded"
    assert (headers["X-Team"], headers["Authorization"]) == ("blue", "Bearer abc")


def test_the_authorization_is_in_no_failure(endpoint, client_of):
    endpoint.script.append(endpoint.status(401, body="bad token: Bearer abc.def.ghi"))
    fetched = client_of(authorization="Bearer abc.def.ghi").fetch([key(1)])
    assert fetched.failures == ("HTTP 401 Unauthorized: bad token: ***",)


@pytest.mark.parametrize("kind", ["authorization", "secret_headers", "headers", "password"])
@pytest.mark.parametrize("status", [401, 200])
def test_no_secret_is_in_any_failure(endpoint, client_of, kind, status):
    token = "hunter2/+ä hunter3".replace("ä", "a")
    given = {
        "authorization": {"authorization": bearer(token)},
        "secret_headers": {"secret_headers": (("X-Api-Key", token),)},
        "headers": {"headers": (("X-Api-Key", token),)},
        "password": {"authorization": basic("me", token)},
    }[kind]

    async def echo(request):
        sent = [request.headers.get(name, "") for name in ("Authorization", "X-Api-Key")]
        said = "; ".join([*sent, token, quote(token, safe="")])
        # The excerpt that is shown must not end within a secret either.
        body = f"{'x' * 190} {said}" if status == 401 else said
        return web.Response(status=status, text=body, content_type="text/html")

    endpoint.script.append(echo)
    fetched = client_of(**given).fetch([key(1)])
    assert fetched.failures
    assert "hunter" not in repr(fetched)
    endpoint.script.append(endpoint.rows([("x", token)], variables=("x", token)))
    assert "hunter" not in repr(client_of(**given).fetch([key(1)]))


def test_connections_are_kept_between_calls(endpoint, client_of):
    client = client_of()
    for _ in range(5):
        client.fetch([key(1)])
    client.load()
    assert len(endpoint.queries) == 6
    assert len(endpoint.connections) == 1


def test_hostile_values_arrive_as_values(endpoint, client_of, followers):
    hostile = 'a"b\n\r\t\\ } DELETE WHERE { ?s ?p ?o } # ?user é 😀'
    endpoint.script.append(endpoint.rows([(hostile, hostile)]))
    client = client_of()
    encoded = (f'"{hostile}"',)
    assert client.fetch([encoded]).rows == {encoded: ((f'"{hostile}"', f'"{hostile}"'),)}
    assert endpoint.queries == [service.refresh_query(followers, [encoded])]


@pytest.mark.parametrize("units_per_request", [1, 50])
def test_a_key_that_cannot_be_named_is_never_sent(endpoint, client_of, units_per_request):
    endpoint.facts = {user(1): ["5"]}
    bad = ("<http://e/> } ; DELETE WHERE { ?s ?p ?o>",)
    fetched = client_of(units_per_request=units_per_request).fetch([bad, ("_:b0",), key(1)])
    assert fetched.rows == {key(1): (row(1, 5),)}
    assert set(fetched.failed) == {bad, ("_:b0",)}
    assert all("never sent" in why for why in fetched.failed.values())
    assert len(endpoint.queries) == 1
    assert "DELETE" not in endpoint.queries[0]


def test_only_unnameable_keys_send_nothing(endpoint, client_of):
    assert client_of().fetch([("_:b0",)]).requests == 0
    assert endpoint.queries == []


@pytest.mark.parametrize(("units_per_request", "requests"), [(1, 5), (2, 3), (50, 1)])
def test_units_come_with_all_their_rows(endpoint, client_of, units_per_request, requests):
    endpoint.facts = {user(n): [str(n), "x", "x"] for n in range(5)}
    keys = [key(n) for n in range(5)]
    fetched = client_of(units_per_request=units_per_request).fetch([*keys, *keys])
    assert fetched.rows == {key(n): (row(n, n), row(n, "x"), row(n, "x")) for n in range(5)}
    assert (fetched.failed, fetched.requests, fetched.unasked) == ({}, requests, 0)


@pytest.mark.parametrize("method", ["post", "get", "post-direct"])
def test_a_query_can_be_sent_in_three_ways(endpoint, client_of, method, followers):
    endpoint.facts = {user(1): ["5"]}
    client = client_of(endpoint=endpoint.url + "?graph=a%26b", method=method)
    assert client.fetch([key(1)]).rows == {key(1): (row(1, 5),)}
    assert endpoint.queries == [service.refresh_query(followers, [key(1)])]
    (sent,) = endpoint.requests
    assert (sent.method, sent.query["graph"]) == ("GET" if method == "get" else "POST", "a&b")
    if method == "post-direct":
        assert sent.content_type == "application/sparql-query"


def test_the_times_of_requests_are_kept(endpoint, client_of):
    client = client_of(units_per_request=1)
    assert client.request_times.requests == 0
    fetched = client.fetch([key(n) for n in range(5)])
    assert (len(fetched.request_seconds), client.request_times.requests) == (5, 5)
    times = client.request_times
    assert 0 < min(fetched.request_seconds) <= times.median_s <= times.p95_s
    assert times.p95_s == max(fetched.request_seconds)


def test_a_pattern_without_key_is_fetched_as_one_unit(endpoint, client_of):
    endpoint.facts = {user(1): ["5"], user(2): ["7"]}
    whole = asked("?user <http://e/followers> ?count .", key=())
    assert client_of(pattern=whole).fetch([()]).rows == {(): (row(1, 5), row(2, 7))}


def test_a_key_that_the_service_cannot_read_fails_alone(endpoint, client_of):
    endpoint.facts = {user(n): [str(n)] for n in range(8)}
    bad = (f"<{user('%zz')}>",)
    client = client_of()
    client.fetch([key(0)])
    answer = endpoint._answer

    def refuse_bad(query):
        return endpoint.status(400, body="bad IRI") if "%zz" in query else answer(query)

    endpoint._answer = refuse_bad
    try:
        fetched = client.fetch([*(key(n) for n in range(8)), bad])
    finally:
        del endpoint._answer
    assert fetched.failed == {bad: "HTTP 400 Bad Request: bad IRI"}
    assert len(fetched.rows) == 8


def test_a_query_that_never_worked_is_not_asked_in_parts(endpoint, client_of):
    endpoint.script.append(endpoint.status(400, body="VALUES?"))
    fetched = client_of().fetch([key(n) for n in range(8)])
    assert (fetched.requests, fetched.failures) == (1, ("HTTP 400 Bad Request: VALUES?",))


def test_connections_are_never_exceeded(endpoint, client_of):
    endpoint.hold_s = 0.01
    client = client_of(units_per_request=1, connections=3)
    assert client.fetch([key(n) for n in range(12)]).requests == 12
    assert endpoint.peak == 3


def test_two_threads_share_the_client(endpoint, client_of):
    endpoint.hold_s = 0.005
    endpoint.facts = {user(n): [str(n)] for n in range(40)}
    client = client_of(units_per_request=2, connections=3)
    got = {}

    def fetch(first):
        got[first] = client.fetch([key(n) for n in range(first, first + 20)])

    threads = [threading.Thread(target=fetch, args=(first,)) for first in (0, 20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for first, fetched in got.items():
        assert fetched.rows == {key(n): (row(n, n),) for n in range(first, first + 20)}
        assert fetched.requests == 10
    assert endpoint.peak == 3


@pytest.mark.parametrize("allowed", [-1, 0])
def test_no_request_allowed_means_none_sent(endpoint, client_of, allowed):
    fetched = client_of().fetch([key(1)], requests_allowed=allowed)
    assert (fetched.requests, endpoint.queries) == (0, [])
    assert fetched.failures == (f"no request was left of the {allowed} allowed",)
    assert fetched.unsent == {key(1)}


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    script=st.lists(st.sampled_from(["200", "empty", "503", "429", "400", "cut"]), max_size=12),
    units=st.integers(1, 7),
    units_per_request=st.integers(1, 3),
    allowed=st.integers(0, 8),
)
def test_requests_allowed_is_never_exceeded(
    endpoint, client_of, script, units, units_per_request, allowed
):
    endpoint.reset()
    endpoint.facts = {user(n): ["1"] for n in range(0, units, 2)}
    behaviours = {
        "200": None,
        "empty": endpoint.rows([]),
        "503": endpoint.status(503),
        "429": endpoint.status(429, Retry_After="1"),
        "400": endpoint.status(400),
        "cut": endpoint.break_off,
    }
    endpoint.script.extend(b for b in map(behaviours.get, script) if b is not None)
    keys = [key(n) for n in range(units)]
    with client_of(units_per_request=units_per_request) as client:
        fetched = client.fetch(keys, requests_allowed=allowed)
    assert fetched.requests == len(endpoint.queries) <= allowed
    assert sorted([*fetched.rows, *fetched.failed]) == keys
    assert fetched.unsent <= set(fetched.failed)
    assert not fetched.unsent or fetched.requests == allowed


def test_those_who_wait_for_their_turn_together_share_what_is_allowed(endpoint, client_of):
    client = client_of(units_per_request=1, connections=4, requests_per_second=1)
    fetched = client.fetch([key(n) for n in range(4)], requests_allowed=3)
    assert (fetched.requests, len(endpoint.queries), len(fetched.unsent)) == (3, 3, 1)


def test_a_unit_without_a_request_is_unsent_and_one_in_trouble_is_not(endpoint, client_of):
    endpoint.script.extend([endpoint.status(404)])
    keys = [key(1), key(2)]
    fetched = client_of(units_per_request=1, connections=1).fetch(keys, requests_allowed=1)
    assert (set(fetched.failed), fetched.unsent) == (set(keys), {key(2)})


def test_loading_sends_no_more_requests_than_allowed(endpoint, client_of):
    pages = [[(user(1), "a"), (user(1), "b")], [(user(2), "a"), (user(3), "a")], []]
    endpoint.script.extend(endpoint.rows(page) for page in pages)
    with pytest.raises(ServiceError, match="no request was left of the 2 allowed"):
        client_of(page_rows=2).load(requests_allowed=2)
    assert len(endpoint.queries) == 2


def test_a_deadline_reaches_the_services_that_take_one(endpoint, client_of):
    endpoint.script.append(endpoint.hang)
    fetched = fetch_within(client_of(), [key(1)], deadline_s=0.02, requests_allowed=3)
    assert fetched.failures == ("not back within the deadline of 0.02 s",)
    assert fetch_within(client_of(), [key(1)], requests_allowed=0).requests == 0


@pytest.mark.parametrize(
    ("fetch", "told"),
    [
        (lambda keys, *, requests_allowed, deadline_s: (requests_allowed, deadline_s), (3, 0.5)),
        (lambda keys, **more: (more["requests_allowed"], more["deadline_s"]), (3, 0.5)),
        (lambda keys, *, requests_allowed: (requests_allowed, None), (3, None)),
    ],
)
def test_a_service_is_told_of_the_deadline_if_its_fetch_can_be(fetch, told):
    service = SimpleNamespace(fetch=fetch)
    assert fetch_within(service, [key(1)], deadline_s=0.5, requests_allowed=3) == told


def test_a_client_that_nobody_closed_does_not_keep_the_process_alive(client_of):
    client_of(endpoint="http://127.0.0.1:9/left-open").fetch([key(1)], deadline_s=1.0)
    (thread,) = (each for each in threading.enumerate() if each.name.endswith("/left-open"))
    assert thread.daemon, "the interpreter waits for it"


def test_a_closed_client_answers_no_more(client_of):
    client = client_of()
    client.fetch([key(1)])
    client.close()
    client.close()
    assert client.fetch([key(1)]).failed == {key(1): "the client is closed"}
    with pytest.raises(ServiceError, match="the client is closed"):
        client.load()


def test_closing_ends_calls_that_wait(endpoint, client_of):
    reached = threading.Event()

    async def hang(request):
        reached.set()
        return await endpoint.hang(request)

    endpoint.script.append(hang)
    client, got = client_of(), []
    waiting = threading.Thread(target=lambda: got.append(client.fetch([key(1)])))
    waiting.start()
    assert reached.wait(10)
    client.close()
    waiting.join(10)
    assert got[0].failed == {key(1): "the client was closed before the answer came"}


def test_a_client_that_was_never_used_starts_no_thread(client_of):
    before = threading.active_count()
    client: ServiceClient = client_of()
    assert threading.active_count() == before
    client.close()
