"""SQL as a dialect: one statement with IN per batch, whose keys are never anything but values."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from bestbefore.errors import InputError
from bestbefore.rdf.terms import Key
from bestbefore.service.call import Question
from bestbefore.service.lookup import MODIFIED, Column, KeyColumn, LookupRows, PlainKey, Units
from bestbefore.service.message import Statement
from bestbefore.service.no_answer import NoAnswerError
from bestbefore.service.request import ServicePattern
from bestbefore.service.results import Rows, Wanted
from bestbefore.service.sql_settings import PLACE, SqlSettings

# A column that does not exist would be a text in SQLite's eyes, unless it is named with its table.
_TABLE = "looked_up"


@dataclass(frozen=True, slots=True)
class Sql:
    """How a database is asked."""

    settings: SqlSettings
    pattern: ServicePattern

    def refusal(self, key: Key) -> str | None:
        """The reason why a key can never be sent, or `None` if it can."""
        try:
            self._units.plain(key)
        except InputError as error:
            return f"never sent: {error}"
        return None

    def units(self, keys: Sequence[Key]) -> Question:
        """The statement for units."""
        asked, settings = self._units.by_plain(keys), self.settings
        values = tuple(value for plain in asked for value in plain)
        wanted = Wanted(self.pattern.variables, settings.max_rows)
        rows_of = partial(self._rows, wanted=wanted, asked=asked)
        statement = Statement(self._restricted(len(asked)), values, rows_of)
        return Question(statement, settings.timeout_s)

    def page(self, offset: int) -> Question:  # noqa: ARG002 - all is one page
        """The statement for all mappings."""
        if self.settings.query is not None:
            raise NoAnswerError("a query with {keys} cannot be asked for all that there is")
        rows_of = partial(self._rows, wanted=Wanted(self.pattern.variables), asked=None)
        statement = Statement(self._select(), (), rows_of)
        return Question(statement, self.settings.load_timeout_s, comparable=False)

    def sample(self) -> Statement:
        """The statement that finds out whether table and columns exist."""
        none = partial(self._rows, wanted=Wanted(self.pattern.variables), asked={})
        if self.settings.query is None:
            return Statement(f"{self._select()} LIMIT 0", (), none)
        # Its columns are known without a row of it.
        text = f"SELECT * FROM ({self._restricted(1)}\n) AS {_TABLE} LIMIT 0"  # noqa: S608
        return Statement(text, (None,) * len(self.pattern.key), none)

    @property
    def _units(self) -> Units:
        return Units(self.pattern, self.settings.keys)

    @property
    def _columns(self) -> tuple[Column, ...]:
        given = {column.name: column for column in self.settings.columns}
        if self.settings.modified is not None:
            given[MODIFIED] = Column(MODIFIED, self.settings.modified)
        return tuple(given.get(name) or Column(name, name) for name in self.pattern.others)

    def _select(self) -> str:
        """The statement for the whole table."""
        keys, columns = self._units.columns, self._columns
        names = [one.place for one in keys] + [one.place for one in columns]
        selected = ", ".join(f"{_TABLE}.{quoted(name)}" for name in names)
        table = ".".join(map(quoted, str(self.settings.table).split(".")))
        return f"SELECT {selected} FROM {table} AS {_TABLE}"  # noqa: S608 - names are quoted

    def _restricted(self, keys: int) -> str:
        """The statement for so many keys."""
        before, after = self._around_keys()
        if self.settings.driver == "postgresql":
            before, after = before.replace("%", "%%"), after.replace("%", "%%")
        return f"{before}{self._places(keys)}{after}"

    def _around_keys(self) -> tuple[str, str]:
        """What stands before and after the keys."""
        if self.settings.query is not None:
            before, _, after = self.settings.query.partition(PLACE)
            return before, after
        names = [f"{_TABLE}.{quoted(column.place)}" for column in self._units.columns]
        key = names[0] if len(names) == 1 else f"({', '.join(names)})"
        most = "" if self.settings.max_rows is None else f" LIMIT {self.settings.max_rows}"
        return f"{self._select()} WHERE {key} IN (", f"){most}"

    def _places(self, keys: int) -> str:
        """The places of so many keys within the brackets of IN."""
        width, mark = len(self.pattern.key), "?" if self.settings.driver == "sqlite" else "%s"
        if width == 1:
            return ", ".join([mark] * keys)
        rows = ", ".join([f"({', '.join([mark] * width)})"] * keys)
        # SQLite compares rows with those of VALUES only; PostgreSQL would take these for texts.
        return f"VALUES {rows}" if self.settings.driver == "sqlite" else rows

    def _rows(
        self,
        names: Sequence[str],
        rows: Iterable[Sequence[object]],
        *,
        wanted: Wanted,
        asked: Mapping[PlainKey, Sequence[Key]] | None,
    ) -> Rows:
        keys = self._units.columns
        key_at = [_position(column, names) for column in keys]
        value_at = [_position(column, names) for column in self._columns]
        found = LookupRows(wanted, self._columns, keys, asked)
        for row in rows:
            found.add([row[at] for at in value_at], [row[at] for at in key_at])
        return found.finish()


def _position(column: Column | KeyColumn, names: Sequence[str]) -> int:
    if column.place not in names:
        raise NoAnswerError(
            f"the result has no column {column.place!r} for ?{column.name}; it has "
            f"{', '.join(names)}"
        )
    return names.index(column.place)


def quoted(name: str) -> str:
    """A name in SQL, whatever it holds."""
    doubled = name.replace('"', '""')
    return f'"{doubled}"'
