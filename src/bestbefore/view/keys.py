"""Keys in columns: the distinct ones, and which of them each row has."""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bestbefore.arrays import Integers
from bestbefore.rdf.terms import Key


def distinct_keys(columns: Sequence[pa.ChunkedArray]) -> tuple[list[Key], Integers]:
    """The distinct keys of columns of equal length, and for each row which of them it has."""
    codes = np.zeros(len(columns[0]), dtype=np.int64)
    dictionaries = []
    for column in columns:
        encoded = pc.fill_null(column.combine_chunks(), "").dictionary_encode()
        dictionaries.append(encoded.dictionary.to_pylist())
        codes = codes * max(1, len(dictionaries[-1])) + encoded.indices.to_numpy()
    distinct, inverse = np.unique(codes, return_inverse=True)
    return list(_keys(distinct, dictionaries)), inverse.astype(np.int64)


def _keys(codes: Integers, dictionaries: list[list[str]]) -> Iterator[Key]:
    for code in codes.tolist():
        parts = []
        for values in reversed(dictionaries):
            code, place = divmod(code, max(1, len(values)))  # noqa: PLW2901
            parts.append(values[place])
        yield tuple(reversed(parts))
