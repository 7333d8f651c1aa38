"""Relation to stream: all rows of an answer, or only what came or went since the one before."""

from collections.abc import Iterable, Sequence

from bestbefore.query import ContinuousQuery, OutputOperator
from bestbefore.query.algebra import Ask
from bestbefore.spark.columns import EVALUATION, FRESH, POSITION
from bestbefore.spark.relation import Relation, union_all
from bestbefore.spark.sql import name

OWN = (EVALUATION, FRESH, POSITION)
"""What a row of an answer has beside its answer columns.

The evaluation, how probably the row is fresh, and its position in the order, if it has one.
"""

_WEIGHT = "weight"
NEXT = "next"
"""The evaluation that is answered after one."""


def to_stream(
    rows: Relation, operator: OutputOperator, *, due: Relation, previous: Relation
) -> Relation:
    """The rows that an operator lets through, evaluation by evaluation.

    ISTREAM gives the rows that the evaluation before did not have, DSTREAM those that it no longer
    has; a row that is there three times and was there once came twice, and equal rows are as
    probably fresh as they are on average. `due` says which evaluation
    comes next; `previous` are the rows of the last one before, under the number of the first.
    """
    if operator is OutputOperator.RSTREAM:
        return rows
    names = answer_columns(rows.columns)
    following = due.filter(f"{NEXT} IS NOT NULL").select({"before": EVALUATION, NEXT: NEXT})
    left = rows.join(following, f"{EVALUATION} = before", hashed=True)
    parts = [
        _weighed(rows, EVALUATION, names, 1),
        _weighed(left, NEXT, names, -1),
        _weighed(previous, EVALUATION, names, -1),
    ]
    sign = 1 if operator is OutputOperator.ISTREAM else -1
    changed = (
        union_all(parts)
        .group((EVALUATION, *names), {_WEIGHT: f"sum({_WEIGHT})", FRESH: f"avg({FRESH})"})
        .filter(f"{sign} * {_WEIGHT} > 0")
    )
    columns = {EVALUATION: EVALUATION, FRESH: FRESH, POSITION: "int(NULL)"}
    columns |= {column: str(name(column)) for column in names}
    copies = f"explode(sequence(1L, {sign} * {_WEIGHT}))"
    return changed.select(columns | {"copy": copies}).drop("copy")


def answer_columns(columns: Iterable[str]) -> tuple[str, ...]:
    """The answer columns among those of the rows of an answer."""
    return tuple(column for column in columns if column not in OWN)


def _weighed(rows: Relation, evaluation: str, names: Sequence[str], weight: int) -> Relation:
    """Rows that count for or against an evaluation; how fresh a row was that went says nothing."""
    fresh = FRESH if weight > 0 else "double(NULL)"
    columns = {column: str(name(column)) for column in names}
    return rows.select({EVALUATION: evaluation, **columns, FRESH: fresh, _WEIGHT: f"{weight}"})


def operator_of(query: ContinuousQuery) -> OutputOperator:
    """The output operator; an answer of true or false is always given as it is."""
    return OutputOperator.RSTREAM if isinstance(query.form, Ask) else query.output
