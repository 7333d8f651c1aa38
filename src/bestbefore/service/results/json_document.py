"""A JSON document of any shape, read when it is whole."""

import json
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from bestbefore.rdf.plain_values import WrittenNumber
from bestbefore.service.no_answer import NoAnswerError, excerpt
from bestbefore.service.results.rows import Rows

JSON = "application/json"
_CUT = "the reply was cut or is no JSON"


class JsonDocument:
    """A reader of one JSON document, of which a function makes rows.

    Numbers stay as they are written. What has a meaning only to some readers of JSON (a member
    twice, NaN) is refused.
    """

    def __init__(self, headers: Mapping[str, str], rows_of: Callable[[Any], Rows]) -> None:
        content_type = headers.get("content-type", JSON)
        media_type = content_type.partition(";")[0].strip().lower()
        if media_type not in ("", JSON, "text/json") and not media_type.endswith("+json"):
            raise NoAnswerError(f"the reply is {excerpt(content_type.encode())}, not JSON")
        self._rows_of = rows_of
        self._pieces: list[bytes] = []

    def feed(self, data: bytes) -> None:
        """Take the next piece of the body."""
        self._pieces.append(data)

    def close(self) -> Rows:
        """The rows, once the whole body has been fed."""
        try:
            document = json.loads(
                b"".join(self._pieces).decode("utf-8-sig"),
                parse_int=WrittenNumber,
                parse_float=WrittenNumber,
                parse_constant=_refuse,
                object_pairs_hook=_members,
            )
        except (ValueError, RecursionError):
            raise NoAnswerError(_CUT) from None
        return self._rows_of(document)


def _refuse(constant: str) -> NoReturn:
    raise NoAnswerError(f"the reply holds {constant}, which is no JSON")


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The members of an object; of two by one name nobody knows which is meant."""
    members = dict(pairs)
    if len(members) != len(pairs):
        raise NoAnswerError("an object of the reply has a member twice")
    return members
