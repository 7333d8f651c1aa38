"""Solution modifiers: projection, DISTINCT, ORDER BY, LIMIT and OFFSET, per evaluation."""

from dataclasses import replace

from bestbefore.query.algebra import OrderCondition
from bestbefore.spark.columns import FRESH, POSITION, TIME
from bestbefore.spark.expressions import Scope
from bestbefore.spark.expressions.comparison import sort_key
from bestbefore.spark.expressions.compiler import term_sql
from bestbefore.spark.patterns.solutions import Solutions, spread
from bestbefore.spark.sql import name, quoted

_KEPT = {TIME: "max", FRESH: "max", POSITION: "min"}


def distinct(solutions: Solutions) -> Solutions:
    """The mappings of each evaluation without repetitions.

    One is fresh if any of those behind it is, and stays as long as the last of them.
    """
    solutions = spread(solutions)
    columns = (*solutions.keys, *solutions.names)
    kept = {
        column: f"{_KEPT[column]}({name(column)})" for column in _KEPT if column in solutions.extras
    }
    relation = solutions.relation.group(columns, kept)
    return replace(solutions, relation=relation, extras=tuple(kept))


def ordered(
    solutions: Solutions, conditions: tuple[OrderCondition, ...], scope: Scope
) -> Solutions:
    """The mappings with their position in an order; equals are told apart by all their terms."""
    keys = [
        sort_key(term_sql(condition.expression, scope)) + (" DESC" if condition.descending else "")
        for condition in conditions
    ]
    return _placed(solutions, keys)


def sliced(solutions: Solutions, offset: int, limit: int | None) -> Solutions:
    """Some mappings of each evaluation, in their order."""
    solutions = spread(solutions).single()
    placed = _placed(solutions, [name(POSITION)] if POSITION in solutions.extras else [])
    wanted = f"{POSITION} > {offset}"
    return placed.filter(
        wanted if limit is None else f"{wanted} AND {POSITION} <= {offset + limit}"
    )


def _placed(solutions: Solutions, keys: list[str]) -> Solutions:
    order = ", ".join([*keys, *quoted(solutions.names)]) or "1"
    position = (
        f"row_number() OVER (PARTITION BY {', '.join(quoted(solutions.keys))} ORDER BY {order})"
    )
    extras = tuple(column for column in solutions.extras if column != POSITION)
    columns = {column: str(name(column)) for column in (*solutions.keys, *extras, *solutions.names)}
    relation = solutions.relation.select(columns | {POSITION: position})
    return replace(solutions, relation=relation, extras=(*extras, POSITION))
