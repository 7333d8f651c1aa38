"""Solutions: the mappings of a pattern as a relation, and what is known of its columns.

A row belongs to one evaluation, told by its keys: `evaluation`, inside GRAPH ?g also `graph`,
inside EXISTS also the outer mapping. Mappings of triples and what is joined of them carry a *range*
instead (`from_evaluation` to `to_evaluation`), which is as exact and costs one row, not one per
evaluation. What is not monotone (OPTIONAL, MINUS, aggregates …) spreads ranges first.

Beside variables a relation may have these columns; what operators do with them:

- `mappings`, how many equal mappings a row stands for (1 if absent): a join multiplies, as OPTIONAL
  where there is a match; FILTER, MINUS and EXISTS keep that of the left; an aggregate weighs by it,
  DISTINCT forgets it; LIMIT, OFFSET and functions that draw anew expand it into single rows.
- `fresh`, the probability that the row is fresh (1 if absent): a join multiplies, as OPTIONAL where
  there is a match; FILTER, MINUS and EXISTS keep that of the left; a group has the product over
  its units, since rows of one unit share theirs; DISTINCT takes the largest.
- `time`, when the mapping begins to leave the window (null: never): a join takes the earlier one, a
  group and DISTINCT the latest.
- `position`, that in the order asked for: DISTINCT takes the first, GROUP_CONCAT goes by it; what
  has no order, as a join, drops it.
- `solution`, what tells a mapping from all others once BNODE has asked; a join drops it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from bestbefore.spark.columns import EVALUATION, FRESH, MAPPINGS, POSITION, RANGE, TIME, variable_of
from bestbefore.spark.expressions import Scope
from bestbefore.spark.relation import Relation
from bestbefore.spark.sql import NO_TERM, name

# What an extra column is where a relation does not have it.
ABSENT = {
    TIME: "bigint(NULL)",
    MAPPINGS: "1L",
    FRESH: "1D",
    POSITION: "bigint(NULL)",
}


@dataclass(frozen=True)
class Solutions:
    """The mappings of a pattern.

    `names` are the columns of variables (`?x`) and of blank nodes (`_:b`), `bound` those of them
    that are never null. Those that are `keyed` are what a SERVICE was asked for: where the other
    side of a join has none, there is nothing that it was asked for, and no match.
    """

    relation: Relation
    names: tuple[str, ...]
    bound: frozenset[str]
    keys: tuple[str, ...]
    extras: tuple[str, ...] = ()
    ranged: bool = False
    keyed: frozenset[str] = frozenset()

    @property
    def own(self) -> tuple[str, ...]:
        """The columns that tell to which evaluation, or evaluations, a row belongs."""
        return (*(RANGE if self.ranged else ()), *self.keys)

    @property
    def span(self) -> tuple[str, str]:
        """The columns of the first and the last evaluation of a row."""
        return RANGE if self.ranged else (EVALUATION, EVALUATION)

    @property
    def variables(self) -> tuple[str, ...]:
        """The columns of variables, without blank nodes."""
        return tuple(column for column in self.names if not column.startswith("_:"))

    @property
    def columns(self) -> dict[str, str]:
        """The columns of variables and blank nodes, in SQL."""
        return {column: name(column) for column in self.names}

    def scope(self) -> Scope:
        """What an expression over these mappings sees."""
        return Scope({variable_of(column): name(column) for column in self.variables})

    def carried(self, column: str) -> str:
        """An extra column, or what it is if absent."""
        return name(column) if column in self.extras else ABSENT[column]

    def filter(self, condition: str) -> "Solutions":
        """The mappings that satisfy a condition."""
        return replace(self, relation=self.relation.filter(condition))

    def with_column(self, column: str, sql: str) -> "Solutions":
        """The mappings with a column that they did not have; it is no variable's."""
        return replace(self, relation=self.relation.extend({column: sql}))

    def restricted(self, names: Iterable[str]) -> "Solutions":
        """The mappings with exactly these variables; what was not there is null."""
        kept = tuple(names)
        return self.select(
            {column: self.column(column) for column in kept}, bound=self.bound & {*kept}
        )

    def column(self, column: str) -> str:
        """A variable's column, null if nothing binds it."""
        return name(column) if column in self.names else NO_TERM

    def select(
        self,
        columns: Mapping[str, str],
        *,
        bound: frozenset[str],
        extras: tuple[str, ...] | None = None,
    ) -> "Solutions":
        """The mappings with other variables, given as SQL; extra columns are kept, or the named."""
        kept = self.extras if extras is None else extras
        carried: dict[str, str] = {column: name(column) for column in (*self.own, *kept)}
        relation = self.relation.select(carried | dict(columns))
        return replace(self, relation=relation, names=tuple(columns), bound=bound, extras=kept)

    def single(self) -> "Solutions":
        """The mappings one row each: a count of equal ones becomes as many rows."""
        if MAPPINGS not in self.extras:
            return self
        extras = tuple(column for column in self.extras if column != MAPPINGS)
        copies = {"copy": f"explode(sequence(1L, {name(MAPPINGS)}))"}
        rest = {column: str(name(column)) for column in (*self.own, *extras, *self.names)}
        relation = self.relation.select(copies | rest).drop("copy")
        return replace(self, relation=relation, extras=extras)


def spread(solutions: Solutions) -> Solutions:
    """The mappings with one row per evaluation that finds them."""
    if not solutions.ranged:
        return solutions
    rest = (*solutions.keys, *solutions.extras, *solutions.names)
    columns = {EVALUATION: f"explode(sequence({', '.join(RANGE)}))"}
    relation = solutions.relation.select(columns | {column: name(column) for column in rest})
    return replace(solutions, relation=relation, keys=(EVALUATION, *solutions.keys), ranged=False)


def union(left: Solutions, right: Solutions) -> Solutions:
    """The mappings of both, side by side."""
    if left.ranged != right.ranged:
        left, right = spread(left), spread(right)
    names = dict.fromkeys((*left.names, *right.names))
    extras = tuple(
        column for column in (TIME, MAPPINGS, FRESH) if column in (*left.extras, *right.extras)
    )
    one, other = (_aligned(side, left.own, extras, names) for side in (left, right))
    return replace(
        left,
        relation=one.union(other),
        names=tuple(names),
        bound=left.bound & right.bound,
        extras=extras,
    )


def _aligned(
    one: Solutions, own: tuple[str, ...], extras: tuple[str, ...], names: Iterable[str]
) -> Relation:
    columns: dict[str, str] = {column: name(column) for column in own}
    columns |= {column: one.carried(column) for column in extras}
    columns |= {column: one.column(column) for column in names}
    return one.relation.select(columns)
