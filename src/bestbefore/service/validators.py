"""Validators of HTTP: what a service said of a unit's version, to ask whether it is still that."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bestbefore.rdf.terms import Key
from bestbefore.service.message import OpenReader
from bestbefore.service.results import Reader, Rows

# Rows of so many characters are remembered, and so many more for each unit.
_MOST_CHARACTERS, _PER_UNIT, _FEWEST = 64 * 1024 * 1024, 500, 4
# What a service sends goes back to it: nothing but what these headers may hold.
_ETAG = re.compile(r'(?:W/)?"[\x21\x23-\x7e]{0,500}"')
_DATE = re.compile(r"[A-Za-z]{3}, [0-9]{2} [A-Za-z]{3} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT")
_HEADERS = (("etag", "If-None-Match", _ETAG), ("last-modified", "If-Modified-Since", _DATE))


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a unit: the headers that ask whether it is still the one, and its rows."""

    headers: Mapping[str, str]
    rows: Rows

    @property
    def size(self) -> int:
        """About how many characters it takes."""
        return _PER_UNIT + sum(len(cell or "") for row in self.rows.rows for cell in row)


@dataclass(slots=True)
class Validators:
    """The last version of each unit that has one, in memory: without it, nothing is conditional."""

    most: int = _MOST_CHARACTERS
    _versions: dict[Key, Version] = field(default_factory=dict)
    _size: int = 0

    def of(self, key: Key) -> Version | None:
        """The version of a unit that is known; from now on it is the last to be forgotten."""
        version = self._versions.pop(key, None)
        if version is not None:
            self._versions[key] = version
        return version

    def noting(self, key: Key, open_reader: OpenReader) -> OpenReader:
        """A reader that remembers the version of the unit that it has read."""

        def opened(headers: Mapping[str, str]) -> Reader:
            return _Noting(open_reader(headers), lambda rows: self._note(key, headers, rows))

        return opened

    def _note(self, key: Key, headers: Mapping[str, str], rows: Rows) -> None:
        self._forget(key)
        found = {
            asked: headers[name]
            for name, asked, form in _HEADERS
            if form.fullmatch(headers.get(name, ""))
        }
        version = Version(found, rows)
        # What could not be read is read again, since the fault may have been on the way; and no
        # unit takes the room of many.
        if found and not rows.invalid and version.size * _FEWEST <= self.most:
            self._versions[key] = version
            self._size += version.size
        while self._size > self.most:
            self._forget(next(iter(self._versions)))

    def _forget(self, key: Key) -> None:
        if (version := self._versions.pop(key, None)) is not None:
            self._size -= version.size


@dataclass(frozen=True, slots=True)
class _Noting:
    """A reader whose rows somebody wants to hear of."""

    reader: Reader
    note: Callable[[Rows], Any]

    def feed(self, data: bytes) -> None:
        self.reader.feed(data)

    def close(self) -> Rows:
        rows = self.reader.close()
        self.note(rows)
        return rows
