"""Answers as rows of Spark types: the stream's columns, those looked up, the window and `fresh`."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import signature
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from bestbefore.engine.sinks import Sink
from bestbefore.enrichment.events import Events
from bestbefore.enrichment.lookups import SPARK_TYPES
from bestbefore.spark.relation import name_table
from bestbefore.spark.sql import name
from bestbefore.storage import Storage

WINDOW, FRESH = "window", "fresh"
ROW = "bestbefore_row"
"""The variable of a row of the stream."""

_TYPES = "enriched_types.json"
_TERM = "STRUCT<value: STRING, datatype: STRING>"
_NUMBERS = {"BIGINT", "DOUBLE"}


@dataclass
class Enriched:
    """A sink that hands answers on as plain rows.

    Where the type of a looked-up column is not known, it is that of the first values that come, and
    remembered with the checkpoint. A later value of another type is null.
    """

    spark: SparkSession
    events: Events
    columns: Mapping[str, str]
    types: dict[str, str]
    storage: Storage
    write: Sink

    def __post_init__(self) -> None:
        found = self.storage.read(_TYPES)
        self.types = {**(json.loads(found) if found else {}), **self.types}

    def __call__(self, answers: DataFrame, batch: int) -> None:
        """Hand on the answers of a batch."""
        pairs = F.explode(F.arrays_zip(F.col("rows"), F.col("fresh"))).alias("pair")
        rows = answers.select("window", pairs)
        self._find_types(rows)
        bounds = [F.timestamp_millis(F.col("window")[side]) for side in (0, 1)]
        row = self.events.row_of(F.col("pair.rows")[ROW]["value"]).alias("row")
        span = F.struct(bounds[0].alias("start"), bounds[1].alias("end")).alias("span")
        flat = rows.select(row, span, "pair")
        stream = [F.col("row")[one].alias(one) for one in self.events.schema.names]
        found = [self._value(one, variable).alias(one) for one, variable in self.columns.items()]
        fresh = F.col("pair.fresh").alias(FRESH)
        self.write(flat.select(*stream, *found, F.col("span").alias(WINDOW), fresh), batch)

    def write_lines(self, lines: Sequence[str], batch: int) -> None:
        """Hand on few answers, a line of JSON each."""
        variables = (ROW, *self.columns.values())
        terms = ", ".join(f"{name(variable)}: {_TERM}" for variable in variables)
        shape = (
            f"STRUCT<`window`: ARRAY<BIGINT>, rows: ARRAY<STRUCT<{terms}>>, fresh: ARRAY<DOUBLE>>"
        )
        texts = self.spark.createDataFrame([(line,) for line in lines], "line STRING")
        self(texts.select(F.from_json("line", shape).alias("answer")).select("answer.*"), batch)

    def _value(self, column: str, variable: str) -> Column:
        text = F.col("pair.rows")[variable]["value"]
        kind = self.types.get(column, "STRING")
        return text if kind == "STRING" else text.try_cast(kind)

    def _find_types(self, rows: DataFrame) -> None:
        unknown = [column for column in self.columns if column not in self.types]
        if not unknown:
            return
        # All rows are looked at: the engine counts them meanwhile.
        kinds = [
            F.collect_set(self._kind(self.columns[column])).alias(str(number))
            for number, column in enumerate(unknown)
        ]
        (sets,) = rows.select(*kinds).collect()
        found = {column: _type_of(kinds) for column, kinds in zip(unknown, sets, strict=True)}
        decided = {column: kind for column, kind in found.items() if kind is not None}
        if decided:
            self.types |= decided
            self.storage.write(_TYPES, json.dumps(self.types).encode())

    def _kind(self, variable: str) -> Column:
        """The datatype of a value, empty for strings; null where there is no value."""
        term = F.col("pair.rows")[variable]
        return F.when(term["value"].isNotNull(), F.coalesce(term["datatype"], F.lit("")))


def _type_of(datatypes: Iterable[str]) -> str | None:
    """The Spark type that values of some datatypes have in common; None if there are none."""
    types = {SPARK_TYPES.get(datatype, "STRING") for datatype in datatypes}
    if not types:
        return None
    if types == _NUMBERS:
        return "DOUBLE"
    return types.pop() if len(types) == 1 else "STRING"


@dataclass
class Table:
    """A temporary view of all answers so far, kept in the driver's memory."""

    spark: SparkSession
    name: str
    _batches: dict[int, pa.Table] = field(default_factory=dict)

    def __call__(self, answers: DataFrame, batch: int) -> None:
        """Add the answers of a batch, in the place of what it had before."""
        self._batches[batch] = answers.toArrow()
        rows = pa.concat_tables(self._batches.values(), promote_options="permissive")
        name_table(self.spark.createDataFrame(rows, answers.schema), self.name)


def calling(function: Callable[..., Any]) -> Sink:
    """A sink that calls a function with answers, and with the batch's number if it takes two."""
    takes_one = len(signature(function).parameters) == 1

    def call(answers: DataFrame, batch: int) -> None:
        function(answers) if takes_one else function(answers, batch)

    return call
