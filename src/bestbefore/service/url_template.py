"""URL templates: where a value may stand in a URL, and how it never changes what is around it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

from bestbefore.errors import InputError

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
# What a template may hold beside letters, digits, `-`, `.`, `_` and `~`.
_KEPT = "/?:@!$&'()*+,;=%[]"
_NO_SEGMENTS = ("", ".", "..")
_EXAMPLE = "'https://example.org/weather?city={city}'"


@dataclass(frozen=True, slots=True)
class UrlTemplate:
    """A URL with names in braces, in segments of its path or in values of its query.

    A value is percent-encoded, all of it but letters, digits, `-`, `.`, `_` and `~`, so it ends
    neither segment nor value; one that would leave a segment of the path empty, or make it `.` or
    `..`, is refused.
    """

    text: str

    @property
    def names(self) -> tuple[str, ...]:
        """The names in the braces, each once."""
        return tuple(dict.fromkeys(_PLACEHOLDER.findall(self.text)))

    def fill(self, values: Mapping[str, str]) -> str:
        """The URL with values, percent-encoded by `encoded`, in the place of their names."""
        for segment in self.text.partition("?")[0].split("/"):
            filled = _filled(segment, values)
            if filled != segment and filled in _NO_SEGMENTS:
                raise InputError(f"it would make {filled!r} of a segment of the URL's path")
        return _filled(self.text, values)


def encoded(value: str) -> str:
    """A value percent-encoded, so that it can stand anywhere in a URL."""
    return quote(value, safe="")


def parse_url_template(text: str) -> UrlTemplate:
    """The template of a text; names outside of path segments and query values are refused."""
    pieces = _PLACEHOLDER.split(text)
    fixed = "".join(pieces[::2])
    if "{" in fixed or "}" in fixed or not all(pieces[1::2]):
        raise InputError(f"a brace is left over; write names in braces, such as {_EXAMPLE}")
    if "#" in fixed:
        raise InputError("a URL that is asked has no fragment; leave out '#' and what follows")
    for number, name in enumerate(pieces[1::2]):
        _check_place("x".join(pieces[: 2 * number + 1 : 2]), name)
    if any(segment in (".", "..") for segment in fixed.partition("?")[0].split("/")):
        raise InputError("its path has a segment '.' or '..'; write the path that is meant")
    kept = (quote(one, safe=_KEPT) for one in pieces[::2])
    names = (*(f"{{{name}}}" for name in pieces[1::2]), "")
    return UrlTemplate("".join(part for both in zip(kept, names, strict=True) for part in both))


def _filled(text: str, values: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda hit: values[hit[1]], text)


def _check_place(before: str, name: str) -> None:
    """Refuse a name after such a beginning of a URL, if its value would change what is asked."""
    _, mark, rest = before.partition("://")
    query = rest.partition("?")[2].rpartition("&")[2] if "?" in rest else "="
    if not mark:
        place = "the scheme"
    elif "/" not in rest and "?" not in rest:
        place = "the host"
    elif "=" not in query:
        place = "the name of a parameter"
    else:
        return
    raise InputError(
        f"{{{name}}} stands in {place}, which no value may change; put it into a segment of the "
        f"path or a value of the query, such as {_EXAMPLE}"
    )
