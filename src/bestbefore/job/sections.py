"""The sections of a job file: each key typed, each mistake named with the section and the key."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from bestbefore.errors import InputError, JobError, excerpt, nearest
from bestbefore.time import parse_duration_ms

T = TypeVar("T")
Word = TypeVar("Word", bound=str)
# More than anything that is counted, and exact in all that it is counted with.
_MOST = 10**12


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
        if not (value := self.text(key)):
            raise JobError(f"{self.name}.{key} is missing: {why}")
        return value

    def integer(self, key: str, default: int, *, least: int = 0) -> int:
        """A whole number of at least `least`."""
        value = self._typed(key, int, "a whole number", default)
        if isinstance(value, bool) or value is None or value < least:
            raise JobError(
                f"{self.name}.{key} = {excerpt(value)}: it must be a whole number ≥ {least}"
            )
        if value > _MOST:
            raise JobError(f"{self.name}.{key} = {excerpt(value)}: it must be {_MOST} or less")
        return value

    def optional_integer(self, key: str, *, least: int = 1) -> int | None:
        """A whole number, or None if it is not given."""
        return self.integer(key, least, least=least) if self._note(key) in self.table else None

    def flag(self, key: str, *, default: bool) -> bool:
        """A truth value."""
        return bool(self._typed(key, bool, "true or false", default))

    def duration_ms(self, key: str, default: str | None) -> int | None:
        """A duration such as `10s`, in milliseconds."""
        text = self._typed(key, str, "a duration such as '10s'", default)
        if text is None:
            return None
        try:
            return parse_duration_ms(text)
        except InputError as error:
            raise JobError(f"{self.name}.{key}: {error}") from None

    def choice(self, key: str, words: Iterable[Word]) -> Word:
        """One of some words, the first of them if it is not given."""
        known = {str(word): word for word in words}
        value = self.text(key) or next(iter(known))
        if value not in known:
            raise JobError(f"{self.name}.{key} = {excerpt(value)}; {nearest(value, known)}")
        return known[value]

    def texts(self, key: str) -> tuple[str, ...] | None:
        """A list of one or more different strings, or None if it is not given."""
        value = self._typed(key, list, "a list of strings", None)
        if value is None:
            return None
        proper = value and all(isinstance(text, str) and text for text in value)
        if not proper or len(set(value)) < len(value):
            raise JobError(
                f"{self.name}.{key} = {excerpt(value)}: it must be a list of different strings"
            )
        return tuple(value)

    def mapping(self, key: str) -> dict[str, str]:
        """A table of strings."""
        return {str(name): str(text) for name, text in (self.table_of(key) or {}).items()}

    def table_of(self, key: str) -> dict[str, Any] | None:
        """A table within this one, None if it is not given."""
        return self._typed(key, dict, "a table", None)

    def subsection(self, key: str, why: str) -> "Section":
        """A table that has no default, as a section of its own."""
        if (table := self.table_of(key)) is None:
            raise JobError(f"{self.name}.{key} is missing: {why}")
        return Section(f"{self.name}.{key}", table)

    def subsections(self, key: str) -> list["Section"]:
        """The tables of a list, each as a section of its own; none if it is not given."""
        tables = self._typed(key, list, "a list of tables", None) or []
        if not all(isinstance(table, dict) for table in tables):
            raise JobError(f"{self.name}.{key}: write each entry as [[{self.name}.{key}]]")
        return [Section(f"{self.name}.{key}[{n}]", table) for n, table in enumerate(tables, 1)]

    def secret(self, key: str, variable: str) -> str:
        """A secret from the environment: job files are shared, secrets are not."""
        if not (found := os.environ.get(variable)):
            raise JobError(f"{self.name}.{key}: the environment variable {variable} is not set")
        return found

    def secret_of(self, env_key: str, file_key: str, base: Path) -> str | None:
        """A secret from the environment or from a file, None if neither is given."""
        variable, file = self.text(env_key), self.text(file_key)
        if variable is not None and file is not None:
            raise JobError(f"{self.name}.{env_key} and {file_key} exclude each other: keep one")
        if variable is not None:
            return self.secret(env_key, variable)
        return None if file is None else _secret_in(base / file, f"{self.name}.{file_key}")

    def rest(self, *own: str) -> dict[str, Any]:
        """All but some keys, as they stand: the settings that only a plug-in knows."""
        return {self._note(key): value for key, value in self.table.items() if key not in own}

    def finish(self) -> None:
        """Refuse keys that nothing has read: a misspelt key must not be a silent default."""
        for key in self.table:
            if key not in self._known:
                known = nearest(key, self._known or {"none"})
                raise JobError(f"unknown key {self.name}.{key}; {known}")

    def _note(self, key: str) -> str:
        self._known.add(key)
        return key

    def _typed(self, key: str, kind: type[T], wanted: str, default: T | None) -> T | None:
        value = self.table.get(self._note(key), default)
        if value is not None and not isinstance(value, kind):
            raise JobError(f"{self.name}.{key} = {excerpt(value)}: it must be {wanted}")
        return value


def _secret_in(file: Path, where: str) -> str:
    """The content of a file without the line break at its end."""
    try:
        secret = file.read_text(encoding="utf-8").rstrip("\r\n")
    except UnicodeDecodeError:
        raise JobError(f"{where}: {file} is no text in UTF-8") from None
    except OSError as error:
        raise JobError(f"{where}: {file} cannot be read: {error.strerror}") from None
    except ValueError:
        raise JobError(f"{where}: {str(file)!r} cannot be the path of a file") from None
    if not secret:
        raise JobError(f"{where}: {file} is empty")
    return secret


def located(base: Path, path: str | None) -> str | None:
    """A path as it counts from the job file's folder; an address stays as it is."""
    return path if path is None or "://" in path else str(base / path)


