"""The last answer, kept for ISTREAM and DSTREAM, which tell what came or went since."""

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from bestbefore.query import Ask, ContinuousQuery, OutputOperator
from bestbefore.spark.columns import EVALUATION
from bestbefore.spark.output_stream import OWN, to_stream


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

    def streamed(self, spark: SparkSession, rows: DataFrame, answered: Sequence[int]) -> DataFrame:
        """The rows that go to the output stream."""
        if not self.needed:
            return rows
        previous = spark.read.parquet(f"{self.folder}/{self.name}") if self.name else None
        return to_stream(rows, self.operator, answered=answered, previous=previous)

    def keep(self, rows: DataFrame, answered: Sequence[int], name: str) -> str:
        """Write the rows of the last evaluation; the name under which the next batch finds them."""
        if not self.needed or not answered:
            return self.name
        last = rows.filter(f"{EVALUATION} = {answered[-1]}").drop(*OWN)
        last.write.mode("overwrite").parquet(f"{self.folder}/{name}")
        return name


def operator_of(query: ContinuousQuery) -> OutputOperator:
    """The output operator; an answer of true or false is always given as it is."""
    return OutputOperator.RSTREAM if isinstance(query.form, Ask) else query.output
