"""`bestbefore run`: a job on a local Spark session, with a line per evaluation on stderr."""

import signal
import tempfile
from dataclasses import replace
from pathlib import Path
from threading import Event

from rich.console import Console

from bestbefore.engine import Engine, Quality, RunningQuery
from bestbefore.engine.sinks import check_output
from bestbefore.job import load_job
from bestbefore.job.job import AVAILABLE_NOW, Job, ServiceSettings
from bestbefore.query import find_warnings
from bestbefore.spark.session import local_session
from bestbefore.time import format_duration, format_instant

_FOLLOW_TRIGGER = "1s"
_STEP_S = 0.5


def run_job(path: Path, *, console: Console, follow: bool, quiet: bool) -> None:
    """Run a job until its stream ends, or with `follow` until Ctrl-C."""
    job = load_job(path)
    if follow and job.trigger == AVAILABLE_NOW:
        job = replace(job, trigger=_FOLLOW_TRIGGER)
    for stream in job.streams:
        if stream.source is not None:
            stream.source.check()
    check_output(job)
    for warning in find_warnings(job.query):
        console.print(f"{path}: warning: {warning}")
    for service in job.services:
        means = f"{service.policy.name}, {service.budget} refreshes per evaluation"
        console.print(f"{path}: {service.name}: {means}")
        _notice_intervals(service, console)
    console.print("starting Spark …")
    spark = local_session(log=_spark_log(job))
    # PySpark's own handler would abort the batch that runs.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    running = Engine(spark).start(
        job, on_quality=None if quiet else (lambda record: _show(console, record))
    )
    _wait(running, console)
    summarise(console, running)


def _notice_intervals(service: ServiceSettings, console: Console) -> None:
    view = service.view
    sources = (view.learned, view.interval_variable, view.interval_predicate, view.interval_file)
    if view.change_interval_ms is None and not any(sources):
        width = format_duration(service.window.width_ms)
        console.print(
            f"no change intervals given: every unit is taken to change once per {width}; state "
            'them in [view], or let view.change_interval = "learned" find them'
        )


def _wait(running: RunningQuery, console: Console) -> None:
    """Wait for the end of the stream, or for Ctrl-C or SIGTERM and then the end of the batch."""
    stopped = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    while not running.wait(_STEP_S):
        if stopped.is_set():
            console.print("stopping after the batch that runs …")
            running.stop()
            return


def _spark_log(job: Job) -> Path:
    folder = job.checkpoint if "://" not in job.checkpoint else tempfile.mkdtemp("bestbefore")
    return Path(folder) / "spark.log"


def _show(console: Console, record: Quality) -> None:
    fresh = record.estimated_freshness
    quality = "no rows" if fresh is None else f"≈{fresh:.0%} fresh"
    line = (
        f"{format_instant(record.at)}  #{record.evaluation}  {record.answers} rows, {quality}, "
        f"{record.refreshed} of {record.budget} refreshed ({record.changed} had changed), "
        f"{record.batch_s:.2f} s"
    )
    dropped = {
        "late elements dropped": record.late,
        "lines quarantined": record.quarantined,
        "empty windows skipped": record.skipped_empty,
    }
    line += "".join(f", {count} {what}" for what, count in dropped.items() if count)
    if record.service_status != "ok":
        line += f"  [service {record.service_status}]"
    console.print(line)


def summarise(console: Console, running: RunningQuery) -> None:
    """Say what came of all runs with this checkpoint, and what is still open."""
    state, job = running.state, running.processor.job
    console.print(
        f"{state.evaluations} evaluations of {state.elements} elements in all; "
        f"{state.refreshes} refreshes in {state.requests} requests; {state.late} late, "
        f"{state.quarantined} quarantined"
    )
    if state.quarantined:
        console.print(f"quarantine: {job.checkpoint}/quarantine")
    if job.sink.path and job.sink.format != "stdout":
        console.print(f"answers: {job.sink.path}, quality: {job.sink.quality}")
    if state.latest_ms is not None:
        at = format_instant(state.latest_ms)
        what = "elements at" if job.counts_elements else "windows that close at"
        console.print(f"open: {what} {at} or later wait for later elements")
