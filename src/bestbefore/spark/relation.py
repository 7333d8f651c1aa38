"""Relations: tables that SQL describes, put together before there is any data.

A query is compiled once, into one text per job; a batch only binds data to it. Spark takes less
than half the time for a text than for the same operators as DataFrame calls, and less for nested
subqueries than for named ones: only what is used twice gets a name.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Literal, Protocol

from pyspark.sql import DataFrame, SparkSession

from bestbefore.spark.sql import aliased, call, name, parameter, quoted, with_parameters

How = Literal["inner", "left_outer", "left_semi", "left_anti", "cross"]


@dataclass(frozen=True, eq=False)
class Relation:
    """A table with named columns: one that Spark knows, or what a SELECT makes of others.

    `pieces` are the text, with relations where it names them. A relation that only filters has its
    `source` and the `condition`, so that what comes next can be the same SELECT.
    """

    columns: tuple[str, ...]
    pieces: "tuple[str | Relation, ...]"
    source: "Relation | None" = None
    condition: str = ""
    made_by: "Maker | None" = None

    @staticmethod
    def table(view: str, columns: Iterable[str], made_by: "Maker | None" = None) -> "Relation":
        """A table that Spark knows by the name of a temporary view, once it is made."""
        return Relation(tuple(columns), (view,), made_by=made_by)

    @property
    def is_table(self) -> bool:
        """Whether this is a table that Spark knows."""
        return len(self.pieces) == 1

    def select(self, columns: Mapping[str, str], *, hint: str = "") -> "Relation":
        """Columns given in SQL, by their names."""
        return Relation(tuple(columns), (f"SELECT {hint}{_listed(columns)} FROM ", *self._from))

    def keep(self, columns: Iterable[str], *, hint: str = "") -> "Relation":
        """Some of the columns."""
        return self.select({column: name(column) for column in columns}, hint=hint)

    def extend(self, columns: Mapping[str, str]) -> "Relation":
        """All columns, and some more that are given in SQL."""
        return self.select({column: name(column) for column in self.columns} | dict(columns))

    def drop(self, *columns: str) -> "Relation":
        """All columns but some."""
        return self.keep(column for column in self.columns if column not in columns)

    def generate(
        self, columns: Mapping[str, str], made: Sequence[str], generator: str
    ) -> "Relation":
        """Columns given in SQL, and those that a generator such as `inline(…)` makes of a row."""
        listed = ", ".join(filter(None, (_listed(columns), generator)))
        return Relation((*columns, *made), (f"SELECT {listed} FROM ", *self._from))

    def filter(self, condition: str) -> "Relation":
        """The rows for which a condition is true."""
        source = self.source or self
        both = call("and", self.condition, condition) if self.source else condition
        return Relation(self.columns, ("SELECT * FROM ", source, _where(both)), source, both)

    def distinct(self) -> "Relation":
        """The rows without repetitions."""
        return Relation(self.columns, ("SELECT DISTINCT * FROM ", *self._from))

    def group(self, by: Iterable[str], aggregates: Mapping[str, str]) -> "Relation":
        """One row per group, with its aggregates."""
        keys = quoted(by := tuple(by))
        listed = ", ".join((*keys, *aliased(aggregates)))
        grouping = f" GROUP BY {', '.join(keys)}" if keys else ""
        pieces = (f"SELECT {listed} FROM ", *self._from, grouping)
        return Relation((*by, *aggregates), pieces)

    def union(self, other: "Relation") -> "Relation":
        """The rows of both; a column that only one of them has is null in the other."""
        columns = dict.fromkeys((*self.columns, *other.columns))
        one, two = (_aligned(side, tuple(columns)) for side in (self, other))
        return Relation(tuple(columns), ("SELECT * FROM ", one, " UNION ALL SELECT * FROM ", two))

    def join(
        self, other: "Relation", condition: str, how: How = "inner", *, hashed: bool = False
    ) -> "Relation":
        """The rows of both for which a condition is true; no column has a name in both.

        With `hashed` Spark is told to look up the right side in a table.
        """
        hint = "/*+ SHUFFLE_HASH(other) */ " if hashed else ""
        kept = (
            self.columns if how in ("left_semi", "left_anti") else (*self.columns, *other.columns)
        )
        kind = how.upper().replace("_", " ")
        on = f" AS other ON {condition}" if condition else " AS other"
        pieces = (f"SELECT {hint}* FROM ", self, f" AS one {kind} JOIN ", other, on)
        return Relation(kept, pieces)

    @property
    def _from(self) -> "tuple[str | Relation, ...]":
        """What a SELECT of this one is from."""
        return (self.source, _where(self.condition)) if self.source else (self,)

    def statement(self) -> "Statement":
        """What Spark is told to get the rows."""
        made = [one.made_by for one in _inner_first(self) if one.made_by is not None]
        return Statement(self._text(), self.columns, tuple(made))

    def _text(self) -> str:
        if self.is_table:
            return f"SELECT * FROM {self.pieces[0]}"
        order = _inner_first(self)
        uses = Counter(below for one in order for below in _below(one))
        names, parts = dict[Relation, str](), list[str]()
        for one in order:
            text = "".join(
                piece if isinstance(piece, str) else names[piece] for piece in one.pieces
            )
            if one.is_table:
                names[one] = text
            elif uses[one] > 1:
                names[one] = f"shared{len(parts)}"
                parts.append(f"{names[one]} AS ({text})")
            else:
                names[one] = f"({text})"
        return f"WITH {', '.join(parts)} {text}" if parts else text


class Maker(Protocol):
    """What makes a table that no single statement can make."""

    def make(self, spark: SparkSession, parameters: Mapping[str, str]) -> None:
        """Make the table, as a temporary view."""
        ...


@dataclass(frozen=True)
class Statement:
    """A compiled relation: its text with parameters, and what makes the tables that it needs."""

    text: str
    columns: tuple[str, ...]
    made: tuple[Maker, ...] = ()

    def has_parameter(self, title: str) -> bool:
        """Whether the text has a place for a parameter."""
        return parameter(title) in self.text

    def on(self, spark: SparkSession, parameters: Mapping[str, str]) -> DataFrame:
        """The rows as a DataFrame of a session that knows the tables."""
        for maker in self.made:
            maker.make(spark, parameters)
        return spark.sql(with_parameters(self.text, parameters))


def name_table(rows: DataFrame, view: str) -> None:
    """Let the session of a frame know its rows by a name, as a temporary view.

    To replace a view of Spark's lets go of what any session has kept that looks at a view of the
    same name: what another query has kept for its job B among it. To drop one first does not, and
    dropping one through the public catalog does.
    """
    rows.sparkSession._jsparkSession.sessionState().catalog().dropTempView(view)
    rows.createTempView(view)


def union_all(relations: Iterable[Relation]) -> Relation:
    """The rows of several relations."""
    return reduce(Relation.union, relations)


def _where(condition: str) -> str:
    # Without an alias, Spark would take `WHERE (x)` for one.
    return f" AS it WHERE {condition}"


def _listed(columns: Mapping[str, str]) -> str:
    return ", ".join(
        sql if sql == name(column) else f"{sql} AS {name(column)}"
        for column, sql in columns.items()
    )


def _aligned(relation: Relation, columns: tuple[str, ...]) -> Relation:
    if relation.columns == columns:
        return relation
    return relation.select(
        {column: name(column) if column in relation.columns else "NULL" for column in columns}
    )


def _inner_first(relation: Relation) -> list[Relation]:
    """The relation and all below it, each once and after those that it is made of."""
    found, pending = dict[Relation, None](), [relation]
    while pending:
        one = pending[-1]
        if one in found:
            pending.pop()
        elif below := [inner for inner in _below(one) if inner not in found]:
            pending += reversed(below)
        else:
            found[one] = None
    return list(found)


def _below(relation: Relation) -> Iterator[Relation]:
    return (piece for piece in relation.pieces if isinstance(piece, Relation))
