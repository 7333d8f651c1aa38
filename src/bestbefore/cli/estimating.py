"""`bestbefore estimate` and `bestbefore plan`: what answers are worth, and what to refresh."""

import atexit
import json
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from rich.console import Console

from bestbefore.cli.simulating import writing
from bestbefore.errors import InputError, WorkError
from bestbefore.input_files import read_bytes, read_text
from bestbefore.job import load_job
from bestbefore.market import (
    CannotAnswer,
    Estimate,
    Part,
    Shape,
    Summary,
    build_summaries,
    check_answerable,
    check_paths,
    check_wanted,
    default_names,
    estimate,
    load_summaries,
    make_plan,
    pack_summary,
    predicate_views,
    read_shape,
    read_store,
    resolve_summaries,
    save_summaries,
    true_estimate,
    view_of,
    viewed_triples,
)
from bestbefore.spark.reasons import reason_of
from bestbefore.spark.session import local_session, session_like, tune
from bestbefore.storage import LocalStorage, local_path

FORMATS = ("table", "json")
_DIGITS = 12
_BYTES_PER_TRIPLE = 100
_PLANNED_WITH = "pairs"
StatedView = tuple[str, Part, float | None]
"""A view's name and pattern, and its cost if that is stated."""

_COLUMNS = ("summary", "bytes", "total", "fresh", "freshness")


@dataclass(frozen=True)
class Source:
    """Where summaries come from: data with their stale triples, a job's checkpoint, or a file."""

    data: str | None
    stale: str | None
    load: Path | None

    def check(self) -> None:
        """Refuse a source that says nothing, or two things."""
        if self.load is not None and (self.data or self.stale):
            raise InputError(
                f"--load {self.load} needs no data: leave out {self.data or '--stale'}"
            )
        if self.load is None and self.data is None:
            raise InputError("name the data, DATA.nt --stale STALE.nt, or summaries, --load FILE")
        if self.data is not None and not self.data.endswith(".toml"):
            check_paths(self.data, self.stale)


def estimate_answer(  # noqa: PLR0913 - one argument per option of the command
    source: Source,
    *,
    query: Path,
    names: str | None,
    truth: bool,
    save: Path | None,
    form: str,
    console: Console,
) -> None:
    """Print what each summary makes of a query's answer, and what is true if that is asked for."""
    _check_format(form)
    source.check()
    if source.load is not None and truth:
        raise InputError(f"--truth needs the data; {source.load} has summaries only")
    shape = read_shape(read_text(query))
    if not truth:
        check_answerable(shape)
    with _summaries(source, names, save=save, console=console) as (found, store):
        rows = [_row(name, summary, shape, console) for name, summary in found.items()]
        if truth and store is not None:
            rows.append(_line("truth", None, true_estimate(store, shape.pattern)))
    if all(row["total"] is None for row in rows):
        told = " and ".join(row["summary"] for row in rows)
        raise InputError(f"{told} cannot answer this query; name another --summary")
    sys.stdout.write(_as_json(rows) if form == "json" else _as_table(rows))


def plan_refreshes(  # noqa: PLR0913 - one argument per option of the command
    source: Source,
    *,
    query: Path,
    wanted: float,
    name: str | None,
    views: Path | None,
    form: str,
    console: Console,
) -> None:
    """Print the cheapest views to refresh so that the answer is as fresh as is wanted."""
    _check_format(form)
    check_wanted(wanted)
    source.check()
    shape = read_shape(read_text(query))
    check_answerable(shape)
    wanted_name = name or (None if source.load else _PLANNED_WITH)
    stated = None if views is None else read_views(views)
    with _summaries(source, wanted_name, save=None, console=console) as (found, _):
        chosen = next((one for one in found if one.startswith(_PLANNED_WITH)), next(iter(found)))
    summary = found[chosen]
    if stated is None:
        given = predicate_views(shape, summary)
    else:
        given = [view_of(name, part, summary, cost) for name, part, cost in stated]
    plan = make_plan(summary, shape, given, wanted)
    figures = {key: _rounded(value) for key, value in asdict(plan).items()}
    console.print(f"planned with {chosen}, over {len(given)} views")
    sys.stdout.write(_as_json(figures) if form == "json" else _as_lines(figures))


