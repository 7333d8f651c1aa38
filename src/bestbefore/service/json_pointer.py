"""JSON pointers (RFC 6901): where in a JSON document a value is."""

import re
from dataclasses import dataclass

from bestbefore.errors import InputError

_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")
_POINTER = re.compile(r"(?:/(?:[^~/]|~[01])*)*")


class Missing:
    """What is not there, unlike a null."""


MISSING = Missing()


@dataclass(frozen=True, slots=True)
class Pointer:
    """A JSON pointer such as `/main/temp`; the empty one is the whole document."""

    text: str

    def __post_init__(self) -> None:
        if not _POINTER.fullmatch(self.text):
            raise InputError(
                f"{self.text!r} is no JSON pointer; write the names on the way each after a slash, "
                "such as '/main/temp' (~1 is a slash in a name, ~0 a tilde)"
            )

    def __str__(self) -> str:
        return repr(self.text)

    def resolve(self, document: object) -> object:
        """The value that the pointer leads to, `MISSING` if it leads nowhere."""
        value = document
        for token in self.text.split("/")[1:]:
            name = token.replace("~1", "/").replace("~0", "~")
            if isinstance(value, dict) and name in value:
                value = value[name]
            elif isinstance(value, list) and _INDEX.fullmatch(name) and int(name) < len(value):
                value = value[int(name)]
            else:
                return MISSING
        return value
