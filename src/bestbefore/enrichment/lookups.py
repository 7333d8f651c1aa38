"""What a stream can be enriched with, each as the section of a job file that it stands for."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bestbefore.errors import InputError, ServiceError
from bestbefore.query import parse_sparql
from bestbefore.query.scope import visible_variables
from bestbefore.rdf.foreign_terms import NotATermError
from bestbefore.rdf.lexical_forms import INTEGER_TYPES, datatype_iri
from bestbefore.rdf.plain_values import ValueForm
from bestbefore.rdf.terms import XSD, Key, Row
from bestbefore.service import Fetched, Loaded, Service, ServicePattern
from bestbefore.service.kinds import service_kinds
from bestbefore.service.lookup import KeyColumn, Plain, Units

Settings = Mapping[str, Any]
PYTHON = "python"
"""The kind of service that a function of the user's program is."""

SPARK_TYPES = {
    **dict.fromkeys(INTEGER_TYPES, "BIGINT"),
    **{f"{XSD}{name}": "DOUBLE" for name in ("decimal", "double", "float")},
    f"{XSD}boolean": "BOOLEAN",
    f"{XSD}dateTime": "TIMESTAMP",
    f"{XSD}date": "DATE",
}
"""The Spark type of a literal's datatype; all others are strings."""


@dataclass(frozen=True)
class Asked:
    """A lookup as the engine asks it: its section, its triples, and the variables of columns.

    `keys` says of each column that is joined on what term its value becomes, `types` has the Spark
    types that are known before anything was looked up.
    """

    section: Settings
    pattern: str
    keys: Mapping[str, str]
    columns: Mapping[str, str]
    forms: Mapping[str, ValueForm] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class HttpLookup:
    """A lookup by HTTP with JSON.

    `url` names the columns that are joined on in braces, `columns` are JSON pointers. A column may
    also be a table, `{"pointer": "/t", "datatype": "xsd:integer"}`. `rows`, `batch` and `settings`
    are the keys of `[services.NAME]` in a job file (docs/lookups.md).
    """

    url: str
    columns: Mapping[str, Any]
    rows: str | None = None
    batch: Settings | None = None
    settings: Settings = field(default_factory=dict)

    def asked(self, on: Sequence[str]) -> Asked:
        """How the engine asks it for the values of some columns."""
        keys, columns = _numbered("k", on), _numbered("c", self.columns)
        section: dict[str, Any] = {"kind": "http", "url": _renamed(self.url, keys), **self.settings}
        section["columns"] = {columns[name]: place for name, place in self.columns.items()}
        if self.rows is not None:
            section["rows"] = self.rows
        if self.batch is not None:
            section["batch"] = dict(self.batch)
        types = _types(self.columns)
        return Asked(section, _triples(keys, columns), keys, columns, types=types)


@dataclass(frozen=True)
class SqlLookup:
    """A lookup in a database: in a `table`, or by a `query` with `{keys}`.

    `columns` are names, or new names by those in the database; `keys` the names there of columns
    that are joined on, if they are others. `database` is the path of a SQLite file; for PostgreSQL
    `settings` have `driver` and `dsn_env`, and for both all else of `[services.NAME]`.
    """

    columns: Mapping[str, Any] | Sequence[str]
    table: str | None = None
    query: str | None = None
    database: str | None = None
    keys: Mapping[str, str] = field(default_factory=dict)
    settings: Settings = field(default_factory=dict)

    def asked(self, on: Sequence[str]) -> Asked:
        """How the engine asks it for the values of some columns."""
        given = self.columns
        places = given if isinstance(given, Mapping) else {name: name for name in given}
        keys, columns = _numbered("k", on), _numbered("c", places)
        if unknown := [name for name in self.keys if name not in keys]:
            raise InputError(f"keys has {unknown[0]!r}, but the join is on {', '.join(on)}")
        section: dict[str, Any] = {"kind": "sql", **self.settings}
        wanted = {"table": self.table, "query": self.query, "database": self.database}
        section |= {key: value for key, value in wanted.items() if value is not None}
        section["columns"] = {columns[name]: place for name, place in places.items()}
        section["keys"] = {name: {"column": self.keys.get(key, key)} for key, name in keys.items()}
        return Asked(section, _triples(keys, columns), keys, columns, types=_types(places))


@dataclass(frozen=True)
class SparqlLookup:
    """A lookup at a SPARQL endpoint: a pattern, whose variables are columns.

    Those that are joined on have the names of the stream's columns. `keys` says what term a value
    becomes: the template of an IRI such as `http://example.org/user/{}`, or a table with `iri`,
    `datatype` or `language`; without it is a plain literal.
    """

    endpoint: str
    pattern: str
    keys: Mapping[str, Any] = field(default_factory=dict)
    settings: Settings = field(default_factory=dict)

    def asked(self, on: Sequence[str]) -> Asked:
        """How the engine asks it for the values of some columns."""
        _, pattern, _ = parse_sparql(f"SELECT * WHERE {{ {self.pattern} }}")
        found = [variable.name for variable in visible_variables(pattern)]
        if missing := [name for name in on if name not in found]:
            known = ", ".join(f"?{name}" for name in found)
            raise InputError(f"the pattern has no ?{missing[0]} to join on; it has {known}")
        columns = {name: name for name in found if name not in on}
        forms = {name: _form(value) for name, value in self.keys.items()}
        section = {"kind": "sparql", "endpoint": self.endpoint, **self.settings}
        return Asked(section, self.pattern, {name: name for name in on}, columns, forms)


