"""Which section of a job file stands for which IRI of the query."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from bestbefore.errors import JobError
from bestbefore.job.section import Section


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
    missing = [iri for iri in iris if iri not in found]
    if missing:
        raise JobError(_missing(kind, missing[0], sections))
    return found


def _iri_of(section: Section, kind: str, iris: Sequence[str], *, alone: bool) -> str:
    given = section.text("iri")
    if given is not None:
        if given not in iris:
            known = ", ".join(f"<{iri}>" for iri in iris) or "none"
            raise JobError(f"{section.name}.iri = {given!r}: the query's {kind} are {known}")
        return given
    name = section.name.removeprefix(f"{kind}.")
    ending = [iri for iri in iris if re.split(r"[/#:]", iri)[-1] == name]
    if len(ending) == 1:
        return ending[0]
    if alone and len(iris) == 1:
        return iris[0]
    known = ", ".join(f"<{iri}>" for iri in iris) or "none"
    raise JobError(
        f"[{section.name}] stands for no one IRI of the query; add iri = …, one of {known}, "
        "or remove the section"
    )


def _missing(kind: str, iri: str, sections: Sequence[Section]) -> str:
    if not sections:
        return f"no section [{kind}.NAME]; the query needs one for <{iri}>"
    names = ", ".join(f"[{each.name}]" for each in sections)
    return f"no section [{kind}.NAME] stands for <{iri}>; there are {names}"
