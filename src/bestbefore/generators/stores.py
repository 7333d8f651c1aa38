"""Stores with known properties: cached triples, which of them are stale, and queries about them."""

from collections.abc import Sequence
from dataclasses import Field, dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from bestbefore.errors import WorkError
from bestbefore.registry import Registry

DATA, STALE, QUERIES = "data.nt", "stale.nt", "queries"
STORE_FILES = (DATA, STALE, QUERIES)


@dataclass(frozen=True)
class GeneratedStore:
    """Triples as encoded terms with a flag each, in the columns s, p, o and `fresh`; and queries.

    Those queries that bind no object come first.
    """

    triples: pa.Table
    queries: Sequence[str]


class StoreGenerator(Protocol):
    """A store's parameters, a frozen dataclass, with a method that draws the store."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def make(self, seed: int) -> GeneratedStore:
        """A store with these parameters; the same seed gives the same one."""
        ...


store_generators: Registry[type[StoreGenerator]] = Registry("generator")


def write_store(store: GeneratedStore, folder: Path) -> dict[Path, int]:
    """Write `data.nt`, `stale.nt` and a file per query; tell what was written, and how much."""
    stale = store.triples.filter(pc.invert(store.triples["fresh"]))
    parts = {DATA: store.triples, STALE: stale}
    try:
        (folder / QUERIES).mkdir(parents=True, exist_ok=True)
        for name, triples in parts.items():
            with (folder / name).open("wb") as file:
                for batch in triples.to_batches(max_chunksize=65_536):
                    file.write(_lines(batch))
        for number, text in enumerate(store.queries):
            (folder / QUERIES / f"q{number:04d}.rq").write_text(text, encoding="utf-8")
    except OSError as error:
        raise WorkError(f"{folder} cannot be written: {error.strerror}") from None
    written = {folder / name: len(triples) for name, triples in parts.items()}
    return written | {folder / QUERIES: len(store.queries)}


def _lines(batch: pa.RecordBatch) -> bytes:
    terms = [batch.column(name) for name in ("s", "p", "o")]
    lines = pc.binary_join_element_wise(*terms, ".\n", " ")
    return "".join(lines.to_pylist()).encode()
