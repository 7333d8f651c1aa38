"""Relation to stream: all rows of an answer, or only what came or went since the one before."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from bestbefore.query import ContinuousQuery, OutputOperator
from bestbefore.query.algebra import Ask
from bestbefore.spark.columns import EVALUATION, FRESH, POSITION
from bestbefore.spark.sql import quoted

OWN = (EVALUATION, FRESH, POSITION)
"""What a row of an answer has beside its answer columns.

The evaluation, how probably the row is fresh, and its position in the order, if it has one.
"""

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
    the last evaluation before `answered`, answer columns only.
    """
    if operator is OutputOperator.RSTREAM or not answered:
        return rows
    names = [column for column in rows.columns if column not in OWN]
    parts = [_weighed(rows, EVALUATION, names, 1), _before(rows, names, answered)]
    if previous is not None:
        parts.append(_weighed(previous.toDF(*names), f"{answered[0]}L", names, -1))
    sign = 1 if operator is OutputOperator.ISTREAM else -1
    changed = (
        reduce(DataFrame.unionByName, parts)
        .groupBy(EVALUATION, *quoted(names))
        .agg(F.sum(_WEIGHT).alias(_WEIGHT), F.max(FRESH).alias(FRESH))
        .filter(f"{sign} * {_WEIGHT} > 0")
    )
    copies = f"explode(sequence(1L, {sign} * {_WEIGHT})) AS copy"
    position = f"CAST(NULL AS INT) AS {POSITION}"
    return changed.selectExpr(EVALUATION, FRESH, position, *quoted(names), copies).drop("copy")


def _before(rows: DataFrame, names: list[str], answered: Sequence[int]) -> DataFrame:
    """Each evaluation's rows, counted against the evaluation after it."""
    earlier, later = (pa.array(numbers, pa.int64()) for numbers in (answered[:-1], answered[1:]))
    table = pa.table({EVALUATION: earlier, _NEXT: later})
    following = rows.sparkSession.createDataFrame(table).hint("shuffle_hash")
    return _weighed(rows.join(following, EVALUATION), _NEXT, names, -1)


def _weighed(rows: DataFrame, evaluation: str, names: list[str], weight: int) -> DataFrame:
    """Rows that count for or against an evaluation; how fresh a row was that went says nothing."""
    fresh = FRESH if weight > 0 else "CAST(NULL AS DOUBLE)"
    return rows.selectExpr(
        f"{evaluation} AS {EVALUATION}",
        *quoted(names),
        f"{fresh} AS {FRESH}",
        f"{weight} AS {_WEIGHT}",
    )


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
                last = kept.filter(f"{EVALUATION} = {answered[-1]}").drop(*OWN)
                last.write.mode("overwrite").parquet(f"{self.folder}/{name}")
        finally:
            kept.unpersist()


def operator_of(query: ContinuousQuery) -> OutputOperator:
    """The output operator; an answer of true or false is always given as it is."""
    return OutputOperator.RSTREAM if isinstance(query.form, Ask) else query.output
