"""Change intervals that the user provides: in a column, behind a predicate, or in a file."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bestbefore.errors import InputError
from bestbefore.rdf.terms import IRI, Key, Literal, Row, decode, encode
from bestbefore.time import parse_duration_ms


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
        place = self.variables.index(str(self.column))
        return tuple(dict.fromkeys(row[:place] + row[place + 1 :] for row in rows))

    def stated(self, rows: Iterable[Row]) -> dict[Key, int]:
        """The interval of each unit that states one, in milliseconds."""
        if self.column is None:
            return {}
        place = self.variables.index(self.column)
        positions = [self.variables.index(name) for name in self.key]
        return {
            tuple(str(row[each]) for each in positions): interval
            for row in rows
            if (interval := read_interval(row[place], unit_ms=self.unit_ms)) is not None
        }


def read_interval(term: str | None, *, unit_ms: int) -> int | None:
    """The interval that a literal states: a number of units, or a duration; None if neither."""
    if term is None:
        return None
    literal = decode(term)
    if not isinstance(literal, Literal):
        return None
    return _milliseconds(literal.lexical, unit_ms=unit_ms)


def read_interval_file(path: Path, key: Sequence[str], *, unit_ms: int) -> Mapping[Key, int]:
    """The intervals of a CSV file with a column per key variable (or `key`) and `interval`.

    A term is written as in N-Triples; without brackets and quotes it is taken for an IRI.
    """
    if not path.is_file():
        raise InputError(f"no such file: {path} (the change intervals)")
    intervals: dict[Key, int] = {}
    with path.open(newline="", encoding="utf-8") as file:
        lines = csv.DictReader(file)
        names = ["key"] if len(key) == 1 and "key" in (lines.fieldnames or ()) else list(key)
        missing = [name for name in (*names, "interval") if name not in (lines.fieldnames or ())]
        if missing:
            raise InputError(
                f"{path}: no column {missing[0]!r}; it needs {', '.join(names)}, interval"
            )
        for line in lines:
            interval = _milliseconds(line["interval"] or "", unit_ms=unit_ms)
            if interval is None:
                where = f"{path}, line {lines.line_num}"
                raise InputError(
                    f"{where}: {line['interval']!r} is neither a number nor a duration"
                )
            intervals[tuple(_key_term(line[name]) for name in names)] = interval
    return intervals


def _key_term(text: str) -> str:
    return text if text.startswith(("<", '"', "_:")) else encode(IRI(text))


def _milliseconds(text: str, *, unit_ms: int) -> int | None:
    try:
        interval = float(text) * unit_ms
    except ValueError:
        try:
            interval = parse_duration_ms(text)
        except InputError:
            return None
    return round(interval) if 0 < interval < float("inf") else None
