"""`bestbefore simulate`: policies × budgets × seeds over traces, figures to stdout."""

import csv
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from bestbefore.errors import InputError, WorkError
from bestbefore.experiments.formats import resolve_format
from bestbefore.experiments.runs import Simulation, Task, tasks_of
from bestbefore.experiments.simulation import check_warmup, prepare, results_of
from bestbefore.maintenance.policy_names import split_names
from bestbefore.simulator.result import SETS, Series


def simulate_traces(  # noqa: PLR0913 - one argument per option of the command
    *,
    stream: Path,
    background: Path,
    links: Path | None,
    width: str,
    slide: str,
    budget: str,
    policy: str,
    intervals: str,
    condition: str | None,
    aggregate: str | None,
    cache_size: int | None,
    seeds: int,
    warmup: float,
    form: str,
    evaluations: Path | None,
    plot: Path | None,
    spark: bool,
    console: Console,
) -> None:
    """Simulate and print; what is wrong with the input is said before anything runs."""
    as_text = resolve_format(form)
    check_warmup(warmup)
    tasks = tasks_of(split_names(policy), budget.split(","), seeds)
    simulation = prepare(
        (stream, background) if links is None else (stream, background, links),
        width=width,
        slide=slide,
        intervals=intervals,
        condition=condition,
        aggregate=aggregate,
        cache_size=cache_size,
        notice=lambda text: console.print(f"note: {text}"),
    )
    simulation.check(tasks)
    series = _run(simulation, tasks, spark=spark, console=console)
    results = results_of(tasks, series, warmup=warmup)
    if evaluations is not None:
        with writing(evaluations):
            _write_evaluations(evaluations, tasks, series)
        console.print(f"wrote {evaluations}")
    if plot is not None:
        from bestbefore.experiments.figure import draw  # noqa: PLC0415 - matplotlib is slow

        with writing(plot):
            draw(results, plot)
        console.print(f"wrote {plot}")
    sys.stdout.write(as_text(results))


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Say in one line why a file cannot be written."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        raise WorkError(f"{path} cannot be written: {reason}; name another file") from None
    except ValueError as error:
        raise InputError(f"{path} cannot be written: {error}") from None


def _run(
    simulation: Simulation, tasks: Sequence[Task], *, spark: bool, console: Console
) -> list[Series]:
    if spark:
        from bestbefore.spark.session import local_session  # noqa: PLC0415 - pyspark is slow

        with tempfile.TemporaryDirectory() as folder:
            session = local_session(log=Path(folder) / "spark.log")
            try:
                return simulation.series(tasks, spark=session)
            finally:
                session.stop()
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        runs = bar.add_task(f"{len(tasks)} runs", total=len(tasks))
        return simulation.series(tasks, progress=lambda done, _: bar.update(runs, completed=done))


def _write_evaluations(path: Path, tasks: Sequence[Task], series: Sequence[Series]) -> None:
    """Every evaluation of every run as CSV, warm-up included."""
    columns = [each.name for each in fields(Series) if each.name not in ("sets", "calibration")]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["policy", "budget", "seed", "position", *columns, *SETS])
        for task, run in zip(tasks, series, strict=True):
            values = zip(*(getattr(run, name).tolist() for name in columns), strict=True)
            for position, (row, sets) in enumerate(zip(values, run.sets.tolist(), strict=True)):
                writer.writerow([task.policy, task.budget, task.seed, position, *row, *sets])
