"""CSV files as Arrow tables: all columns are text, except for times.

A file that cannot be read as a whole is read again record by record, to name the line.
"""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from bestbefore.arrays import Integers, Texts
from bestbefore.errors import InputError, excerpt, nearest
from bestbefore.input_files import not_utf8, read_bytes

TIME = "ts_ms"

_BOM = b"\xef\xbb\xbf"
_WHOLE = re.compile(r"\s*-?\d+\s*", re.ASCII)
_LARGEST = 2**63 - 1


@dataclass(frozen=True)
class Layout:
    """The columns of a kind of file, and whether others may stand beside them.

    Of each group in `either`, exactly one column is there. `timed` files have times in `ts_ms`.
    """

    what: str
    columns: tuple[str, ...]
    either: tuple[tuple[str, ...], ...] = ()
    more: bool = False
    timed: bool = False

    @property
    def header(self) -> str:
        """The header of a file that has the first column of each group."""
        return ",".join((*self.columns, *(group[0] for group in self.either)))

    @property
    def known(self) -> tuple[str, ...]:
        """The names of all columns that such a file can have."""
        return (*self.columns, *chain.from_iterable(self.either))


@dataclass(frozen=True)
class CsvTable:
    """The rows of a file in the order of its lines."""

    path: Path
    content: bytes
    columns: tuple[str, ...]
    rows: Any

    def one_of(self, group: Sequence[str]) -> str:
        """The column of a group that the file has."""
        return next(name for name in group if name in self.columns)

    def times(self) -> Integers:
        """The column of times; none is negative."""
        ts_ms = np.asarray(self.rows[TIME].to_numpy(), dtype=np.int64)
        if (negative := np.flatnonzero(ts_ms < 0)).size:
            row = int(negative[0])
            raise InputError(
                f"{self.where(row)}: {TIME} = {ts_ms[row]} is negative; times count from 0 on"
            )
        return ts_ms

    def keys(self, column: str) -> tuple[Integers, Texts]:
        """A column of names as a number per row and the name behind each number."""
        if (row := pc.index(self.rows[column], "").as_py()) >= 0:
            raise InputError(f"{self.where(row)}: {column!r} is empty; every row needs one")
        encoded = self.rows[column].dictionary_encode().combine_chunks()
        names = encoded.dictionary.to_numpy(zero_copy_only=False)
        return encoded.indices.to_numpy().astype(np.int64), names

    def texts(self, *columns: str, separator: str = "") -> Texts:
        """The values of a column, or of several joined by the separator."""
        joined = self.rows[columns[0]]
        if len(columns) > 1:
            joined = pc.binary_join_element_wise(*(self.rows[name] for name in columns), separator)
        return np.asarray(joined.to_numpy(), dtype=np.object_)

    def where(self, row: int) -> str:
        """The file and the line on which a row begins, for an error message."""
        line, _ = next(islice(_records(self.content), row + 1, None))
        return f"{self.path}, line {line}"


def read_table(path: str | Path, layout: Layout) -> CsvTable:
    """The rows of a file, which has the columns of its layout and at least one row."""
    path = Path(path)
    content = _content(path, layout)
    columns: tuple[str, ...] = ()
    try:
        columns = _columns(content, path, layout)
        rows = _parse(content, columns, layout)
    except (pa.ArrowInvalid, UnicodeDecodeError, csv.Error) as error:
        timed = layout.timed
        raise _diagnose(content, path, columns, timed=timed, otherwise=str(error)) from None
    if not rows.num_rows:
        raise _no_rows(path, layout)
    return CsvTable(path, content, columns, rows)


def _content(path: Path, layout: Layout) -> bytes:
    content = read_bytes(path, layout.what)
    if not content.removeprefix(_BOM).strip():
        raise _no_rows(path, layout)
    return content


def _no_rows(path: Path, layout: Layout) -> InputError:
    return InputError(
        f"{layout.what} {path} has no rows; it needs the header {layout.header} and rows"
    )


def _columns(content: bytes, path: Path, layout: Layout) -> tuple[str, ...]:
    found = tuple(next((record for _, record in _records(content)), ()))
    if twice := [name for name in found if found.count(name) > 1]:
        raise InputError(f"{path}: column {twice[0]!r} occurs twice in the header")
    if misfit := _misfit(layout, found):
        raise InputError(f"{path}: {misfit}")
    return found


def _misfit(layout: Layout, found: tuple[str, ...]) -> str | None:
    """What is wrong with a header, and what would be right."""
    for group in layout.either:
        if len(several := [name for name in group if name in found]) > 1:
            return f"the columns {' and '.join(several)} exclude each other; keep one of them"
    groups = (*((name,) for name in layout.columns), *layout.either)
    missing = [group for group in groups if not set(group) & set(found)]
    extra = [name for name in found if name not in layout.known]
    parts = []
    if missing:
        wanted = " or ".join(repr(name) for name in missing[0])
        parts.append(f"{layout.what} has no column {wanted} among its columns {', '.join(found)}")
    if extra and (missing or not layout.more):
        hint = nearest(extra[0], [*chain.from_iterable(missing)] or layout.known)
        parts.append(f"unknown column {extra[0]!r}; {hint}")
    return ": ".join(parts) or None


def _parse(content: bytes, columns: tuple[str, ...], layout: Layout) -> Any:  # noqa: ANN401 - Arrow is not typed
    types = {name: pa.int64() if layout.timed and name == TIME else pa.string() for name in columns}
    return pyarrow.csv.read_csv(
        pa.BufferReader(content),
        parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
        convert_options=pyarrow.csv.ConvertOptions(column_types=types, null_values=[]),
    )


def _diagnose(
    content: bytes, path: Path, columns: Sequence[str], *, timed: bool, otherwise: str
) -> InputError:
    """The first mistake of a file that cannot be read, with its line."""
    try:
        content.decode("utf-8")
        mistakes = (
            f"{path}, line {line}: {mistake}"
            for line, record in islice(_records(content), 1, None)
            if (mistake := _mistake(record, columns, timed=timed))
        )
        return InputError(next(mistakes, f"{path} is no CSV file that can be read: {otherwise}"))
    except UnicodeDecodeError as error:
        return not_utf8(path, content, error)
    except csv.Error as error:
        return InputError(f"{path} is no CSV file that can be read: {error}")


def _mistake(record: Sequence[str], columns: Sequence[str], *, timed: bool) -> str | None:
    if len(record) != len(columns):
        return f"{len(record)} values for the {len(columns)} columns {', '.join(columns)}"
    if not timed:
        return None
    text = record[columns.index(TIME)]
    if not _WHOLE.fullmatch(text):
        return f"{TIME} = {text!r} is not a whole number of milliseconds"
    if abs(float(text)) > _LARGEST:
        return f"{TIME} = {excerpt(text)} is too large; times are milliseconds below 2^63"
    return None


def _records(content: bytes) -> Iterator[tuple[int, list[str]]]:
    """Every record that is not blank, with the line on which it begins."""
    text = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="")
    reader, line = csv.reader(text), 1
    for record in reader:
        if record:
            yield line, record
        line = reader.line_num + 1
