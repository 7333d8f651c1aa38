"""The client against a real SPARQL 1.1 server."""

import pyoxigraph as ox
import pytest

from bestbefore.service import ClientSettings, ServiceClient

from .conftest import asked
from .test_http_lookup import NASTY

USERS = 400
INTEGER = "http://www.w3.org/2001/XMLSchema#integer"


def user(number):
    return f"<http://e/u/{number}>"


def count(number):
    return f'"{number}"^^<{INTEGER}>'


@pytest.fixture
def users(oxigraph):
    triples = "".join(f"{user(n)} <http://e/followers> {n} .\n" for n in range(USERS))
    oxigraph.update(f"CLEAR ALL; INSERT DATA {{ {triples} }}")
    return oxigraph


def client(server, pattern, **settings):
    return ServiceClient(ClientSettings(server.base + "/query", **settings), pattern)


def test_loading_in_one_piece_and_in_pages(users, followers):
    with client(users, followers) as whole, client(users, followers, page_rows=150) as pages:
        loaded, paged = whole.load(), pages.load()
    assert set(loaded.rows) == {(user(n), count(n)) for n in range(USERS)}
    assert (loaded.requests, paged.requests) == (1, 3)
    assert sorted(loaded.rows) == sorted(paged.rows)


def test_batches_and_single_requests_see_the_same_changes(users, followers):
    users.update(
        f"DELETE DATA {{ {user(1)} <http://e/followers> 1 . {user(2)} <http://e/followers> 2 }} ;"
        f"INSERT DATA {{ {user(1)} <http://e/followers> 1000 . {user(3)} <http://e/followers> 9 }}"
    )
    keys = [(user(n),) for n in range(30)]
    with (
        client(users, followers) as batches,
        client(users, followers, units_per_request=1) as singles,
    ):
        batch, single = batches.fetch(keys), singles.fetch(keys)
    assert (batch.failed, single.failed) == ({}, {})
    assert (batch.requests, single.requests) == (2, 30)
    by_batch = {key: sorted(rows) for key, rows in batch.rows.items()}
    assert by_batch == {key: sorted(rows) for key, rows in single.rows.items()}
    assert by_batch[keys[1]] == [(user(1), count(1000))]
    assert by_batch[keys[2]] == []
    assert by_batch[keys[3]] == sorted([(user(3), count(3)), (user(3), count(9))])


@pytest.mark.parametrize("method", ["post", "get", "post-direct"])
@pytest.mark.parametrize(
    "accepted",
    [
        "application/sparql-results+json",
        "application/sparql-results+xml",
        "text/tab-separated-values",
    ],
)
def test_every_format_and_method_brings_the_same(users, followers, monkeypatch, accepted, method):
    users.update(
        f'INSERT DATA {{ {user(1)} <http://e/followers> "a\\t\\"é"@en, "<&>", 1.5, true }}'
    )
    keys = [(user(n),) for n in range(9)]
    with client(users, followers) as usual:
        expected = usual.fetch(keys)
    monkeypatch.setattr("bestbefore.service.results.ACCEPTED", accepted)
    with client(users, followers, method=method) as other:
        fetched = other.fetch(keys)
    assert expected.state == fetched.state == "ok"
    assert len(fetched.rows[keys[1]]) == 5
    for key in keys:
        assert sorted(fetched.rows[key]) == sorted(expected.rows[key])


@pytest.mark.parametrize(
    "text",
    [
        "?user <http://e/followers> ?count FILTER(?count < 20) OPTIONAL { ?user <http://e/x> ?x }",
        "?user <http://e/followers> ?count MINUS { ?user <http://e/followers> 3 }",
        "SELECT ?user (SUM(?n) AS ?count) WHERE { ?user <http://e/followers> ?n } GROUP BY ?user",
        "{ ?user <http://e/followers> ?count } UNION { ?user <http://e/x> ?count }",
        "OPTIONAL { ?user <http://e/followers> ?count } ?user <http://e/x> ?count",
        "?user <http://e/followers> ?n BIND(?n + 1 AS ?count)",
    ],
)
def test_a_fetch_gives_what_a_load_gives(users, text):
    users.update(f"INSERT DATA {{ {user(4)} <http://e/x> 4 . {user(5)} <http://e/x> 6 }}")
    pattern = asked(text)
    keys = [(user(n),) for n in range(6)]
    with client(users, pattern) as batches, client(users, pattern, units_per_request=1) as singles:
        rows = batches.load().rows
        batch, single = batches.fetch(keys), singles.fetch(keys)
    expected = {key: sorted(row for row in rows if row[:1] == key) for key in keys}
    assert {key: sorted(got) for key, got in batch.rows.items()} == expected
    assert {key: sorted(got) for key, got in single.rows.items()} == expected


def test_keys_of_two_variables_with_hostile_literals(users):
    names = [
        'a"b',
        "two\nlines",
        "} DELETE WHERE { ?s ?p ?o }",
        "back\\slash",
        "?user $name",
        "é😀",
    ]
    pattern = asked("?user <http://e/name> ?name", ("user", "name"), ("user", "name"))
    known = [(user(n), f'"{name}"') for n, name in enumerate(names)]
    lines = "".join(
        f'{who} <http://e/name> "{name}" .'
        for who, name in (
            (user(n), name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n"))
            for n, name in enumerate(names)
        )
    )
    users.update(f"INSERT DATA {{ {lines} }}")
    absent = (user(0), '"nobody"')
    with client(users, pattern) as batches, client(users, pattern, units_per_request=1) as singles:
        batch, single = batches.fetch([*known, absent]), singles.fetch([*known, absent])
        left = batches.load().rows
    expected = {**{key: (key,) for key in known}, absent: ()}
    assert batch.rows == expected
    assert single.rows == expected
    assert sorted(left) == sorted(known)


def test_a_malformed_iri_does_not_take_the_batch_with_it(users, followers):
    bad = ("<http://e/u/%zz>",)
    with client(users, followers) as batches:
        batches.fetch([(user(1),)])
        fetched = batches.fetch([*((user(n),) for n in range(10)), bad])
    assert list(fetched.failed) == [bad]
    assert len(fetched.rows) == 10


def test_a_key_is_never_anything_but_a_term(users):
    pattern = asked("?user <http://e/name> ?name . ?user <http://e/n> ?n", ("name", "n"), ("name",))
    terms = [str(ox.Literal(text)) for text in NASTY]
    triples = (
        f"<http://e/x/{n}> <http://e/name> {term} ; <http://e/n> {term} ."
        for n, term in enumerate(terms)
    )
    users.update(f"CLEAR ALL; INSERT DATA {{ {' '.join(triples)} }}")
    keys = [(f'"{text}"',) for text in NASTY]
    with client(users, pattern) as batches, client(users, pattern, units_per_request=1) as singles:
        for fetched in (batches.fetch(keys), singles.fetch(keys)):
            assert dict(fetched.rows) == {key: ((key[0], key[0]),) for key in keys}