def sections_for(tables: Mapping[str, Any], kind: str, iris: Sequence[str]) -> dict[str, Section]:
    """The section `[kind.NAME]` of each IRI: by its key `iri`, or by its name.

    A section without `iri` stands for the IRI that ends in its name, or for the only one.
    """
    named = tables.get(kind, {})
    if not all(isinstance(table, dict) for table in named.values()):
        raise JobError(f"[{kind}] holds sections, one per name: write [{kind}.NAME]")
    sections = [Section(f"{kind}.{name}", table) for name, table in named.items()]
    found: dict[str, Section] = {}
    for section in sections:
        iri = _iri_of(section, kind, iris, alone=len(sections) == 1)
        if iri in found:
            raise JobError(f"[{found[iri].name}] and [{section.name}] both stand for <{iri}>")
        found[iri] = section
    if missing := [iri for iri in iris if iri not in found]:
        raise JobError(_missing(kind, missing[0], sections))
    return found


def _iri_of(section: Section, kind: str, iris: Sequence[str], *, alone: bool) -> str:
    known = ", ".join(f"<{iri}>" for iri in iris) or "none"
    if (given := section.text("iri")) is not None:
        if given not in iris:
            raise JobError(f"{section.name}.iri = {given!r}: the query's {kind} are {known}")
        return given
    name = section.name.removeprefix(f"{kind}.")
    ending = [iri for iri in iris if re.split(r"[/#:]", iri)[-1] == name]
    if len(ending) == 1:
        return ending[0]
    if alone and len(iris) == 1:
        return iris[0]
    raise JobError(
        f"[{section.name}] stands for no one IRI of the query; add iri = …, one of {known}, "
        "or remove the section"
    )


def _missing(kind: str, iri: str, sections: Sequence[Section]) -> str:
    if not sections:
        return f"no section [{kind}.NAME]; the query needs one for <{iri}>"
    names = ", ".join(f"[{section.name}]" for section in sections)
    return f"no section [{kind}.NAME] stands for <{iri}>; there are {names}"
