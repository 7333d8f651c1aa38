"""Change intervals that the user provides: in a column, behind a predicate, or in a file."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import nan
from pathlib import Path

from bestbefore.errors import InputError
from bestbefore.rdf.iris import is_absolute_iri
from bestbefore.rdf.terms import IRI, Key, Literal, Row, decode, encode
from bestbefore.time import parse_interval_ms
from bestbefore.traces import read_key_intervals

_FARTHEST_S, _FARTHEST_MS = 10**11, 10**15


@dataclass(frozen=True)
class ChangeIntervals:
    """Where the change interval of a unit is found in the rows that the service returns.

    `column` names the one of `variables` that holds it; `hidden` tells that the column was only
    fetched for this purpose and is no part of the view. A plain number counts in `unit_ms`.
    `modified` names the variable that says when a unit last changed, which is never a part of it.
    """

    variables: tuple[str, ...]
    key: tuple[str, ...]
    column: str | None = None
    hidden: bool = False
    unit_ms: int = 1000
    modified: str | None = None

    @property
    def view_variables(self) -> tuple[str, ...]:
        """The variables that the view keeps."""
        hidden = (self.column if self.hidden else None, self.modified)
        return tuple(name for name in self.variables if name not in hidden)

    def view_rows(self, rows: Iterable[Row]) -> tuple[Row, ...]:
        """The rows without what is hidden.

        A mapping comes once per interval that is stated for it: in the view it is one row.
        """
        kept = [self.variables.index(name) for name in self.view_variables]
        if len(kept) == len(self.variables):
            return tuple(rows)
        return tuple(dict.fromkeys(tuple([row[column] for column in kept]) for row in rows))

    def stated(self, rows: Iterable[Row]) -> dict[Key, int]:
        """The interval of each unit that states one, in milliseconds."""
        if self.column is None:
            return {}
        column = self.variables.index(self.column)
        key = [self.variables.index(name) for name in self.key]
        return {
            tuple(str(row[variable]) for variable in key): interval
            for row in rows
            if (interval := read_interval(row[column], unit_ms=self.unit_ms)) is not None
        }

    def last_changes(self, rows: Iterable[Row]) -> dict[Key, int]:
        """When each unit that says so has last changed: the latest time in its rows."""
        if self.modified is None:
            return {}
        column = self.variables.index(self.modified)
        key = [self.variables.index(name) for name in self.key]
        found: dict[Key, int] = {}
        for row in rows:
            if (moment_ms := read_moment(row[column])) is not None:
                unit = tuple(str(row[variable]) for variable in key)
                found[unit] = max(moment_ms, found.get(unit, moment_ms))
        return found


def read_moment(term: str | None) -> int | None:
    """The moment that a literal tells, in milliseconds since 1970; None if it tells none.

    It is written as ISO 8601 does, as HTTP does, or as a number of seconds, or milliseconds if
    these would be seconds of a far future.
    """
    literal = None if term is None else decode(term)
    if not isinstance(literal, Literal):
        return None
    text = literal.lexical.strip()
    try:
        number = float(text)
        moment_ms = number if abs(number) >= _FARTHEST_S else 1_000 * number
    except ValueError:
        moment_ms = _written_moment_ms(text)
    # A number may be none, or have no end.
    return round(moment_ms) if abs(moment_ms) < _FARTHEST_MS else None


def _written_moment_ms(text: str) -> float:
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = read(text)
            zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            return 1_000 * zoned.timestamp()
        except (ValueError, TypeError, OverflowError, IndexError):
            continue
    return nan


def read_interval(term: str | None, *, unit_ms: int) -> int | None:
    """The interval that a literal states: a number of units, or a duration; None if neither."""
    literal = None if term is None else decode(term)
    if not isinstance(literal, Literal):
        return None
    try:
        return parse_interval_ms(literal.lexical, plain_ms=unit_ms)
    except InputError:
        return None


def read_interval_file(
    path: Path, key: Sequence[str], *, plain_ms: int | None
) -> Mapping[Key, int]:
    """The intervals of a CSV file by the encoded terms of a key's variables.

    A term is written as in N-Triples; without brackets and quotes it is taken for an IRI. What a
    plain number means is in the file's header or, where it only says `interval`, `plain_ms`.
    """
    return read_key_intervals(path, key, term=_key_term, plain_ms=plain_ms)


def _key_term(text: str) -> str:
    if text.startswith(("<", '"', "_:")):
        return encode(decode(text))
    if not is_absolute_iri(text):
        raise InputError(
            f"{text!r} is no absolute IRI; CSV takes one pair of quotes away, so that the literal "
            f'is written """{text}"""'
        )
    return encode(IRI(text))
