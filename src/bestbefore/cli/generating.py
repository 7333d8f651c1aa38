"""`bestbefore generate`: traces with known properties, as CSV files in a folder."""

import sys
from collections.abc import Iterable
from pathlib import Path

from rich.console import Console

from bestbefore.errors import InputError, WorkError
from bestbefore.generators import PRESETS, generators, make_traces, read_parameters
from bestbefore.parameters import parameters_of
from bestbefore.traces import TRACE_FILES, Traces, write_traces


def generate(
    name: str | None,
    out: Path | None,
    *,
    seed: int,
    settings: Iterable[str],
    force: bool,
    console: Console,
) -> None:
    """Write a generator's traces; the folder goes to stdout, what it holds to the console."""
    if name is None:
        raise InputError("name a generator; `bestbefore generate --list` shows them")
    if out is None:
        raise InputError("name the folder for the traces: --out FOLDER")
    parameters = read_parameters(name, settings)
    check_folder(out, force=force)
    traces = make_traces(name, seed, **parameters)
    remove_traces(out)
    for path in write_traces(traces, out):
        console.print(f"wrote {path}: {_rows(traces, path.name)} rows")
    sys.stdout.write(f"{out}\n")


def list_generators() -> None:
    """Print every generator's name, parameters with defaults, and what it is; tabs between."""
    for name, kind in generators.items():
        parameters = " ".join(parameter.assignment for parameter in parameters_of(kind).values())
        summary = (kind.__doc__ or "").strip().splitlines()[0]
        sys.stdout.write(f"{name}\t{parameters}\t{summary}\n")
    for name, (family, fixed) in PRESETS.items():
        values = " ".join(f"{key}={value}" for key, value in fixed.items())
        sys.stdout.write(f"{name}\t{values}\tThe same as {family} with {values}.\n")


def _present(folder: Path) -> list[Path]:
    return [path for name in TRACE_FILES if (path := folder / name).exists()]


def check_folder(folder: Path, *, force: bool) -> None:
    """Refuse a folder that holds traces, unless they may be overwritten."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; name a folder with --out")
    if (present := _present(folder)) and not force:
        raise InputError(
            f"{present[0]} exists; name another folder with --out, or overwrite it with --force"
        )


def remove_traces(folder: Path) -> None:
    """Leave nothing of earlier traces, which may have had links where the new ones have none."""
    for path in _present(folder):
        try:
            path.unlink()
        except OSError as error:
            raise WorkError(f"{path} cannot be overwritten: {error.strerror}") from None


def _rows(traces: Traces, file: str) -> int:
    parts = (traces.stream, traces.background, traces.links, traces.interval_ms)
    return len(dict(zip(TRACE_FILES, parts, strict=True))[file] or ())
