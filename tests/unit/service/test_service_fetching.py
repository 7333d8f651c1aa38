"""What a reply says of the units that were asked for."""

import pytest

from .conftest import key, row, user


def test_units_without_rows_are_asked_for_once_more(endpoint, client_of):
    endpoint.script.append(endpoint.rows([(user(1), "a")]))
    endpoint.script.append(endpoint.rows([(user(3), "c")]))
    fetched = client_of().fetch([key(1), key(2), key(3)])
    assert fetched.rows == {key(1): (row(1, "a"),), key(2): (), key(3): (row(3, "c"),)}
    assert fetched.requests == 2
    assert user(1) not in endpoint.queries[1]
    assert user(2) in endpoint.queries[1]


def test_units_that_nobody_could_confirm_are_not_gone(endpoint, client_of):
    endpoint.script.append(endpoint.rows([(user(1), "a")]))
    endpoint.script.append(endpoint.status(404))
    fetched = client_of().fetch([key(1), key(2)])
    assert fetched.rows == {key(1): (row(1, "a"),)}
    assert fetched.failed == {
        key(2): "no rows came, and asking once more failed: HTTP 404 Not Found"
    }


def test_who_may_send_one_request_at_a_time_confirms_with_the_next(endpoint, client_of):
    endpoint.facts = {user(1): ["a"]}
    client, keys = client_of(), [key(1), key(2), key(3)]
    first = client.fetch(keys, requests_allowed=1)
    assert (set(first.rows), first.unsent) == ({key(1)}, {key(2), key(3)})
    endpoint.script.append(endpoint.status(404))
    assert not client.fetch(keys, requests_allowed=1).rows
    endpoint.facts[user(3)] = ["c"]
    second = client.fetch(keys, requests_allowed=1)
    assert second.rows == {key(1): (row(1, "a"),), key(2): (), key(3): (row(3, "c"),)}
    # It is settled now: the next time is a first time again.
    assert client.fetch(keys, requests_allowed=1).unsent == {key(2)}


@pytest.mark.parametrize("units_per_request", [1, 50])
def test_a_unit_asked_for_alone_is_gone_at_once(client_of, units_per_request):
    fetched = client_of(units_per_request=units_per_request).fetch([key(1)])
    assert (dict(fetched.rows), fetched.requests) == ({key(1): ()}, 1)


def test_rows_that_nobody_asked_for_are_dropped_and_counted(endpoint, client_of):
    endpoint.script.append(endpoint.rows([(user(1), "a"), (user(9), "z"), (None, "z")]))
    fetched = client_of().fetch([key(1)])
    assert (dict(fetched.rows), fetched.unasked) == ({key(1): (row(1, "a"),)}, 2)


@pytest.mark.parametrize("keys", [[key(1)], [key(1), key(2)]])
def test_a_reply_of_other_units_only_is_no_reply(endpoint, client_of, keys):
    endpoint.script.append(endpoint.rows([(user(9), "z"), (user(8), "z")]))
    fetched = client_of().fetch(keys)
    assert (dict(fetched.rows), fetched.unasked, fetched.requests) == ({}, 2, 1)
    reason = f"the reply has 2 rows, but none of the {len(keys)} units asked for"
    assert fetched.failed == dict.fromkeys(keys, reason)


def test_other_units_rows_confirm_nothing(endpoint, client_of):
    endpoint.script.append(endpoint.rows([(user(1), "a")]))
    endpoint.script.append(endpoint.rows([(user(9), "z")]))
    fetched = client_of().fetch([key(1), key(2)])
    assert (set(fetched.rows), set(fetched.failed)) == ({key(1)}, {key(2)})
    assert "asking once more failed: the reply has 1 rows" in fetched.failed[key(2)]


def test_rows_that_hold_no_terms_are_dropped_and_counted(endpoint, client_of):
    bad = "http://e/not an IRI"
    endpoint.script.append(endpoint.rows([(user(1), "a"), (user(1), bad), (user(2), bad)]))
    fetched = client_of().fetch([key(1), key(2)])
    assert (dict(fetched.rows), fetched.invalid) == ({key(1): (row(1, "a"),)}, 2)
    assert fetched.failed == {
        key(2): "all rows that came for it hold something that is no RDF term"
    }
    assert fetched.state == "degraded"


def test_units_whose_names_came_garbled_are_not_gone(endpoint, client_of):
    endpoint.script.extend([endpoint.rows([(user("not one"), "a")])] * 2)
    assert set(client_of().fetch([key(1)]).failed) == {key(1)}
    endpoint.script.clear()
    endpoint.script.append(endpoint.rows([("http://e/ /",)], variables=("count",)))
    single = client_of(units_per_request=1).fetch([key(1)])
    assert (set(single.failed), single.invalid) == ({key(1)}, 1)


def test_invalid_rows_are_left_out_of_a_load_and_fill_its_pages(endpoint, client_of):
    endpoint.script.append(endpoint.rows([(user(1), "a"), (user(" "), "b")]))
    endpoint.script.append(endpoint.rows([(user(2), "a")]))
    loaded = client_of(page_rows=2).load()
    assert (loaded.rows, loaded.invalid) == ((row(1, "a"), row(2, "a")), 1)
    assert "OFFSET 2" in endpoint.queries[1]


def test_a_service_that_replied_in_any_way_was_reached(endpoint, client_of):
    endpoint.script.extend([endpoint.status(500), endpoint.status(404)])
    client = client_of(units_per_request=1, connections=1, attempts=1)
    fetched = client.fetch([key(1), key(2)])
    assert (fetched.state, fetched.requests) == ("failed", 2)


@pytest.mark.parametrize(("status", "sent"), [(404, 3), (400, 5)])
def test_a_service_that_fails_is_left_alone_and_one_that_refuses_keys_is_not(
    endpoint, client_of, status, sent
):
    client = client_of(units_per_request=1, connections=1)
    client.fetch([key(0)])
    endpoint.script.extend([endpoint.status(status)] * 5)
    fetched = client.fetch([key(n) for n in range(1, 6)])
    assert (len(fetched.failed), fetched.requests) == (5, sent)
    left_alone = fetched.failed[key(5)] == "3 queries in a row failed, so no more were sent"
    assert left_alone == (sent == 3)
