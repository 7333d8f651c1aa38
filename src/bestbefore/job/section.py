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

    def table_of(self, key: str) -> dict[str, Any] | None:
        """A table within this one, None if it is not given."""
        return self._typed(key, dict, "a table", None)

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


def located(base: Path, path: str | None) -> str | None:
    """A path as it counts from the job file's folder; an address stays as it is."""
    return path if path is None or "://" in path else str(base / path)
