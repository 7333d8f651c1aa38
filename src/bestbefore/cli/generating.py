"""`bestbefore generate`: traces or a store with known properties, as files in a folder."""

import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Console

from bestbefore.errors import InputError, WorkError
from bestbefore.generators import (
    PRESETS,
    generators,
    make_traces,
    read_parameters,
    store_generators,
)
from bestbefore.generators.stores import QUERIES, STORE_FILES, write_store
from bestbefore.parameters import parameters_of, read_values
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
    """Write what a generator makes; the folder goes to stdout, what it holds to the console."""
    if name is None:
        raise InputError("name a generator; `bestbefore generate --list` shows them")
    if out is None:
        raise InputError("name the folder for the traces: --out FOLDER")
    if name in store_generators:
        written = _generate_store(name, out, seed=seed, settings=settings, force=force)
    else:
        written = _generate_traces(name, out, seed=seed, settings=settings, force=force)
    for path, rows in written.items():
        console.print(f"wrote {path}: {rows} {'queries' if path.name == QUERIES else 'rows'}")
    sys.stdout.write(f"{out}\n")


def _generate_traces(
    name: str, out: Path, *, seed: int, settings: Iterable[str], force: bool
) -> dict[Path, int]:
    parameters = read_parameters(name, settings)
    check_folder(out, force=force)
    traces = make_traces(name, seed, **parameters)
    remove_traces(out)
    return {path: _rows(traces, path.name) for path in write_traces(traces, out)}


def _generate_store(
    name: str, out: Path, *, seed: int, settings: Iterable[str], force: bool
) -> dict[Path, int]:
    kind = store_generators[name]
    generator = kind(**read_values(f"generator {name!r}", kind, settings))
    check_folder(out, STORE_FILES, force=force)
    shutil.rmtree(out / QUERIES, ignore_errors=True)
    return write_store(generator.make(seed), out)


def list_generators() -> None:
    """Print every generator's name, parameters with defaults, and what it is; tabs between."""
    for name, kind in (*generators.items(), *store_generators.items()):
        parameters = " ".join(parameter.assignment for parameter in parameters_of(kind).values())
        summary = (kind.__doc__ or "").strip().splitlines()[0]
        sys.stdout.write(f"{name}\t{parameters}\t{summary}\n")
    for name, (family, fixed) in PRESETS.items():
        values = " ".join(f"{key}={value}" for key, value in fixed.items())
        sys.stdout.write(f"{name}\t{values}\tThe same as {family} with {values}.\n")


def _present(folder: Path, names: Sequence[str] = TRACE_FILES) -> list[Path]:
    return [path for name in names if (path := folder / name).exists()]


def check_folder(folder: Path, names: Sequence[str] = TRACE_FILES, *, force: bool) -> None:
    """Refuse a folder that holds files of these names, unless they may be overwritten."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; name a folder with --out")
    if (present := _present(folder, names)) and not force:
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
