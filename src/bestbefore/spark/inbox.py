"""Tables that a plan can be made for before there is data: each is the content of one file.

Spark reads the file whenever the plan runs. To run a plan again takes a quarter of the time of
making and running it, and for few rows that time is nearly all there is.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from bestbefore.spark.relation import name_table
from bestbefore.spark.sql import aliased, name, quote, quoted
from bestbefore.storage import Storage

# What Spark computes once per plan, or keeps: the rows of an earlier run would come back.
_KEPT = ("Exchange", "InMemory", "Subquery")


@dataclass(frozen=True)
class Inbox:
    """A folder with one file per table; the executors can read it, too."""

    storage: Storage
    _filled: set[str] = field(default_factory=set)

    def register(self, spark: SparkSession, view: str, columns: Mapping[str, str]) -> None:
        """Let a session know a table, by the names and types of its columns.

        A column `time` is told relative to the `base` that its rows are put with.
        """
        if view not in self._filled:
            self.put(view, [])
        part = ", ".join(f"{name(column)}: ARRAY<{kind}>" for column, kind in columns.items())
        schema = quote(f"base BIGINT, parts ARRAY<STRUCT<{part}>>")
        file = f"binaryFile.{name(f'{self.storage.root}/{_file(view)}')}"
        read = f"SELECT from_json(string(content), {schema}) AS it FROM {file}"
        # In two steps: Spark would copy all of `it` into every row that comes out of it.
        lists = ", ".join(aliased({one: f"flatten(it.parts.{name(one)})" for one in columns}))
        whole = f"SELECT it.base AS base, {lists} FROM ({read})"
        rows = f"SELECT base, inline(arrays_zip({', '.join(quoted(columns))})) FROM ({whole})"
        told = [f"time - base AS {name(one)}" if one == "time" else name(one) for one in columns]
        name_table(spark.sql(f"SELECT {', '.join(told)} FROM ({rows})"), view)

    def put(self, view: str, parts: Iterable[str], *, base: int = 0) -> None:
        """Give a table its rows, in parts that are each a JSON object with the columns as lists."""
        text = f'{{"base": {base}, "parts": [{", ".join(parts)}]}}'
        self.storage.write(_file(view), text.encode())
        self._filled.add(view)


def _file(view: str) -> str:
    return f"{view}.json"


def json_columns(table: pa.Table) -> str:
    """A table as a JSON object with its columns as lists."""
    return json.dumps({one: table[one].to_pylist() for one in table.column_names})


def is_reusable(frame: DataFrame) -> bool:
    """Whether the plan of a frame looks at its data anew each time it runs."""
    operators = _operators(frame._jdf.queryExecution().executedPlan())
    return not any(kept in operator for operator in operators for kept in _KEPT)


def _operators(plan: Any) -> Iterator[str]:  # noqa: ANN401 - it is an object of Spark's
    """The names of a plan's operators, and of those that it asks beside it.

    One by one, since the text of a plan takes as long to write as the plan to make.
    """
    for number in count():
        if (operator := plan.apply(number)) is None:
            return
        yield operator.nodeName()
