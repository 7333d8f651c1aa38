"""Policies × budgets × seeds over traces."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bestbefore.errors import InputError
from bestbefore.experiments.runs import Progress, Simulation, Task, tasks_of, whole_number
from bestbefore.simulator import Condition, Result, Setting, make_scenario, summarise
from bestbefore.simulator.result import Series, with_gains
from bestbefore.time import parse_duration_ms
from bestbefore.traces import Notice, Traces, read_intervals, read_traces

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TRUE, LEARNED = "true", "learned"

TraceFiles = tuple[str | Path, str | Path] | tuple[str | Path, str | Path, str | Path]
Intervals = str | Path | Mapping[str, int]


def simulate(  # noqa: PLR0913 - one argument per option of the command
    traces: Traces | TraceFiles,
    *,
    width: str | int,
    slide: str | int,
    budgets: Sequence[int],
    policies: Sequence[str],
    intervals: Intervals = TRUE,
    condition: str | None = None,
    aggregate: str | None = None,
    cache_size: int | None = None,
    seeds: int | Sequence[int] = 5,
    warmup: float = 0.0,
    spark: "SparkSession | None" = None,
    notice: Notice | None = None,
    progress: Progress | None = None,
) -> list[Result]:
    """Simulate every policy with every budget and every seed over the same traces.

    `traces` are traces, or the paths of a stream, a background and, for M:N joins, links. Width and
    slide are durations such as "100s", or milliseconds. Change intervals are those of the trace
    (`true`), learned from the refreshes (`learned`), or of a file or a mapping. A session makes
    Spark spread the runs; the figures are the same.
    """
    check_warmup(warmup)
    tasks = tasks_of(policies, budgets, seeds)
    simulation = prepare(
        traces,
        width=width,
        slide=slide,
        intervals=intervals,
        condition=condition,
        aggregate=aggregate,
        cache_size=cache_size,
        notice=notice,
    )
    series = simulation.series(tasks, spark=spark, progress=progress)
    return results_of(tasks, series, warmup=warmup)


def check_warmup(warmup: float) -> None:
    """Refuse a warm-up that is no share of the evaluations."""
    if not 0 <= warmup < 1:
        raise InputError(f"warmup {warmup} is no share of the evaluations; it must lie in [0, 1)")


def results_of(tasks: Sequence[Task], series: Sequence[Series], *, warmup: float) -> list[Result]:
    """The figures of each run, with what each budget gains over the next smaller one."""
    return with_gains(
        [
            summarise(found, task.policy, budget=task.budget, seed=task.seed, warmup=warmup)
            for task, found in zip(tasks, series, strict=True)
        ]
    )


def prepare(  # noqa: PLR0913 - as above
    traces: Traces | TraceFiles,
    *,
    width: str | int,
    slide: str | int,
    intervals: Intervals = TRUE,
    condition: str | None = None,
    aggregate: str | None = None,
    cache_size: int | None = None,
    notice: Notice | None = None,
) -> Simulation:
    """Read the traces and lay out the simulation; mistakes of the input end here."""
    tell = notice or (lambda _: None)
    setting = Setting(
        condition=None if condition is None else Condition.parse(condition),
        aggregate=aggregate,
        capacity=None if cache_size is None else whole_number(cache_size, "cache size", least=1),
        learned=intervals == LEARNED,
        stated=intervals not in (TRUE, LEARNED),
    )
    width_ms, slide_ms = _milliseconds(width, "width"), _milliseconds(slide, "slide")
    if not isinstance(traces, Traces):
        stream, background, *links = traces
        traces = read_traces(stream, background, links=links[0] if links else None, notice=tell)
    given = _given_intervals(intervals)
    scenario = make_scenario(
        traces, width_ms=width_ms, slide_ms=slide_ms, interval_ms=given, notice=tell
    )
    return Simulation(scenario, setting)


def _given_intervals(intervals: Intervals) -> Mapping[str, int] | None:
    if isinstance(intervals, Mapping):
        return intervals
    if intervals in (TRUE, LEARNED):
        return None
    return read_intervals(intervals)


def _milliseconds(duration: str | int, what: str) -> int:
    length = duration if isinstance(duration, int) else parse_duration_ms(duration)
    if length <= 0:
        raise InputError(f"the {what} {duration!r} must be longer than nothing, for example 60s")
    return length
