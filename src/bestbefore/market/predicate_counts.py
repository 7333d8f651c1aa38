"""Triples per predicate: what SPM is, and what other summaries begin with."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.functions import expr

from bestbefore.arrays import Numbers
from bestbefore.market.packing import Columns
from bestbefore.market.shapes import Part
from bestbefore.spark.columns import FRESH

_TOTAL = "total"


@dataclass(frozen=True, eq=False)
class PredicateCounts:
    """Per predicate its triples, the fresh ones, and how many subjects and objects they have.

    `subjects` and `objects` have one more number, that of the whole store.
    """

    names: tuple[str, ...]
    total: Numbers
    fresh: Numbers
    subjects: Numbers
    objects: Numbers

    def freshness(self, place: int) -> float:
        """The share of fresh triples of a predicate."""
        total, fresh, _, _ = self.counts(place)
        return fresh / total if total else 1.0

    @property
    def everything(self) -> tuple[float, float, float, float]:
        """The total, the fresh, the subjects and the objects of the store."""
        sums = float(self.total.sum()), float(self.fresh.sum())
        return *sums, float(self.subjects[-1]), float(self.objects[-1])

    def counts(self, place: int) -> tuple[float, float, float, float]:
        """The total, the fresh, the subjects and the objects of a predicate."""
        columns = (self.total, self.fresh, self.subjects, self.objects)
        total, fresh, subjects, objects = (float(column[place]) for column in columns)
        return total, fresh, subjects, objects

    def place(self, name: str) -> int | None:
        """The place of a predicate, None if the store does not have it."""
        return self.names.index(name) if name in self.names else None

    def of(self, part: Part) -> tuple[float, float, float, float]:
        """The total, the fresh, the subjects and the objects of the triples of a pattern.

        A term that is bound has its share of the triples, as any other has.
        """
        s, p, o = part.bound
        if p is None:
            total, fresh, subjects, objects = self.everything
        elif (place := self.place(p)) is None:
            return 0.0, 0.0, 0.0, 0.0
        else:
            total, fresh, subjects, objects = self.counts(place)
        share = 1.0 / ((subjects if s else 1.0) * (objects if o else 1.0))
        left = total * share
        return left, fresh * share, min(subjects, left), min(objects, left)

    def packed(self) -> tuple[dict[str, Any], Columns]:
        """The fields and columns that are written."""
        columns = ("total", "fresh", "subjects", "objects")
        return {"names": "\n".join(self.names)}, {name: getattr(self, name) for name in columns}

    @classmethod
    def unpacked(cls, fields: dict[str, Any], columns: Columns) -> Self:
        """The counts that were written."""
        names = tuple(fields["names"].split("\n")) if fields["names"] else ()
        own = {name: columns[name] for name in ("total", "fresh", "subjects", "objects")}
        return cls(names, **{name: column.astype(np.float64) for name, column in own.items()})


def count_predicates(store: DataFrame) -> PredicateCounts:
    """The counts of a store, by two Spark jobs."""
    counts = [f"count(1) AS {_TOTAL}", f"sum({FRESH}) AS {FRESH}"]
    counts += [f"count(DISTINCT {one}) AS {one}" for one in ("s", "o")]
    own = store.groupBy("p").agg(*map(expr, counts)).orderBy("p").toArrow()
    ((subjects, objects),) = store.agg(*map(expr, counts[2:])).collect()
    return PredicateCounts(
        tuple(own["p"].to_pylist()),
        floats(own[_TOTAL]),
        floats(own[FRESH]),
        np.append(floats(own["s"]), subjects),
        np.append(floats(own["o"]), objects),
    )


def updated_counts(counts: PredicateCounts, before: DataFrame, after: DataFrame) -> PredicateCounts:
    """The counts after a refresh; how many subjects and objects there are is taken to stay."""
    was, now = (
        {row["p"]: (row["n"], row["f"]) for row in _sums(frame).collect()}
        for frame in (before, after)
    )
    change = np.array(
        [np.subtract(now.get(name, (0, 0)), was.get(name, (0, 0))) for name in counts.names]
    ).reshape(-1, 2)
    total = np.maximum(counts.total + change[:, 0], 0.0)
    fresh = np.clip(counts.fresh + change[:, 1], 0.0, total)
    return replace(counts, total=total, fresh=fresh)


def _sums(frame: DataFrame) -> DataFrame:
    return frame.groupBy("p").agg(expr("count(1) AS n"), expr(f"sum({FRESH}) AS f"))


def floats(column: pa.ChunkedArray) -> Numbers:
    """A column of Arrow as numbers."""
    return np.asarray(column.to_numpy(), dtype=np.float64)
