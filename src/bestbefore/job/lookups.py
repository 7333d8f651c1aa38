"""Lookups in a job file: services by HTTP with JSON or in a database, their keys and columns."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from bestbefore.errors import InputError, JobError, UnsupportedSparql, excerpt, nearest
from bestbefore.job.clients import read_asking, read_http_client
from bestbefore.job.job import Job, ServiceSettings, listed
from bestbefore.job.sections import Section, located
from bestbefore.query.algebra import BGP, Join, Pattern, Service, Variable, services_of
from bestbefore.query.continuous import Place
from bestbefore.query.expression_printing import print_term
from bestbefore.rdf.lexical_forms import datatype_iri
from bestbefore.rdf.plain_values import ValueForm
from bestbefore.rdf.terms import BlankNode
from bestbefore.service import ClientSettings
from bestbefore.service.http_lookup import KEYS, JsonBatch, JsonLookup, has_place
from bestbefore.service.json_pointer import Pointer
from bestbefore.service.lookup import PLAIN_TYPES, Column, KeyColumn
from bestbefore.service.sql_settings import DRIVERS, SqlSettings
from bestbefore.service.url_template import UrlTemplate, parse_url_template

T = TypeVar("T")

_UNITS = "units_per_request"
_POINTER, _COLUMN = "pointer", "column"
_NAMES = {
    "Filter": "FILTER",
    "LeftJoin": "OPTIONAL",
    "Union": "UNION",
    "Minus": "MINUS",
    "Extend": "BIND",
    "Values": "VALUES",
    "Graph": "GRAPH",
    "PathPattern": "a property path",
}
_USER = re.compile(r"^(https?://)[^/?#@]*@")


def read_http(section: Section, base: Path) -> ClientSettings:
    """The client of a section of kind `http`."""
    url = section.required_text("url", "where a unit is asked for, 'https://…?city={city}'")
    batch = section.table_of("batch")
    lookup = JsonLookup(
        url=_named(f"{section.name}.url", lambda: _template(url)),
        columns=_columns(section, _POINTER),
        keys=_keys(section, None),
        rows=_pointer(section, "rows"),
        modified=_pointer(section, "modified"),
        batch=None if batch is None else _batch(Section(f"{section.name}.batch", batch), url),
    )
    units = 1 if batch is None else Section(section.name, batch).integer(_UNITS, 50, least=1)
    if not lookup.columns:
        raise JobError(
            f"{section.name}.columns is missing: say where each variable is found in the JSON, "
            "columns = { temperature = '/main/temp' }"
        )
    if not lookup.url.names and lookup.batch is None:
        raise JobError(
            f"{section.name}.url = {excerpt(url)} names no key: write one in braces, such as "
            "'https://example.org/weather?city={city}', or add a batch"
        )
    return read_http_client(section, base, endpoint=url, lookup=lookup, units_per_request=units)


def _batch(section: Section, single: str) -> JsonBatch:
    url = section.text("url", None)
    template = _named(f"{section.name}.url", lambda: _template(url or single))
    body, separator = section.table_of("body"), section.text("separator", ",") or ","
    if url is not None and urlsplit(url)[:2] != urlsplit(single)[:2]:
        raise JobError(f"{section.name}.url must be on the server of url: both share its limits")
    if (body is None) != (template.names == (KEYS,)) or (body is not None and template.names):
        raise JobError(
            f"{section.name} needs {{{KEYS}}} once: in its url, 'https://…?ids={{{KEYS}}}', or in "
            f"its body, body = {{ ids = '{{{KEYS}}}' }}, and no other name in the url"
        )
    if body is not None and not has_place(body):
        raise JobError(
            f"{section.name}.body has no value '{{{KEYS}}}', where the list of keys belongs"
        )
    section.required_text("key", "the pointer from a row of the reply to its key, such as '/id'")
    key = _pointer(section, "key")
    assert key is not None  # noqa: S101 - it is required
    section.integer(_UNITS, 50, least=1)
    section.finish()
    return JsonBatch(url=template, key=key, separator=separator, body=body)


def read_sql(section: Section, base: Path) -> SqlSettings:
    """The client of a section of kind `sql`."""
    driver = section.choice("driver", DRIVERS)
    if driver == "sqlite":
        file = section.required_text("database", "the path of a SQLite file")
        database = str(located(base, file))
    else:
        found = section.secret_of("dsn_env", "dsn_file", base)
        if found is None:
            raise JobError(
                f"{section.name}.dsn_env is missing: the environment variable (or dsn_file, the "
                "file) with the connection string"
            )
        database = found
    given = {
        "columns": _columns(section, _COLUMN),
        "keys": _keys(section, _COLUMN),
        "table": section.text("table"),
        "query": section.text("query"),
        "modified": section.text("modified"),
        **read_asking(section, sql=True),
    }
    return _named(f"[{section.name}]", lambda: SqlSettings(driver, database, **given))


def _template(url: str) -> UrlTemplate:
    return parse_url_template(_USER.sub(r"\1", url))


def _columns(section: Section, place: str) -> tuple[Column, ...]:
    found = []
    for name, entry in _entries(section, "columns", place):
        where = entry.required_text(place, f"where ?{name} is found")
        if place == _POINTER:
            _named(f"{entry.name}.{place}", lambda where=where: Pointer(where))  # type: ignore[misc]
        found.append(Column(name, where, _form(entry)))
        entry.finish()
    return tuple(found)


def _keys(section: Section, place: str | None) -> tuple[KeyColumn, ...]:
    found = []
    for name, entry in _entries(section, "keys", "iri"):
        column = name if place is None else entry.text(place, name) or name
        kind = entry.choice("type", PLAIN_TYPES)
        found.append(KeyColumn(name, column, _form(entry), kind))
        entry.finish()
    return tuple(found)


def _entries(section: Section, key: str, plain: str) -> list[tuple[str, Section]]:
    """The entries of a table by variable; a string alone stands for the key `plain`."""
    entries = []
    for given, value in (section.table_of(key) or {}).items():
        name = given.lstrip("?")
        where = f"{section.name}.{key}.{name}"
        table = {plain: value} if isinstance(value, str) else value
        if not isinstance(table, dict):
            raise JobError(f"{where} = {excerpt(value)}: it must be a string or a table")
        entries.append((name, Section(where, table)))
    return entries


def _form(section: Section) -> ValueForm:
    datatype, language = section.text("datatype"), section.text("language")
    template = section.text("iri")
    return _named(
        section.name,
        lambda: ValueForm(datatype_iri(datatype) if datatype else None, language, template),
    )


def _pointer(section: Section, key: str) -> Pointer | None:
    text = section.text(key)
    return None if text is None else _named(f"{section.name}.{key}", lambda: Pointer(text))


def _named(key: str, make: Callable[[], T]) -> T:
    """What `make` makes; its complaint about the input gets the key of the job file."""
    try:
        return make()
    except InputError as error:
        raise JobError(f"{key}: {error}") from None


def check_lookups(job: Job) -> None:
    """Refuse SERVICE clauses that a lookup cannot answer, and columns that do not fit them."""
    for service in job.services:
        client = service.client
        if isinstance(client, SqlSettings) or (
            isinstance(client, ClientSettings) and client.lookup is not None
        ):
            _check_clause(job, service)
            _check_columns(service)
            _check_view(service)


def _check_clause(job: Job, service: ServiceSettings) -> None:
    for clause in services_of(job.query.pattern):
        if clause.iri == service.plan.iri and (trouble := _trouble(clause.pattern)) is not None:
            node, what = trouble
            place = _place(job, node, clause)
            raise UnsupportedSparql(
                f"{what} stands in SERVICE <{clause.iri}>, a lookup of keys and columns: it takes "
                "triples of two variables and a property, such as ?city :temperature ?t; "
                "write the rest outside of the SERVICE",
                line=place.line if place else None,
                column=place.column if place else None,
            )


def _place(job: Job, node: Any, clause: Service) -> Place | None:  # noqa: ANN401 - any node
    return job.query.places.of(node) or job.query.places.of(clause)


def _trouble(pattern: Pattern) -> tuple[Any, str] | None:
    """The part of a clause that a lookup cannot answer, and what it is."""
    match pattern:
        case BGP(triples):
            for triple in triples:
                if isinstance(triple.predicate, Variable):
                    return pattern, f"?{triple.predicate.name}, in the place of a property,"
                for term in (triple.subject, triple.object):
                    if not isinstance(term, Variable):
                        what = "a blank node" if isinstance(term, BlankNode) else print_term(term)
                        return pattern, f"{what}, in the place of a variable,"
            return None
        case Join(left, right):
            return _trouble(left) or _trouble(right)
    return pattern, _NAMES.get(type(pattern).__name__, "a subquery")


def _check_columns(service: ServiceSettings) -> None:
    client, name = service.client, f"services.{service.name}"
    variables = [variable.name for variable in service.plan.variables]
    keys, others = service.refresh_key, [one for one in variables if one not in service.refresh_key]
    lookup = client.lookup if isinstance(client, ClientSettings) else client
    assert isinstance(lookup, JsonLookup | SqlSettings)  # noqa: S101 - the caller has looked
    for column in lookup.keys:
        if column.name not in keys:
            raise JobError(
                f"{name}.keys.{column.name}: units are named by {listed(keys)}; "
                f"{nearest(column.name, keys)}"
            )
    for one in lookup.columns:
        if one.name not in others:
            raise JobError(
                f"{name}.columns.{one.name}: the SERVICE has no such column beside its key; "
                f"{nearest(one.name, others)}"
            )
    if isinstance(lookup, JsonLookup):
        _check_http(lookup, keys, others, name)


def _check_http(
    lookup: JsonLookup, keys: tuple[str, ...], others: list[str], name: str
) -> None:  # fmt: skip
    named = [column.name for column in lookup.columns]
    if missing := [one for one in others if one not in named]:
        raise JobError(
            f"{name}.columns has no {missing[0]}, which the SERVICE asks for: add "
            f"{missing[0]} = '/…', where it is in the JSON"
        )
    if lookup.url.names and set(lookup.url.names) != set(keys):
        raise JobError(
            f"{name}.url has places for {listed(lookup.url.names)}, and units are named by "
            f"{listed(keys)}: name each of these once in braces"
        )
    if lookup.batch is not None and len(keys) != 1:
        raise JobError(
            f"{name}.batch asks by one key, and units are named by {listed(keys)}: leave it out"
        )


def _check_view(service: ServiceSettings) -> None:
    name, client = f"services.{service.name}", service.client
    if service.view.interval_predicate:
        raise JobError(
            f"{name}: view.interval_predicate is for SPARQL; use view.interval_variable with a "
            "column of the lookup, or view.interval_file"
        )
    if service.view.modified_predicate:
        raise JobError(f"{name}: view.modified_predicate is for SPARQL; use {name}.modified")
    by_keys = isinstance(client, ClientSettings) or (
        isinstance(client, SqlSettings) and client.query is not None
    )
    if by_keys and not service.view.fill:
        raise JobError(
            f"{name} can be asked for keys only, and view.fill = 'start' (or another "
            "view.refresh_key than the join key) loads all: leave it out, or use kind = 'sql' "
            "with a table"
        )
