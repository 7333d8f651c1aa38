"""The line of a CSV file that is wrong, looked for once reading it as a whole has failed."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from bestbefore.errors import InputError

TIME = "ts_ms"

_WHOLE = re.compile(r"\s*-?\d+\s*", re.ASCII)
_LARGEST = 2**63 - 1


def header_of(content: bytes) -> tuple[str, ...]:
    """The names of the columns."""
    return tuple(next((record for _, record in _records(content)), ()))


def line_of(content: bytes, row: int) -> int:
    """The line on which a row begins; row 0 follows the header."""
    return next(islice(_records(content), row + 1, None))[0]


def diagnose(content: bytes, path: Path, *, columns: Sequence[str], otherwise: str) -> InputError:
    """The first mistake of a file that cannot be read, with its line."""
    try:
        content.decode("utf-8")
        mistakes = (
            f"{path}, line {line}: {mistake}"
            for line, record in islice(_records(content), 1, None)
            if (mistake := _mistake(record, columns))
        )
        return InputError(next(mistakes, f"{path} is no CSV file that can be read: {otherwise}"))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        byte = content[error.start]
        return InputError(
            f"{path}, line {line}: byte 0x{byte:02x} is not UTF-8; save the file as UTF-8"
        )
    except csv.Error as error:
        return InputError(f"{path} is no CSV file that can be read: {error}")


def _mistake(record: Sequence[str], columns: Sequence[str]) -> str | None:
    if len(record) != len(columns):
        return f"{len(record)} values for the {len(columns)} columns {', '.join(columns)}"
    if TIME not in columns:
        return None
    text = record[columns.index(TIME)]
    if not _WHOLE.fullmatch(text):
        return f"{TIME} = {text!r} is not a whole number of milliseconds"
    if abs(int(text)) > _LARGEST:
        return f"{TIME} = {text!r} is too large; times are milliseconds below 2^63"
    return None


def _records(content: bytes) -> Iterator[tuple[int, list[str]]]:
    """Every record that is not blank, with the line on which it begins."""
    text = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="")
    reader, line = csv.reader(text), 1
    for record in reader:
        if record:
            yield line, record
        line = reader.line_num + 1
