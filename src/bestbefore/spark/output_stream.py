"""Relation to stream: all rows of an answer, or only what came or went since the one before."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from bestbefore.query import Ask, ContinuousQuery, OutputOperator

# The number of the evaluation, the probability that the row is fresh, its place in the order.
OWN = ("#", "~", "+")
_WEIGHT, _NEXT = "weight", "next"


def to_stream(
    rows: DataFrame,
    operator: OutputOperator,
    *,
    answered: Sequence[int],
    previous: DataFrame | None,
) -> DataFrame:
    """The rows that an operator lets through, evaluation by evaluation.

    ISTREAM gives the rows that the evaluation before did not have, DSTREAM those that it no longer
    has; a row that is there three times and was there once came twice. `previous` are the rows of
    the last evaluation before `answered`, without its number.
    """
    if operator is OutputOperator.RSTREAM or not answered:
        return rows
    names = [name for name in rows.columns if name not in OWN]
    now = rows.select("#", *names, "~", F.lit(1).alias(_WEIGHT))
    parts = [now, _before(rows, names, answered)]
    if previous is not None:
        first = previous.select(F.lit(answered[0]).cast("long").alias("#"), *names)
        parts.append(_negative(first, names))
    weighed = parts[0]
    for part in parts[1:]:
        weighed = weighed.unionByName(part)
    totals = weighed.groupBy("#", *names).agg(F.sum(_WEIGHT).alias(_WEIGHT), F.max("~").alias("~"))
    sign = 1 if operator is OutputOperator.ISTREAM else -1
    copies = F.expr(f"explode(sequence(1L, {sign} * {_WEIGHT}))").alias("copy")
    changed = totals.filter(f"{sign} * {_WEIGHT} > 0")
    place = F.lit(None).cast("int").alias("+")
    return changed.select("#", "~", place, *names, copies).drop("copy")


def _before(rows: DataFrame, names: list[str], answered: Sequence[int]) -> DataFrame:
    """Each evaluation's rows, counted against the evaluation after it."""
    pairs = list(pairwise(answered))
    table = pa.table(
        {
            "#": pa.array([each for each, _ in pairs], pa.int64()),
            _NEXT: pa.array([each for _, each in pairs], pa.int64()),
        }
    )
    following = rows.sparkSession.createDataFrame(table).hint("shuffle_hash")
    shifted = rows.join(following, "#").select(F.col(_NEXT).alias("#"), *names)
    return _negative(shifted, names)


def _negative(rows: DataFrame, names: list[str]) -> DataFrame:
    nothing = F.lit(None).cast("double").alias("~")
    return rows.select("#", *names, nothing, F.lit(-1).alias(_WEIGHT))


@dataclass(frozen=True)
class LastAnswer:
    """The rows of the last answer before a batch, in a folder of the checkpoint.

    `name` is that of the folder's part with them, empty if there was no answer yet.
    """

    operator: OutputOperator
    folder: str
    name: str

    @property
    def needed(self) -> bool:
        """Whether answers are compared with the one before."""
        return self.operator is not OutputOperator.RSTREAM

    @contextmanager
    def compared(self, rows: DataFrame, answered: Sequence[int], name: str) -> Iterator[DataFrame]:
        """The rows that go to the output stream; those of the last evaluation are kept as `name`.

        They are kept after the others have been used, since then they are known.
        """
        if not self.needed:
            yield rows
            return
        spark, kept = rows.sparkSession, rows.persist()
        previous = spark.read.parquet(f"{self.folder}/{self.name}") if self.name else None
        try:
            yield to_stream(kept, self.operator, answered=answered, previous=previous)
            if answered:
                last = kept.filter(f"`#` = {answered[-1]}").drop(*OWN)
                last.write.mode("overwrite").parquet(f"{self.folder}/{name}")
        finally:
            kept.unpersist()


def operator_of(query: ContinuousQuery) -> OutputOperator:
    """The output operator; an answer of true or false is always given as it is."""
    return OutputOperator.RSTREAM if isinstance(query.form, Ask) else query.output
