"""Tables for relations to be about, and the rows of relations."""

from itertools import count

import pyarrow as pa

from bestbefore.spark.relation import Relation, name_table

_numbers = count()


def table(session, rows, view=None):
    """Arrow rows as a table that a session knows."""
    view = view or f"test_table_{next(_numbers)}"
    name_table(session.createDataFrame(rows).coalesce(1), view)
    return Relation.table(view, rows.column_names)


def rows_of(session, relation, parameters=None):
    """The rows of a relation, as dictionaries."""
    return relation.statement().on(session, parameters or {}).toArrow().to_pylist()


def columns(names, rows, types=None):
    """Rows as Arrow columns, of strings unless told otherwise."""
    types = types or {}
    schema = pa.schema([(name, types.get(name, pa.string())) for name in names])
    return pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows], schema=schema)
