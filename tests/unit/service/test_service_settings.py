"""What a client may ask, and what is never shown."""

from base64 import b64encode

import pytest

from bestbefore.errors import InputError
from bestbefore.service import ClientSettings
from bestbefore.service.auth import basic

URL = "http://127.0.0.1:7878/query"


def test_the_defaults_suit_a_public_endpoint():
    settings = ClientSettings(URL)
    assert (settings.units_per_request, settings.connections, settings.attempts) == (50, 4, 3)
    assert settings.user_agent.startswith("bestbefore/")
    assert settings.user_agent.endswith("(+SPARQL refresh client)")


@pytest.mark.parametrize(
    ("wrong", "part"),
    [
        ({"endpoint": "ftp://host/x"}, "neither http nor https"),
        ({"endpoint": "host/sparql"}, "not the URL"),
        ({"endpoint": "http://"}, "not the URL"),
        ({"endpoint": "http://host:99999/"}, "not the URL"),
        ({"endpoint": "http://host/a b"}, "not the URL"),
        ({"endpoint": "http://host:0/"}, "not the URL"),
        ({"endpoint": "http://host:x/"}, "not the URL"),
        ({"units_per_request": 0}, "at least 1"),
        ({"connections": 0}, "at least 1"),
        ({"attempts": 0}, "at least 1"),
        ({"page_rows": 1}, "at least 2"),
        ({"timeout_s": 0}, "no time"),
        ({"load_timeout_s": float("nan")}, "no time"),
        ({"max_retry_after_s": -1}, "not a waiting time"),
        ({"page_rows": 200, "max_rows": 100}, "make the pages smaller"),
        ({"headers": (("Authorization", "x"),)}, "set `authorization`"),
        ({"headers": (("accept", "x"),)}, "cannot be set"),
        ({"headers": (("X-A", "x\r\nX-B: y"),)}, "does not allow"),
        ({"headers": (("X A", "x"),)}, "does not allow"),
        ({"authorization": "a\nb"}, "does not allow"),
        ({"user_agent": "a\nb"}, "does not allow"),
        ({"secret_headers": (("X-A", "x\ny"),)}, "does not allow"),
        ({"secret_headers": (("Authorization", "x"),)}, "token_env"),
        ({"headers": (("X-A", "x"),), "secret_headers": (("x-a", "y"),)}, "set twice"),
        ({"headers": (("Accept-Encoding", "br"),)}, "cannot be set"),
        ({"method": "put"}, "one of post, get, post-direct"),
        ({"circuit_failures": 0}, "at least 1"),
        ({"circuit_wait_s": 0}, "must be waiting times"),
        ({"circuit_wait_s": 9, "circuit_longest_wait_s": 8}, "the first the shorter one"),
        ({"requests_per_second": 0}, "is no pace"),
        ({"requests_per_second": float("inf")}, "is no pace"),
        ({"endpoint": "http://u:p@host/", "authorization": "x"}, "keep one"),
        ({"endpoint": "http://u%3Au:p@host/"}, "holds a colon"),
    ],
)
def test_wrong_settings_say_why(wrong, part):
    with pytest.raises(InputError, match=part):
        ClientSettings(**{"endpoint": URL, **wrong})


@pytest.mark.parametrize(
    "least",
    [
        {"endpoint": "http://host:1/"},
        {"endpoint": "http://host/"},
        {"units_per_request": 1, "connections": 1, "attempts": 1, "circuit_failures": 1},
        {"page_rows": 2, "max_rows": 2, "max_response_bytes": 1},
        {"timeout_s": 0.001, "load_timeout_s": 0.001, "max_retry_after_s": 0},
        {"circuit_wait_s": 0.5, "circuit_longest_wait_s": 0.5, "requests_per_second": 0.01},
    ],
)
def test_the_least_that_can_be_asked_for_is_taken(least):
    settings = ClientSettings(**{"endpoint": URL, **least})
    assert {name: getattr(settings, name) for name in least} == least


@pytest.mark.parametrize(
    "endpoint",
    [
        "ftp://user:hunter2@host/x",
        "http://user:hunter2@host:99999/x",
        "http://user:hunter2/x@host/",
        "http:user:hunter2@host",
        "user:hunter2@host/sparql",
        "ftp://host/x?key=hunter2",
    ],
)
def test_a_refused_url_does_not_show_its_password(endpoint):
    with pytest.raises(InputError) as caught:
        ClientSettings(endpoint)
    assert "hunter2" not in str(caught.value)


def test_secrets_are_sent_and_not_shown():
    settings = ClientSettings(
        "https://me:hunter%402@host:8443/sparql?key=abcdef#x", headers=(("X-Key", "topsecret"),)
    )
    assert settings.address == "https://***@host:8443/sparql?…"
    assert settings.url == "https://host:8443/sparql?key=abcdef"
    basic = b64encode(b"me:hunter@2").decode()
    assert settings.request_headers["Authorization"] == f"Basic {basic}"
    assert settings.request_headers["X-Key"] == "topsecret"
    for secret in ("hunter", "abcdef", "topsecret", basic):
        assert secret not in repr(settings)
    echo = f"bad login hunter@2 hunter%402 {basic} topsecret key=abcdef"
    assert settings.redact(echo) == "bad login *** *** *** *** ***"


def test_authorization_is_not_in_the_repr():
    settings = ClientSettings(URL, authorization="Bearer abc.def")
    assert "abc.def" not in repr(settings)
    assert settings.redact("token abc.def, header Bearer abc.def") == "token ***, header ***"
    assert settings.request_headers["Authorization"] == "Bearer abc.def"


def test_a_password_is_hidden_in_all_its_forms():
    settings = ClientSettings(URL, authorization=basic("me", "pass/word"))
    coded = b64encode(b"me:pass/word").decode()
    assert settings.request_headers["Authorization"] == f"Basic {coded}"
    echo = f"no {coded} me:pass/word pass/word pass%2Fword"
    assert settings.redact(echo) == "no *** *** *** ***"
    assert ClientSettings(URL, authorization="Basic ???").redact("a ??? b") == "a *** b"


def test_secret_headers_are_hidden_however_short():
    settings = ClientSettings(URL, headers=(("X-A", "on"),), secret_headers=(("X-B", "s3c"),))
    assert settings.request_headers["X-B"] == "s3c"
    assert "s3c" not in repr(settings)
    assert settings.redact("on s3c") == "on ***"


@pytest.mark.parametrize(("value", "shown"), [("switch7", "switch7"), ("secret-8", "***")])
def test_a_header_is_hidden_if_it_is_long_enough_for_a_secret(value, shown):
    assert ClientSettings(URL, headers=(("X-A", value),)).redact(f"no {value}") == f"no {shown}"
