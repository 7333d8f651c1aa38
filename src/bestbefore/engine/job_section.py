"""Reading one section of a job file: each key typed, each mistake named with its place."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from bestbefore.errors import InputError, JobError, nearest
from bestbefore.time import parse_duration_ms

T = TypeVar("T")


@dataclass
class Section:
    """A table of a job file that remembers which of its keys were read."""

    name: str
    table: Mapping[str, Any]
    _known: set[str] = field(default_factory=set)

    def value(self, key: str) -> Any:  # noqa: ANN401 - whatever TOML has there
        """The value of a key as it stands, None if it is not given."""
        return self.table.get(self._note(key))

    def text(self, key: str, default: str | None = None) -> str | None:
        """A string."""
        return self._typed(key, str, "a string", default)

    def required_text(self, key: str, why: str) -> str:
        """A string that has no default."""
        value = self.text(key)
        if not value:
            raise JobError(f"{self.name}.{key} is missing: {why}")
        return value

    def integer(self, key: str, default: int, *, least: int = 0) -> int:
        """A whole number of at least `least`."""
        value = self._typed(key, int, "a whole number", default)
        if isinstance(value, bool) or value is None or value < least:
            raise JobError(f"{self.name}.{key} = {value!r}: it must be a whole number ≥ {least}")
        return value

    def optional_integer(self, key: str, *, least: int = 1) -> int | None:
        """A whole number, or None if it is not given."""
        return self.integer(key, least, least=least) if self._note(key) in self.table else None

    def flag(self, key: str, *, default: bool) -> bool:
        """A truth value."""
        value = self._typed(key, bool, "true or false", default)
        return bool(value)

    def duration_ms(self, key: str, default: str | None) -> int | None:
        """A duration such as `10s`, in milliseconds."""
        text = self._typed(key, str, "a duration such as '10s'", default)
        if text is None:
            return None
        try:
            return parse_duration_ms(text)
        except InputError as error:
            raise JobError(f"{self.name}.{key}: {error}") from None

    def choice(self, key: str, choices: Iterable[str], default: str) -> str:
        """One of some words."""
        value = self.text(key, default) or default
        if value not in (words := list(choices)):
            raise JobError(f"{self.name}.{key} = {value!r}; {nearest(value, words)}")
        return value

    def texts(self, key: str) -> tuple[str, ...] | None:
        """A list of one or more different strings, or None if it is not given."""
        value = self._typed(key, list, "a list of strings", None)
        if value is None:
            return None
        proper = value and all(isinstance(each, str) and each for each in value)
        if not proper or len(set(value)) < len(value):
            raise JobError(f"{self.name}.{key} = {value!r}: it must be a list of different strings")
        return tuple(value)

    def mapping(self, key: str) -> dict[str, str]:
        """A table of strings."""
        value = self._typed(key, dict, "a table", {}) or {}
        return {str(name): str(each) for name, each in value.items()}

    def subsection(self, key: str, why: str) -> "Section":
        """A table that has no default, as a section of its own."""
        value = self._typed(key, dict, "a table", None)
        if value is None:
            raise JobError(f"{self.name}.{key} is missing: {why}")
        return Section(f"{self.name}.{key}", value)

    def subsections(self, key: str) -> list["Section"]:
        """The tables of a list, each as a section of its own; none if it is not given."""
        tables = self._typed(key, list, "a list of tables", None) or []
        if not all(isinstance(each, dict) for each in tables):
            raise JobError(f"{self.name}.{key}: write each entry as [[{self.name}.{key}]]")
        return [Section(f"{self.name}.{key}[{n}]", each) for n, each in enumerate(tables, 1)]

    def secret(self, key: str, variable: str) -> str:
        """A secret from the environment: job files are shared, secrets are not."""
        if not (found := os.environ.get(variable)):
            raise JobError(f"{self.name}.{key}: the environment variable {variable} is not set")
        return found

    def finish(self) -> None:
        """Refuse keys that nothing has read: a misspelt key must not be a silent default."""
        unknown = [key for key in self.table if key not in self._known]
        if unknown:
            key = unknown[0]
            raise JobError(
                f"unknown key {self.name}.{key}; {nearest(key, self._known or {'none'})}"
            )

    def _note(self, key: str) -> str:
        self._known.add(key)
        return key

    def _typed(self, key: str, kind: type[T], wanted: str, default: T | None) -> T | None:
        value = self.table.get(self._note(key), default)
        if value is not None and not isinstance(value, kind):
            raise JobError(f"{self.name}.{key} = {value!r}: it must be {wanted}")
        return value


def sections_of(tables: Mapping[str, Any], kind: str, iri: str) -> list[Section]:
    """The sections `[kind.NAME]` of a job file, of which a query needs one for an IRI."""
    named = tables.get(kind, {})
    sections = [
        Section(f"{kind}.{name}", table) for name, table in named.items() if isinstance(table, dict)
    ]
    if len(sections) != len(named):
        raise JobError(f"[{kind}] holds sections, one per name: write [{kind}.NAME]")
    if not sections:
        raise JobError(f"no section [{kind}.NAME]; the query needs one for <{iri}>")
    return sections


def section_for(sections: list[Section], iri: str, *, alone: bool) -> Section:
    """The section that stands for an IRI: it says so, or nothing else could be meant."""
    default = iri if alone else None
    fitting = [each for each in sections if each.text("iri", default) == iri]
    if len(fitting) > 1:
        names = ", ".join(each.name for each in fitting)
        raise JobError(f"the query uses one of these sections, remove the others: {names}")
    if not fitting:
        found = ", ".join(f"[{each.name}] iri = {each.text('iri')!r}" for each in sections)
        kind = sections[0].name.partition(".")[0]
        raise JobError(f"no section [{kind}.NAME] has iri = {iri!r}; there are: {found}")
    return fitting[0]


def refuse_others(sections: list[Section], used: Iterable[Section]) -> None:
    """Refuse sections that the query has no use for."""
    names = {each.name for each in used}
    if others := [each.name for each in sections if each.name not in names]:
        listed = ", ".join(f"[{name}]" for name in others)
        raise JobError(f"the query has no use for {listed}: remove it, or correct its iri")


def located(base: Path, path: str | None) -> str | None:
    """A path of a job file, which counts from the file's folder."""
    return path if path is None or "://" in path else str(base / path)
