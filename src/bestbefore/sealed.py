"""Sealed files: JSON that begins with the checksum of the rest, so that damage is noticed."""

import json
import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from bestbefore.errors import DamagedState, StateError

_SEAL = re.compile(rb'\{"check": "([0-9a-f]{16})", ')


def seal(fields: Mapping[str, Any]) -> bytes:
    """The content of a file with some fields, of which there is at least one."""
    body = json.dumps(fields).encode()
    return b'{"check": "%s", ' % _check(body).encode() + body[1:]


def unseal(content: bytes, where: str, way_out: str = "restore it from a copy") -> dict[str, Any]:
    """The fields of a sealed file, which a message calls `where`; damage is an error."""
    found = _SEAL.match(content)
    if found is None or _check(b"{" + content[found.end() :]) != found[1].decode():
        lost = "is empty" if not content else "is damaged"
        raise DamagedState(f"{where} {lost}: {way_out}")
    fields: dict[str, Any] = json.loads(content)
    del fields["check"]
    return fields


def check_format(content: bytes, form: int, where: str, way_out: str) -> None:
    """Refuse a file that says it has another format, whatever else is right or wrong with it."""
    try:
        found = json.loads(content)["format"]
    except (ValueError, KeyError, TypeError):
        return
    if isinstance(found, int) and found != form:
        older = "finish with an older version"
        raise StateError(
            f"{where} has format {found}, this version reads {form}: "
            f"{'upgrade bestbefore' if found > form else older}, or {way_out}"
        )


def _check(body: bytes) -> str:
    return sha256(body).hexdigest()[:16]
