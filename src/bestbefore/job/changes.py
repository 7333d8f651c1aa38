"""Streams that name changed units: `[services.NAME.changes]` of a job file."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from bestbefore.errors import JobError
from bestbefore.job.job import CHANGED, ServiceSettings, listed
from bestbefore.job.sections import Section
from bestbefore.job.streams import read_stream
from bestbefore.service import ClientSettings
from bestbefore.service.lookup import KeyColumn
from bestbefore.service.sql_settings import SqlSettings

_NO_TIME = ("allowed_lateness", "clock_skew")


def read_changes(section: Section, service: ServiceSettings, base: Path) -> ServiceSettings:
    """A service with the stream that names its changed units, if the job has one."""
    table = section.table_of("changes")
    if table is None:
        return service
    name = f"{section.name}.changes"
    if len(service.refresh_key) != 1:
        raise JobError(
            f"{name} names units by one key, and these are named by {listed(service.refresh_key)}:"
            " leave it out"
        )
    if service.ahead:
        raise JobError(
            f"{name} and budget.ahead = true exclude each other: what was asked ahead of time may "
            "be older than the change"
        )
    if given := [key for key in _NO_TIME if key in table]:
        raise JobError(f"{name}.{given[0]}: a change counts whenever it comes; leave it out")
    keys = {column.name: column for column in _key_columns(service)}
    mapped = Section(name, _mapped(table, name, keys.get(service.refresh_key[0])))
    stream = read_stream(mapped, f"{CHANGED}:{service.name}", base)
    return replace(service, changes=replace(stream, name=f"{service.name}.changes"))


def _mapped(table: Mapping[str, Any], name: str, key: KeyColumn | None) -> dict[str, Any]:
    """The table with the one triple that a plain row gives: it has the key as its object."""
    rest = {entry: value for entry, value in table.items() if entry != "key"}
    if "triples" in table:
        raise JobError(f"{name}.triples: a row names one unit; write key = 'column' or subject")
    if (column := table.get("key")) is not None:
        if not isinstance(column, str) or "subject" in table:
            raise JobError(f"{name}.key must be the name of a column, and there is no subject then")
        term = _object(column, key, name)
        return {**rest, "triples": [{"subject": CHANGED, "predicate": CHANGED, "object": term}]}
    if (subject := table.get("subject")) is not None:
        return {**rest, "triples": [{"predicate": CHANGED, "object": {"iri": subject}}]}
    return rest


def _object(column: str, key: KeyColumn | None, name: str) -> dict[str, str]:
    """The term that the value of a column is, as the service's keys have it."""
    if key is None:
        return {"column": column}
    form = key.form
    if form.iri == "{}":
        raise JobError(f"{name}.key: the values are IRIs themselves; write the changes as triples")
    if form.iri is not None:
        return {"iri": form.iri.replace("{}", f"{{{column}}}")}
    given = {"column": column, "datatype": form.datatype, "language": form.language}
    return {entry: value for entry, value in given.items() if value is not None}


def _key_columns(service: ServiceSettings) -> tuple[KeyColumn, ...]:
    client = service.client
    if isinstance(client, SqlSettings):
        return client.keys
    if isinstance(client, ClientSettings) and client.lookup is not None:
        return client.lookup.keys
    return ()