@contextmanager
def _summaries(
    source: Source, names: str | None, *, save: Path | None, console: Console
) -> Iterator[tuple[dict[str, Summary], DataFrame | None]]:
    """Summaries by their names, loaded or built, and the store that they were built of."""
    if source.load is not None:
        if save is not None:
            raise InputError(f"--save {save}: {source.load} is saved already")
        content = read_bytes(source.load, "summaries")
        yield load_summaries(content, str(source.load), names), None
        return
    builders = resolve_summaries(names or default_names())
    spark = _session(source.data)
    try:
        store = _store(spark, source, console)
        found = build_summaries(store, builders)
        if save is not None:
            with writing(save):
                LocalStorage(str(save.parent)).write(save.name, save_summaries(found))
            console.print(f"wrote {save}")
        yield found, store
    except (PySparkException, Py4JError) as error:
        raise WorkError(f"{source.data}: {reason_of(str(error))}") from None


def _store(spark: SparkSession, source: Source, console: Console) -> DataFrame:
    def notice(line: str) -> None:
        console.print(f"note: {line}")

    if source.data is not None and source.data.endswith(".toml"):
        if source.stale is not None:
            raise InputError("--stale: a job's view knows how probably its rows are fresh")
        return viewed_triples(spark, load_job(source.data), notice=notice)
    return read_store(spark, source.data or "", source.stale, notice=notice)


def _session(data: str | None) -> SparkSession:
    """A session of its own for data of some size; nobody needs its log once the command ended."""
    log = Path(tempfile.mkdtemp(prefix="bestbefore-")) / "spark.log"
    atexit.register(shutil.rmtree, log.parent, ignore_errors=True)
    path = local_path(data or "")
    rows = path.stat().st_size // _BYTES_PER_TRIPLE if path and path.is_file() else None
    return tune(session_like(local_session(log=log)), rows=rows)


def _row(name: str, summary: Summary, shape: Shape, console: Console) -> dict[str, Any]:
    size = len(pack_summary(summary))
    try:
        check_answerable(shape)
        return _line(name, size, estimate(summary, shape.stars))
    except CannotAnswer as error:
        console.print(f"note: {name}: {error}")
        return _line(name, size, None)


def _line(name: str, size: int | None, found: Estimate | None) -> dict[str, Any]:
    """A line of the answer; a summary that cannot answer has null figures."""
    figures = (None,) * 3 if found is None else (found.total, found.fresh, found.freshness)
    return dict(zip(_COLUMNS, (name, size, *map(_rounded, figures)), strict=True))


def read_views(path: Path) -> list[StatedView]:
    """The views of a TOML file: a table each with a `pattern`, and a `cost` if that is stated."""
    try:
        tables = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: not TOML: {error}") from None
    found = [_read_view(f"{path}: {name}", name, table) for name, table in tables.items()]
    if not found:
        raise InputError(f'{path} names no view; write [NAME] and pattern = "?s <p> ?o"')
    return found


def _read_view(where: str, name: str, table: object) -> StatedView:
    known = table if isinstance(table, Mapping) else {}
    pattern, cost = known.get("pattern"), known.get("cost")
    if not isinstance(pattern, str) or set(known) - {"pattern", "cost"}:
        raise InputError(f'{where}: write pattern = "?s <p> ?o" and, if you like, cost = 10')
    if cost is not None and (
        isinstance(cost, bool) or not isinstance(cost, int | float) or cost < 0
    ):
        raise InputError(f"{where}: cost = {cost!r}; it must be a number, 0 or more")
    parts = read_shape(f"SELECT * WHERE {{ {pattern} }}").parts
    if len(parts) != 1:
        raise InputError(f"{where}: {pattern!r} is not one triple pattern")
    return name, parts[0], cost


def _check_format(form: str) -> None:
    if form not in FORMATS:
        raise InputError(f"unknown format {form!r}; known: {', '.join(FORMATS)}")


def _rounded(value: object) -> object:
    return round(value, _DIGITS) if isinstance(value, float) else value


def _as_json(answer: object) -> str:
    return json.dumps(answer, indent=1, ensure_ascii=False) + "\n"


def _as_table(rows: Sequence[Mapping[str, Any]]) -> str:
    lines = [list(_COLUMNS), *([_cell(key, row[key]) for key in _COLUMNS] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "".join(
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        + "\n"
        for line in lines
    )


def _cell(key: str, value: Any) -> str:  # noqa: ANN401 - a cell of any column
    if value is None:
        return "–"
    if key == "freshness":
        return f"{value:.4f}"
    return f"{value:,.1f}" if isinstance(value, float) else str(value)


def _as_lines(figures: Mapping[str, Any]) -> str:
    shown = {**figures, "views": ", ".join(figures["views"]) or "none"}
    shown |= {key: f"{figures[key]:.4f}" for key in ("before", "after")}
    shown["cost"] = f"{figures['cost']:,.1f}"
    return "".join(f"{key:<7} {value}\n" for key, value in shown.items())
