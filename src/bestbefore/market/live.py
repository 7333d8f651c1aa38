"""The store that a job holds: the rows of its views as triples, each with its learned freshness."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from bestbefore.engine.stored_view import stored_views
from bestbefore.errors import InputError, UnsupportedSparql
from bestbefore.job.job import Job
from bestbefore.market.shapes import Part, called, is_variable, part_of
from bestbefore.market.store import Notice, flagged
from bestbefore.query.algebra import BGP, Filter, Join, LeftJoin, Pattern
from bestbefore.spark.columns import FRESH, TRIPLE
from bestbefore.spark.hadoop import storage_at
from bestbefore.time import format_instant, wall_clock_ms
from bestbefore.view import LocalView

_SCHEMA = pa.schema([*((part, pa.string()) for part in TRIPLE), (FRESH, pa.float64())])


def viewed_triples(spark: SparkSession, job: Job, *, notice: Notice) -> DataFrame:
    """The triples that the rows of a job's views are made of, as its last commit left them.

    Each is as probably fresh as the unit of its row is, by what was learned of it: now, or where
    the stream is not live, at the time that it has come to. A triple of several rows is as fresh
    as the freshest.
    """
    if not job.services:
        raise InputError(f"{job.query.name}: the query has no SERVICE, so the job holds no view")
    storage = storage_at(spark, job.checkpoint)
    views = list(stored_views(job, storage, clock=wall_clock_ms))
    t_ms = max(one.at_ms for one in views)
    tables = [viewed_table(one.view, one.service.plan.service.pattern, t_ms) for one in views]
    found = pa.concat_tables(tables)
    notice(f"the job holds {len(found)} triples, at {format_instant(t_ms)}")
    best = found.group_by(list(TRIPLE)).aggregate([(FRESH, "max")]).rename_columns([*TRIPLE, FRESH])
    return flagged(
        spark.createDataFrame(best).localCheckpoint(), what=f"the views in {job.checkpoint}"
    )


def viewed_table(view: LocalView, pattern: Pattern, t_ms: int) -> pa.Table:
    """The triples of a view's rows with the probabilities of their units."""
    held = np.flatnonzero(view.units.held)
    owner, numbers = view.row_numbers(held)
    fresh = view.units.fresh_probability(held, t_ms)[owner]
    rows = view.columns(numbers)
    tables = [_instances(part, rows, pa.array(fresh)) for part in _parts(pattern)]
    return pa.concat_tables(tables) if tables else _SCHEMA.empty_table()


def _instances(part: Part, rows: pa.Table, fresh: pa.Array) -> pa.Table:
    """The triples that a pattern makes of rows; a row that leaves a variable unbound makes none."""
    columns = [
        rows[term[1:]].combine_chunks()
        if is_variable(term)
        else pa.array([term] * len(rows), pa.string())
        for term in part.terms
    ]
    return pa.table([*columns, fresh], schema=_SCHEMA).drop_null()


def _parts(pattern: Pattern) -> Iterator[Part]:
    match pattern:
        case BGP(patterns):
            yield from map(part_of, patterns)
        case Join(left, right) | LeftJoin(left, right):
            yield from _parts(left)
            yield from _parts(right)
        case Filter(_, inner):
            yield from _parts(inner)
        case _:
            raise UnsupportedSparql(
                f"{called(pattern)} in a SERVICE: its rows do not tell which triples there are"
            )
