"""How summaries are written: fields as JSON and columns of numbers, compressed.

A column takes as few bytes per number as its largest needs. Columns that rise are kept as steps, by
whoever has them.
"""

import json
import zlib
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestbefore.arrays import Integers, Numbers
from bestbefore.errors import DamagedState, InputError

Columns = Mapping[str, NDArray[Any]]
_MAGIC = b"bestbefore summary 1\n"
_CHECK = 16


def pack(fields: Mapping[str, Any], columns: Columns) -> bytes:
    """Fields and columns as bytes."""
    small = {name: _smallest(column) for name, column in columns.items()}
    kinds = [[name, column.dtype.str, len(column)] for name, column in small.items()]
    head = json.dumps({**fields, "columns": kinds}, separators=(",", ":")).encode()
    return zlib.compress(b"\0".join([head, b"".join(map(np.ndarray.tobytes, small.values()))]), 9)


def unpack(content: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """What was packed; whole numbers come back as integers of 64 bits."""
    head, _, body = zlib.decompress(content).partition(b"\0")
    fields: dict[str, Any] = json.loads(head)
    columns, begin = dict[str, NDArray[Any]](), 0
    for name, kind, size in fields.pop("columns"):
        dtype = np.dtype(kind)
        column = np.frombuffer(body, dtype, size, begin)
        columns[name] = column.astype(np.float64 if dtype.kind == "f" else np.int64)
        begin += column.nbytes
    return fields, columns


def seal_summaries(packed: Mapping[str, bytes]) -> bytes:
    """Packed summaries by their names as the content of one file."""
    sizes = json.dumps({name: len(content) for name, content in packed.items()}).encode()
    body = sizes + b"\n" + b"".join(packed.values())
    return _MAGIC + sha256(body).hexdigest()[:_CHECK].encode() + b"\n" + body


def unseal_summaries(content: bytes, where: str) -> dict[str, bytes]:
    """The packed summaries of a file, which a message calls `where`."""
    if not content.startswith(_MAGIC):
        raise InputError(f"{where} is no file of summaries; write one with --save {where}")
    check, _, body = content[len(_MAGIC) :].partition(b"\n")
    if sha256(body).hexdigest()[:_CHECK].encode() != check:
        raise DamagedState(f"{where} is damaged: write it anew with --save")
    sizes, _, rest = body.partition(b"\n")
    found, begin = dict[str, bytes](), 0
    for name, size in json.loads(sizes).items():
        found[name] = rest[begin : begin + size]
        begin += size
    return found


def steps(rising: Integers) -> Integers:
    """An ascending column as its first number and the differences after it."""
    return np.diff(rising, prepend=0)


def counted(column: Numbers) -> NDArray[Any]:
    """Counts as whole numbers where they all are; probabilities make others."""
    whole = np.round(column)
    return whole.astype(np.int64) if np.allclose(whole, column, rtol=0, atol=1e-9) else column


def _smallest(column: NDArray[Any]) -> NDArray[Any]:
    if column.dtype.kind == "f":
        column = counted(column)
    if column.dtype.kind == "f":
        return column
    lowest = int(column.min()) if len(column) else 0
    highest = int(column.max()) if len(column) else 0
    kinds = (np.uint8, np.uint16, np.uint32) if lowest >= 0 else (np.int8, np.int16, np.int32)
    fits = (
        kind for kind in kinds if np.iinfo(kind).min <= lowest and highest <= np.iinfo(kind).max
    )
    return column.astype(next(fits, np.int64))
