"""Change intervals that the user provides: in a column, behind a predicate, or in a file."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bestbefore.errors import InputError
from bestbefore.rdf.iris import is_absolute_iri
from bestbefore.rdf.terms import IRI, Key, Literal, Row, decode, encode
from bestbefore.time import parse_interval_ms
from bestbefore.traces import read_key_intervals


@dataclass(frozen=True)
class ChangeIntervals:
    """Where the change interval of a unit is found in the rows that the service returns.

    `column` names the one of `variables` that holds it; `hidden` tells that the column was only
    fetched for this purpose and is no part of the view. A plain number counts in `unit_ms`.
    """

    variables: tuple[str, ...]
    key: tuple[str, ...]
    column: str | None = None
    hidden: bool = False
    unit_ms: int = 1000

    @property
    def view_variables(self) -> tuple[str, ...]:
        """The variables that the view keeps."""
        hidden = self.column if self.hidden else None
        return tuple(name for name in self.variables if name != hidden)

    def view_rows(self, rows: Iterable[Row]) -> tuple[Row, ...]:
        """The rows without a hidden interval.

        A mapping comes once per interval that is stated for it: in the view it is one row.
        """
        if not self.hidden:
            return tuple(rows)
        column = self.variables.index(str(self.column))
        return tuple(dict.fromkeys(row[:column] + row[column + 1 :] for row in rows))

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