Function = Callable[[list[Any]], Mapping[Any, Any]]
Lookup = HttpLookup | SqlLookup | SparqlLookup | Service | Function


def ask(lookup: Lookup, on: Sequence[str], columns: Sequence[str] | None) -> Asked:
    """How the engine asks a lookup, whatever it is."""
    if isinstance(lookup, HttpLookup | SqlLookup | SparqlLookup):
        return lookup.asked(on)
    if not columns:
        raise InputError(
            "what a function gives is not known before it is called: name its columns and their "
            "types, columns={'followers': 'bigint'}"
        )
    keys, named = _numbered("k", on), _numbered("c", columns)
    section = {"kind": PYTHON, "lookup": lookup, "columns": named}
    return Asked(section, _triples(keys, named), keys, named)


@dataclass(frozen=True)
class FunctionService:
    """A function from keys to what is known of each, as a service."""

    function: Function
    columns: Mapping[str, str]
    units: Units

    def load(self, *, requests_allowed: int | None = None) -> Loaded:  # noqa: ARG002
        """Nobody knows all keys."""
        raise ServiceError("a function cannot be asked for all that it knows")

    def fetch(
        self,
        keys: Sequence[Key],
        *,
        requests_allowed: int | None = None,  # noqa: ARG002 - it is called once
        deadline_s: float | None = None,  # noqa: ARG002 - it is waited for
    ) -> Fetched:
        """What the function says of the keys; if it fails, so do all of them."""
        try:
            plain = {key: self._plain(key) for key in keys}
            found = self.function(list(dict.fromkeys(plain.values())))
            rows = {key: self._rows(key, found.get(value)) for key, value in plain.items()}
        except Exception as error:
            # It is the user's, and may raise anything.
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            failed = dict.fromkeys(keys, reason)
            return Fetched({}, failed, requests=1, state="failed")
        invalid = sum(len(bad) for _, bad in rows.values())
        spoilt = {key: bad[0] for key, (good, bad) in rows.items() if bad and not good}
        kept = {key: tuple(good) for key, (good, _) in rows.items() if key not in spoilt}
        return Fetched(
            kept, spoilt, requests=1, invalid=invalid, state="degraded" if spoilt else "ok"
        )

    def close(self) -> None:
        """Nothing is open."""

    def _plain(self, key: Key) -> Plain | tuple[Plain, ...]:
        plain = self.units.plain(key)
        return plain[0] if len(plain) == 1 else plain

    def _rows(self, key: Key, found: object) -> tuple[list[Row], list[str]]:
        """The rows that were found for a key, and why others are none."""
        several = found if isinstance(found, list | tuple) else [] if found is None else [found]
        good, bad = list[Row](), list[str]()
        for one in several:
            try:
                good.append(self._row(key, one))
            except (NotATermError, InputError) as error:
                bad.append(str(error))
        return good, bad

    def _row(self, key: Key, found: object) -> Row:
        if not isinstance(found, Mapping):
            raise InputError(f"{found!r} is no row; give a dictionary from columns to values")
        pattern = self.units.pattern
        cells: dict[str, str | None] = dict(zip(pattern.key, key, strict=True))
        for name, variable in self.columns.items():
            value = found.get(name)
            cells[variable] = None if value is None else ValueForm().encode(value)
        return tuple(cells[variable] for variable in pattern.variables)


@service_kinds.register(PYTHON)
def function_service(settings: Settings, pattern: ServicePattern) -> Service:
    """The service that a function is, or the one that was handed over."""
    lookup = settings["lookup"]
    if hasattr(lookup, "fetch") and hasattr(lookup, "load"):
        given: Service = lookup
        return given
    integers = settings.get("integers", ())
    keys = tuple(KeyColumn(name, name, type="integer") for name in integers)
    return FunctionService(lookup, settings["columns"], Units(pattern, keys))


def _numbered(letter: str, names: Sequence[str] | Mapping[str, Any]) -> dict[str, str]:
    """A variable for each name, whatever the name holds."""
    return {name: f"{letter}{number}" for number, name in enumerate(names)}


def _renamed(url: str, keys: Mapping[str, str]) -> str:
    return re.sub(r"\{([^{}]*)\}", lambda hit: f"{{{keys.get(hit[1], hit[1])}}}", url)


def _triples(keys: Mapping[str, str], columns: Mapping[str, str]) -> str:
    """The triples of a lookup: all that there is stands with the first key."""
    first, *others = keys.values()
    return " ".join(
        f"?{first} <urn:bestbefore:{name}> ?{name} ." for name in (*others, *columns.values())
    )


def _types(columns: Mapping[str, Any]) -> dict[str, str]:
    """The Spark types of columns whose datatype is stated."""
    stated = {
        name: one.get("datatype") for name, one in columns.items() if isinstance(one, Mapping)
    }
    typed = {name: datatype_iri(text) for name, text in stated.items() if text}
    return {name: SPARK_TYPES.get(iri, "STRING") for name, iri in typed.items()}


def _form(value: Any) -> ValueForm:  # noqa: ANN401 - what the user wrote
    if isinstance(value, str):
        return ValueForm(iri=value)
    given = dict(value)
    if datatype := given.pop("datatype", None):
        given["datatype"] = datatype_iri(datatype)
    return ValueForm(**given)
