"""Lookups: services of keys and columns, which have no query language for RDF."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Literal

from bestbefore.errors import InputError
from bestbefore.rdf.foreign_terms import NotATermError
from bestbefore.rdf.plain_values import ValueForm, lexical_form
from bestbefore.rdf.terms import Key
from bestbefore.service.request import ServicePattern
from bestbefore.service.results import RowCollector, Rows, Wanted

MODIFIED = "bestbefore_modified"
"""The variable of the time at which a unit has last changed, as its source states it."""

PlainType = Literal["text", "integer", "number"]
PLAIN_TYPES: tuple[PlainType, ...] = ("text", "integer", "number")
Plain = str | int | float
PlainKey = tuple[Plain, ...]
# Databases have no larger integers.
_LEAST, _MOST, _DIGITS = -(2**63), 2**63 - 1, 40


@dataclass(frozen=True, slots=True)
class Column:
    """A variable that a lookup binds: where its value is in a reply, and the term it becomes."""

    name: str
    place: str
    form: ValueForm = field(default_factory=ValueForm)


@dataclass(frozen=True, slots=True)
class KeyColumn:
    """A variable that names units: the plain value that it stands for, and where that belongs."""

    name: str
    place: str
    form: ValueForm = field(default_factory=ValueForm)
    type: PlainType = "text"

    def plain(self, encoded: str) -> Plain:
        """The plain value of an encoded term; one without is an `InputError`."""
        return self._typed(self.form.plain(encoded))

    def read(self, value: object) -> Plain:
        """A value in a reply as `plain` would have it; `NotATermError` if it is none."""
        try:
            return self._typed(lexical_form(value)[0])
        except InputError as error:
            raise NotATermError(str(error)) from None

    def _typed(self, text: str) -> Plain:
        if self.type == "text":
            return text
        try:
            number = int(text) if self.type == "integer" else float(text)
        except ValueError:
            number = float("nan")
        if len(text) > _DIGITS or not isfinite(number) or not _LEAST <= number <= _MOST:
            raise InputError(f"{text!r} is no {self.type} that a service can be asked for")
        return number


@dataclass(frozen=True, slots=True)
class Units:
    """The keys of a SERVICE pattern and what they are as plain values.

    `given` are the key columns that a job describes; any other key is a literal, asked for by its
    lexical form under the name of its variable.
    """

    pattern: ServicePattern
    given: tuple[KeyColumn, ...] = ()

    @property
    def columns(self) -> tuple[KeyColumn, ...]:
        """The key columns in the order of the key."""
        known = {column.name: column for column in self.given}
        return tuple(known.get(name) or KeyColumn(name, name) for name in self.pattern.key)

    def plain(self, key: Key) -> PlainKey:
        """The plain values of a key; one that has none is an `InputError`."""
        if len(key) != len(self.pattern.key):
            raise InputError(
                f"the key {key!r} has {len(key)} values, the pattern's key has "
                f"{len(self.pattern.key)}"
            )
        return tuple(column.plain(term) for column, term in zip(self.columns, key, strict=True))

    def by_plain(self, keys: Iterable[Key]) -> dict[PlainKey, list[Key]]:
        """Keys by their plain values, which several may share."""
        found: dict[PlainKey, list[Key]] = {}
        for key in keys:
            found.setdefault(self.plain(key), []).append(key)
        return found


class LookupRows:
    """The rows of one reply, from plain values.

    A value that is null or missing leaves its variable unbound. `asked` are the keys that rows may
    be of, None where all rows are wanted.
    """

    def __init__(
        self,
        wanted: Wanted,
        columns: Sequence[Column],
        keys: Sequence[KeyColumn] = (),
        asked: Mapping[PlainKey, Sequence[Key]] | None = None,
    ) -> None:
        self._columns, self._keys, self._asked = columns, keys, asked
        self._rows = RowCollector(wanted, _encoded)
        self._rows.name(wanted.variables)

    def add(self, values: Sequence[object], key: Sequence[object] = ()) -> None:
        """Take one row: a value per column, and one per key column where the reply has those."""
        cells: dict[str, Any] = {
            column.name: (column.form, value)
            for column, value in zip(self._columns, values, strict=True)
            if value is not None
        }
        for known in self._terms(key):
            self._rows.add({**cells, **known})

    def add_unreadable(self) -> None:
        """Take one row of which nothing can be read."""
        self._rows.add(dict.fromkeys(self._rows.variables[:1]))

    def finish(self) -> Rows:
        """All rows, if they can be all."""
        return self._rows.finish()

    def _terms(self, key: Sequence[object]) -> Iterable[dict[str, Any]]:
        """What the key columns of a row are, once for each of the keys that share its values."""
        if not self._keys:
            return [{}]
        found: Sequence[Key] = ()
        if self._asked is not None:
            try:
                plain = tuple(one.read(value) for one, value in zip(self._keys, key, strict=True))
                found = self._asked.get(plain, ())
            except NotATermError:
                found = ()
        if found:
            return [
                dict(zip((one.name for one in self._keys), terms, strict=True)) for terms in found
            ]
        return [{one.name: (one.form, value) for one, value in zip(self._keys, key, strict=True)}]


def _encoded(cell: Any) -> str:  # noqa: ANN401 - a term, or a form and a value of any type
    match cell:
        case str():
            return cell
        case (ValueForm() as form, value):
            return form.encode(value)
    raise NotATermError("nothing of it can be read")
