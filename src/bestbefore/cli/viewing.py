"""`bestbefore view`: what the local views of a job hold, how old it is and how often it is used."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from bestbefore.checkpoint.ownership import lock_checkpoint
from bestbefore.cli.checking import local_checkpoint
from bestbefore.engine.stored_view import StoredView, cleared, stored_views
from bestbefore.errors import InputError, WorkError
from bestbefore.job import Job, load_job
from bestbefore.rdf.json_results import json_term
from bestbefore.rdf.terms import IRI, Literal, decode
from bestbefore.storage import Storage
from bestbefore.time import format_instant, wall_clock_ms

_SHOWN = 50
_FORMATS = ("table", "json", "parquet")


def show_views(
    path: Path, *, service: str | None, form: str, limit: int | None, out: Path | None
) -> None:
    """Print the units of a job's views, or write them to a Parquet file."""
    if form not in _FORMATS:
        raise InputError(f"unknown format {form!r}; known: {', '.join(_FORMATS)}")
    if (form == "parquet") != (out is not None):
        raise InputError("--format parquet goes with --out FILE, and the other way round")
    job, storage = _opened(path)
    views = list(stored_views(job, storage, only=service, clock=wall_clock_ms))
    if out is not None:
        _write_parquet(views, out)
    elif form == "json":
        lines = (json.dumps(unit, ensure_ascii=False)
                 for view in views for unit in _json_units(view, limit))  # fmt: skip
        # A line per unit, and all of it a list.
        sys.stdout.write("[")
        for number, line in enumerate(lines):
            sys.stdout.write(f"{',' if number else ''}\n{line}")
        sys.stdout.write("\n]\n")
    else:
        for view in views:
            _show(view, limit or _SHOWN, _console())


def _write_parquet(views: list[StoredView], out: Path) -> None:
    table = pa.concat_tables([view.units() for view in views], promote_options="default")
    try:
        pq.write_table(table, out)
    except OSError as error:
        raise WorkError(f"--out {out}: {error}") from None


def _json_units(view: StoredView, limit: int | None) -> Iterator[dict[str, object]]:
    """The units with their rows, terms as in SPARQL 1.1 JSON results."""
    table, names = view.units().slice(0, limit), view.view.variables
    for unit in table.to_pylist():
        key = tuple(unit.pop(f"?{name}") for name in view.view.key)
        terms = {name: json_term(term) for name, term in zip(view.view.key, key, strict=True)}
        content = [
            {name: json_term(term) for name, term in zip(names, row, strict=True) if term}
            for row in view.rows_of(key)
        ]
        yield {"service": unit.pop("service"), "unit": terms, **unit, "content": content}


def _show(view: StoredView, limit: int, console: Console) -> None:
    units = view.units()
    at = format_instant(view.at_ms)
    table = Table(title=f"{view.service.name} at {at}: {len(units)} units", title_justify="left")
    keys = [f"?{name}" for name in view.view.key]
    for name in keys:
        table.add_column(name, overflow="fold")
    for name in ("rows", "age", "fresh", "changes every", "needed", "state"):
        table.add_column(name, justify="right")
    for unit in units.slice(0, limit).to_pylist():
        age = "changed" if unit["held"] else ""
        if unit["age_s"] is not None:
            age = lasting(unit["age_s"])
        state = f"failed {unit['failures']}×" if unit["failures"] else ""
        table.add_row(
            *(plain(unit[name]) for name in keys),
            str(unit["rows"]) if unit["rows"] else "absent" if unit["held"] else "",
            age,
            f"{unit['fresh']:.0%}",
            lasting(unit["changes_every_s"]),
            f"{unit['needed']:g}",
            state,
        )
    console.print(table)
    if len(units) > limit:
        console.print(f"… and {len(units) - limit} more; --limit N shows more of them")


def lasting(seconds: float) -> str:
    """A time as people read it in a table: `9.5 s`, `2.3 min`, `4.1 h`, `3.0 d`."""
    for unit, length, most in (("s", 1, 100), ("min", 60, 6_000), ("h", 3_600, 172_800)):
        if seconds < most:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds / 86_400:.1f} d"


def plain(term: str) -> str:
    """A term as people read it in a table."""
    match decode(term):
        case IRI(value) | Literal(value):
            return value
        case _:
            return term


def tell_figures(path: Path, *, service: str | None, form: str) -> None:
    """Print the views of a job in a few numbers."""
    if form not in ("table", "json"):
        raise InputError(f"unknown format {form!r}; known: table, json")
    job, storage = _opened(path)
    views = stored_views(job, storage, only=service, clock=wall_clock_ms)
    figures = [view.figures() for view in views]
    if form == "json":
        sys.stdout.write(json.dumps(figures, ensure_ascii=False, indent=1) + "\n")
        return
    table = Table(*([""] + [str(one["service"]) for one in figures]))
    for name in figures[0] if figures else ():
        if name != "service":
            table.add_row(name, *(_text(name, one[name]) for one in figures))
    _console().print(table)


def _text(name: str, value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{what} {number}" for what, number in value.items())
    if name == "at" and isinstance(value, int):
        return format_instant(value)
    return "–" if value is None else str(value)


def clear_views(path: Path, *, service: str | None, console: Console) -> None:
    """Let the views of a job begin anew."""
    job, storage = _opened(path)
    with lock_checkpoint(storage.root):
        names = cleared(job, storage, only=service)
    listed = ", ".join(names)
    console.print(f"cleared: {listed}; the next run fills the view anew, within its budgets")


def _opened(path: Path) -> tuple[Job, Storage]:
    job = load_job(path)
    if not job.services:
        raise InputError(f"{path}: the query has no SERVICE, so there is no view")
    return job, local_checkpoint(job)


def _console() -> Console:
    wide = None if sys.stdout.isatty() else 120
    return Console(file=sys.stdout, width=wide, highlight=False, markup=False)
