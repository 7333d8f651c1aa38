"""Authorization headers, and the secrets that are in them."""

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Iterator

from bestbefore.errors import InputError


def bearer(token: str) -> str:
    """The Authorization header with a token."""
    return f"Bearer {token}"


def basic(user: str, password: str) -> str:
    """The Authorization header with a user and a password.

    >>> basic("me", "secret")
    'Basic bWU6c2VjcmV0'
    """
    if ":" in user:
        raise InputError(f"the user {user!r} holds a colon, which ends the user in HTTP")
    return "Basic " + b64encode(f"{user}:{password}".encode()).decode()


def secrets_in(authorization: str) -> Iterator[str]:
    """Whatever of an Authorization header must not be shown, as a service may quote it."""
    kind, _, value = authorization.partition(" ")
    yield from (authorization, value)
    if kind.lower() == "basic":
        try:
            login = b64decode(value, validate=True).decode()
        except (Base64Error, ValueError):
            return
        yield from (login, login.partition(":")[2])
