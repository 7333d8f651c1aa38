"""`bestbefore run`: a job on this machine or a cluster, with a line per evaluation on stderr."""

import signal
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from threading import Event

from py4j.protocol import Py4JError
from rich.console import Console

from bestbefore.engine import Engine, Quality, RunningQuery
from bestbefore.engine.sinks import check_output
from bestbefore.errors import InputError, WorkError
from bestbefore.job import load_job
from bestbefore.job.job import AVAILABLE_NOW, Job, ServiceSettings
from bestbefore.query import find_warnings
from bestbefore.spark.session import (
    EVERY_CORE,
    check_conf,
    check_master,
    is_local,
    is_submitted,
    open_session,
)
from bestbefore.storage import local_path
from bestbefore.time import format_duration, format_instant

_FOLLOW_TRIGGER = "1s"
_STEP_S = 0.5


def run_job(
    path: Path,
    *,
    console: Console,
    follow: bool,
    quiet: bool,
    master: str | None = None,
    conf: Iterable[str] = (),
) -> None:
    """Run a job until its stream ends, or with `follow` until Ctrl-C."""
    master, settings = _read_spark_options(master, conf)
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
    spark = open_session(master=master, conf=settings, log=_spark_log(job))
    # PySpark's own handler would abort the batch that runs.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if not is_local(str(spark.sparkContext.master)):
        _notice_local_folders(job, console)
    running = Engine(spark).start(
        job, on_quality=None if quiet else (lambda record: _show(console, record))
    )
    try:
        _wait(running, console)
        summarise(console, running)
        spark.stop()
    except (Py4JError, ConnectionError):
        # What ends spark-submit ends its JVM first.
        raise WorkError("Spark has ended; the same command goes on after the last batch") from None


def _read_spark_options(master: str | None, conf: Iterable[str]) -> tuple[str, dict[str, str]]:
    """The master and the settings that the command line names, checked."""
    settings = {}
    for text in conf:
        name, sign, value = text.partition("=")
        if not (name and sign):
            raise InputError(f"--conf {text!r}: write NAME=VALUE, as spark.executor.memory=2g")
        settings[name] = value
    if is_submitted():
        if master or settings:
            raise InputError(
                "spark-submit has started this: give --master and --conf to it, before the script"
            )
        return EVERY_CORE, {}
    check_conf(settings)
    master = master or settings.get("spark.master", EVERY_CORE)
    check_master(master)
    return master, settings


def _notice_local_folders(job: Job, console: Console) -> None:
    """Say what must be a shared disk: executors write to their own what the driver then misses."""
    sink = None if job.sink.format == "stdout" else job.sink.path
    folders = {"checkpoint.path": job.checkpoint, "sink.path": sink}
    local = [f"{key} = {path}" for key, path in folders.items() if path and local_path(path)]
    if local:
        console.print(f"{', '.join(local)}: every machine of the cluster must see the same folder")


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
