"""What the status of a reply means, and where a redirect may lead."""

from http import HTTPStatus

import pytest

from bestbefore.service.no_answer import NoAnswerError, excerpt
from bestbefore.service.redirects import STATUSES, next_url
from bestbefore.service.reply import Reply, failure


@pytest.mark.parametrize(
    ("status", "passing", "refused"),
    [(s, True, False) for s in (408, 429, 500, 502, 503, 504)]
    + [(s, False, False) for s in (201, 204, 304, 401, 403, 404, 501)]
    + [(s, False, True) for s in (400, 413, 414)],
)
def test_what_a_status_means(status, passing, refused):
    trouble = failure(Reply(status, {}))
    assert str(trouble).startswith(f"HTTP {status} ")
    assert (trouble.passing, trouble.refused) == (passing, refused)


def test_which_statuses_say_that_the_service_is_in_trouble():
    found = [status for status in range(300, 600) if Reply(status, {}).overloaded]
    assert found == [408, 429, *range(500, 600)]


def test_the_error_text_of_the_service_is_shown_on_one_tame_line():
    body = b"Parse error:\n\n  line 1\x1b[31m " + b"x" * 5000
    message = str(failure(Reply(400, {}, body)))
    assert message.startswith("HTTP 400 Bad Request: Parse error: line 1 [31m xxx")
    assert len(message) < 300


@pytest.mark.parametrize("length", [199, 200, 201, 5_000])
def test_a_long_text_of_the_service_is_cut_where_it_shows(length):
    said = excerpt(b"x" * length)
    assert said == ("x" * length if length <= 200 else "x" * 199 + "…")


def test_which_statuses_lead_elsewhere():
    moved = (HTTPStatus.MOVED_PERMANENTLY, HTTPStatus.PERMANENT_REDIRECT)
    for_now = (HTTPStatus.FOUND, HTTPStatus.SEE_OTHER, HTTPStatus.TEMPORARY_REDIRECT)
    assert {*moved, *for_now} == STATUSES


@pytest.mark.parametrize(
    ("here", "location", "target"),
    [
        ("http://h/sparql", "/other?x=1#y", "http://h/other?x=1"),
        ("http://h/a/sparql", "b", "http://h/a/b"),
        ("http://h:8080/s", "http://H:8080/t", "http://H:8080/t"),
        ("https://h/s", "https://h:443/t", "https://h:443/t"),
        ("http://h/s", "https://h/s", "https://h/s"),
        ("http://h/s", "//h/t", "http://h/t"),
        ("http://h/s", "http:///t", "http://h/t"),
    ],
)
def test_a_redirect_on_the_same_server_is_followed(here, location, target):
    assert next_url(Reply(307, {"location": location}), here) == target


@pytest.mark.parametrize(
    ("here", "location", "named"),
    [
        ("http://h/s", "http://evil.org/s", "'evil.org'"),
        ("http://h/s", "//evil.org/s", "'evil.org'"),
        ("http://h/s", "http://h.evil.org/s", "'h.evil.org'"),
        ("http://h/s", "http://h@evil.org/s", "an address with a user"),
        ("http://h/s", "file:///etc/passwd", "a 'file' address"),
        ("http://h/s", "file://h/etc/passwd", "a 'file' address"),
        ("http://h/s", "ftp://h/s", "a 'ftp' address"),
        ("http://h/s", "http://h:9/s", "port 9 of the same host"),
        ("http://h:8080/s", "https://h/s", "https on the same host"),
        ("https://h/s", "http://h/s", "http on the same host"),
        ("http://h/s", "http://[", "no address that can be read"),
        ("http://h/s", "http://h:x/", "no address that can be read"),
        ("http://h/s", "", "no address"),
        ("http://h/s", "http://\x1bevil/", "evil"),
    ],
)
def test_a_redirect_to_elsewhere_is_refused_and_named(here, location, named):
    with pytest.raises(NoAnswerError, match="which is not followed") as caught:
        next_url(Reply(302, {"location": location}), here)
    assert named in str(caught.value)
    assert str(caught.value).isprintable()
