"""CSV files as Arrow tables: all columns are text, except for times."""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from bestbefore.arrays import Integers, Texts
from bestbefore.errors import InputError, nearest
from bestbefore.traces.diagnosis import TIME, diagnose, header_of, line_of

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Layout:
    """The columns of a kind of file, and whether others may stand beside them."""

    what: str
    columns: tuple[str, ...]
    more: bool = False


@dataclass(frozen=True)
class CsvTable:
    """The rows of a file in the order of its lines."""

    path: Path
    content: bytes
    columns: tuple[str, ...]
    rows: Any

    def times(self) -> Integers:
        """The column of times; none is negative."""
        ts_ms = np.asarray(self.rows[TIME].to_numpy(), dtype=np.int64)
        if (negative := np.flatnonzero(ts_ms < 0)).size:
            row = int(negative[0])
            raise InputError(
                f"{self.place(row)}: {TIME} = {ts_ms[row]} is negative; times count from 0 on"
            )
        return ts_ms

    def keys(self, column: str) -> tuple[Integers, Texts]:
        """A column of names as a number per row and the name behind each number."""
        if (row := pc.index(self.rows[column], "").as_py()) >= 0:
            raise InputError(f"{self.place(row)}: {column!r} is empty; every row needs one")
        encoded = self.rows[column].dictionary_encode().combine_chunks()
        names = encoded.dictionary.to_numpy(zero_copy_only=False)
        return encoded.indices.to_numpy().astype(np.int64), names

    def texts(self, *columns: str, separator: str = "") -> Texts:
        """The values of a column, or of several joined by the separator."""
        joined = self.rows[columns[0]]
        if len(columns) > 1:
            joined = pc.binary_join_element_wise(*(self.rows[each] for each in columns), separator)
        return np.asarray(joined.to_numpy(), dtype=np.object_)

    def place(self, row: int) -> str:
        """The file and the line of a row, for an error message."""
        return f"{self.path}, line {line_of(self.content, row)}"


def read_table(path: str | Path, layout: Layout) -> CsvTable:
    """The rows of a file, which has the columns of its layout and at least one row."""
    path = Path(path)
    content = _content(path, layout)
    columns = _columns(content, path, layout)
    try:
        rows = _parse(content, columns)
    except (pa.ArrowInvalid, UnicodeDecodeError) as error:
        raise diagnose(content, path, columns=columns, otherwise=str(error)) from None
    if not rows.num_rows:
        raise _no_rows(path, layout)
    return CsvTable(path, content, columns, rows)


def _content(path: Path, layout: Layout) -> bytes:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"no such file: {path} ({layout.what})") from None
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"{path} ({layout.what}) cannot be read: {reason}") from None
    if not content.removeprefix(_BOM).strip():
        raise _no_rows(path, layout)
    return content


def _no_rows(path: Path, layout: Layout) -> InputError:
    wanted = ",".join(layout.columns)
    return InputError(f"{layout.what} {path} has no rows; it needs the header {wanted} and rows")


def _columns(content: bytes, path: Path, layout: Layout) -> tuple[str, ...]:
    try:
        found = header_of(content)
    except (UnicodeDecodeError, csv.Error) as error:
        raise diagnose(content, path, columns=(), otherwise=str(error)) from None
    if twice := [name for name in found if found.count(name) > 1]:
        raise InputError(f"{path}: column {twice[0]!r} occurs twice in the header")
    missing = [name for name in layout.columns if name not in found]
    extra = [name for name in found if name not in layout.columns]
    if missing or (extra and not layout.more):
        raise InputError(f"{path}: {_misfit(layout, found, missing=missing, extra=extra)}")
    return found


def _misfit(layout: Layout, found: tuple[str, ...], *, missing: list[str], extra: list[str]) -> str:
    parts = []
    if missing:
        columns = ", ".join(found)
        parts.append(f"{layout.what} has no column {missing[0]!r} among its columns {columns}")
    if extra:
        hint = nearest(extra[0], missing or layout.columns)
        parts.append(f"unknown column {extra[0]!r}; {hint}")
    return ": ".join(parts)


def _parse(content: bytes, columns: tuple[str, ...]) -> Any:  # noqa: ANN401 - Arrow is not typed
    types = {name: pa.int64() if name == TIME else pa.string() for name in columns}
    return pyarrow.csv.read_csv(
        pa.BufferReader(content),
        parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
        convert_options=pyarrow.csv.ConvertOptions(column_types=types, null_values=[]),
    )
