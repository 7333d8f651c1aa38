"""The settings of a client in a job file: the endpoint, its limits, and who asks."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bestbefore.errors import InputError, JobError, excerpt
from bestbefore.job.sections import Section
from bestbefore.service import ClientSettings
from bestbefore.service.auth import basic, bearer
from bestbefore.service.http_lookup import JsonLookup
from bestbefore.service.settings import METHODS

_NUMBERS = (
    "connections",
    "attempts",
    "max_rows",
    "max_response_bytes",
    "circuit_failures",
)
_DURATIONS = ("timeout", "load_timeout", "max_retry_after", "circuit_wait", "circuit_longest_wait")
_LISTS = ("allow_hosts", "allow_addresses")
_HEADERS, _SECRET_HEADERS = "headers", "secret_headers"


def read_client(section: Section, *, endpoint: str, base: Path) -> ClientSettings:
    """The client of a section `[services.NAME]`; `endpoint` is where it asks by default."""
    return _client(
        section,
        base,
        endpoint=section.text("endpoint", endpoint),
        method=section.choice("method", METHODS),
        **_numbers(section, ("units_per_request", "page_rows")),
    )


def read_http_client(
    section: Section, base: Path, *, endpoint: str, lookup: JsonLookup, units_per_request: int
) -> ClientSettings:
    """The client of a lookup by HTTP."""
    return _client(
        section, base, endpoint=endpoint, lookup=lookup, units_per_request=units_per_request
    )


def read_asking(section: Section, *, sql: bool = False) -> dict[str, Any]:
    """How hard a service may be asked, of which SQL knows some and has `units_per_request`."""
    given = _numbers(section, (*_NUMBERS, "units_per_request") if sql else _NUMBERS)
    for key in _DURATIONS:
        if sql and key == "max_retry_after":
            continue
        if (duration := section.duration_ms(key, None)) is not None:
            given[f"{key}_s"] = duration / 1000
    return given


def _client(section: Section, base: Path, **given: Any) -> ClientSettings:  # noqa: ANN401
    given |= {
        "authorization": _authorization(section, base),
        "headers": _headers(section),
        "secret_headers": _secrets(section, _SECRET_HEADERS, base),
        "secret_query": _secrets(section, "secret_query", base),
        **read_asking(section),
    }
    given |= {key: names for key in _LISTS if (names := section.texts(key)) is not None}
    if agent := section.text("user_agent"):
        given["user_agent"] = agent
    try:
        return ClientSettings(**given)
    except InputError as error:
        raise JobError(f"[{section.name}]: {error}") from None


def _numbers(section: Section, keys: tuple[str, ...]) -> dict[str, Any]:
    numbers = {key: section.optional_integer(key) for key in keys}
    return {key: number for key, number in numbers.items() if number is not None}


def _authorization(section: Section, base: Path) -> str | None:
    """The Authorization header: a token, or a user with a password."""
    token = section.secret_of("token_env", "token_file", base)
    user = section.text("user")
    password = section.secret_of("password_env", "password_file", base)
    if (user is None) != (password is None):
        raise JobError(
            f"[{section.name}] needs user and a password (password_env or password_file) together"
        )
    if user is None or password is None:
        return None if token is None else bearer(token)
    if token is not None:
        raise JobError(f"[{section.name}] has a token and a user; keep one of them")
    try:
        return basic(user, password)
    except InputError as error:
        raise JobError(f"{section.name}.user: {error}") from None


def _headers(section: Section) -> tuple[tuple[str, str], ...]:
    headers = section.table_of(_HEADERS) or {}
    for name, value in headers.items():
        if not isinstance(value, str):
            raise JobError(
                f"{section.name}.{_HEADERS}.{name} = {excerpt(value)}: it must be a string"
            )
    return tuple(headers.items())


def _secrets(section: Section, key: str, base: Path) -> tuple[tuple[str, str], ...]:
    """A table of secrets, each from the environment or from a file."""
    tables: Mapping[str, Any] = section.table_of(key) or {}
    secrets = []
    for name, table in tables.items():
        where = f"{section.name}.{key}.{name}"
        if not isinstance(table, dict):
            # What stands there may be the secret itself.
            raise JobError(f'{where}: write {{ env = "VARIABLE" }} or {{ file = "path" }}')
        entry = Section(where, table)
        value = entry.secret_of("env", "file", base)
        entry.finish()
        if value is None:
            raise JobError(f'{where} is empty: write {{ env = "VARIABLE" }} or {{ file = "path" }}')
        secrets.append((name, value))
    return tuple(secrets)
