"""`bestbefore run`: a job on this machine or a cluster, a line per evaluation in its log."""

import signal
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from types import FrameType

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from bestbefore.cli.logs import log, set_up_log
from bestbefore.cli.tally import Tally
from bestbefore.engine import Engine, Quality, RunningQuery
from bestbefore.engine.failures import told
from bestbefore.engine.query_run import QueryRun
from bestbefore.engine.sharing import check_together, shared_views
from bestbefore.engine.sinks import check_output
from bestbefore.errors import InputError, WorkError
from bestbefore.job import load_job
from bestbefore.job.job import UNTIL_END, Job, ServiceSettings
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
from bestbefore.time import format_instant, monotonic_ms

_FOLLOW_TRIGGER = "1s"
_STEP_S = 0.5
_ENDING = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True)
class RunOptions:
    """How a job is run: how long, how loud, how strict, and on which Spark."""

    follow: bool = False
    until_end: bool = False
    overwrite: bool = False
    strict: bool = False
    quiet: bool = False
    log_format: str = "text"
    log_level: str = "info"
    master: str | None = None
    conf: tuple[str, ...] = ()


def run_jobs(paths: Sequence[Path], options: RunOptions) -> None:
    """Run jobs together until their streams end, or to follow them until Ctrl-C."""
    set_up_log(options.log_format, options.log_level)
    master, settings = read_spark_options(options)
    jobs = [with_mode(load_job(path), options) for path in paths]
    name = jobs[0].query.name if len(jobs) == 1 else None
    set_up_log(options.log_format, options.log_level, query=name)
    for job, path in zip(jobs, paths, strict=True):
        check_input(job, path)
        check_output(job)
    check_together(jobs)
    _notice_services(jobs)
    spark = start_spark(jobs[0], master, settings)
    tally = Tally()

    def heard(record: Quality) -> None:
        tally.add(record)
        if not options.quiet:
            _show(record, several=len(jobs) > 1)

    try:
        running = Engine(spark).start(*jobs, on_quality=heard, overwrite=options.overwrite)
        wait_for(running)
        summarise(running, tally)
        spark.stop()
    except (Py4JError, PySparkException, OSError) as error:
        raise told(error, jobs[0]) from None
    if options.strict and tally.troubles:
        raise WorkError(f"--strict: {'; '.join(tally.troubles)}")


def _notice_services(jobs: Sequence[Job]) -> None:
    """Say how each view is maintained, and whose it is where queries share it."""
    for view in shared_views(jobs):
        service = view.settings
        means = f"{service.policy.name}, {service.budget} refreshes per evaluation"
        if view.shared:
            queries = ", ".join(f"<{jobs[query].query.name}>" for query, _ in view.members)
            means += f", one view for {queries}"
        elif (shared := jobs[view.owner].shared_budget) is not None:
            means = f"{service.policy.name}, its part of {shared} refreshes per evaluation"
        log.info("%s", means, extra={"service": service.name})
        _notice_intervals(service)


def with_mode(job: Job, options: RunOptions) -> Job:
    """The job as the command line wants it to end."""
    if options.follow and options.until_end:
        raise InputError("--follow waits for more, --until-end ends: give one of them")
    if options.until_end:
        return replace(job, trigger=UNTIL_END)
    if options.follow and not job.is_live:
        return replace(job, trigger=_FOLLOW_TRIGGER)
    return job


def check_input(job: Job, path: Path) -> None:
    """Refuse what can be known to be wrong before Spark is started, and warn of the rest."""
    for stream in job.sources:
        if stream.source is not None:
            stream.source.check()
    for warning in find_warnings(job.query):
        log.warning("%s: %s", path, warning)


def start_spark(job: Job, master: str, settings: dict[str, str]) -> SparkSession:
    """A session for a job, in which Ctrl-C is heard of here."""
    log.info("starting Spark …")
    spark = open_session(master=master, conf=settings, log=_spark_log(job))
    # PySpark's own handler would abort the batch that runs.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if not is_local(str(spark.sparkContext.master)):
        _notice_local_folders(job)
    return spark


def read_spark_options(options: RunOptions) -> tuple[str, dict[str, str]]:
    """The master and the settings that the command line names, checked."""
    master, settings = options.master, {}
    for text in options.conf:
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


def _notice_local_folders(job: Job) -> None:
    """Say what must be a shared disk: executors write to their own what the driver then misses."""
    sink = None if job.sink.format == "stdout" else job.sink.path
    folders = {"checkpoint.path": job.checkpoint, "sink.path": sink}
    local = [f"{key} = {path}" for key, path in folders.items() if path and local_path(path)]
    if local:
        log.info("%s: every machine of the cluster must see the same folder", ", ".join(local))


def _notice_intervals(service: ServiceSettings) -> None:
    if service.view.learned and service.view.mode == "maintained":
        log.info(
            "no change intervals given: how often each unit changes is learned as it is refreshed",
            extra={"service": service.name},
        )


def wait_for(running: RunningQuery, lasting_ms: int | None = None) -> None:
    """Wait for the end of the stream, or for Ctrl-C or SIGTERM and then the end of the batch.

    A second signal ends the process at once, as a crash would. It also ends after so long.
    """
    stopped, begun_ms = Event(), monotonic_ms()

    def stop(_: int, __: FrameType | None) -> None:
        stopped.set()
        for number in _ENDING:
            signal.signal(number, signal.SIG_DFL)

    for number in _ENDING:
        signal.signal(number, stop)
    while not running.wait(_STEP_S):
        late = lasting_ms is not None and monotonic_ms() - begun_ms >= lasting_ms
        if late or stopped.is_set():
            log.info("stopping after the batch that runs …")
            running.stop()
            return


def _spark_log(job: Job) -> Path:
    folder = job.checkpoint if "://" not in job.checkpoint else tempfile.mkdtemp("bestbefore")
    return Path(folder) / "spark.log"


def _show(record: Quality, *, several: bool = False) -> None:
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
    about: dict[str, object] = {"batch": record.batch, "evaluation": record.evaluation}
    about |= {"query": record.query} if several else {}
    if record.service_status == "ok":
        log.info("%s", line, extra=about)
    else:
        log.warning("%s, service %s", line, record.service_status, extra=about)


def summarise(running: RunningQuery, tally: Tally) -> None:
    """Say what came of this run and of all with this checkpoint, what went wrong, what is open."""
    log.info("%s", tally)
    if tally.troubles:
        log.warning("what went wrong: %s", "; ".join(tally.troubles))
    runs = running.processor.runs
    for run in runs:
        _summarise_query(run, {"query": run.job.query.name} if len(runs) > 1 else {})


def _summarise_query(run: QueryRun, about: dict[str, str]) -> None:
    state, job = run.state, run.job
    log.info(
        f"{state.evaluations} evaluations of {state.elements} elements in all; "
        f"{state.refreshes} refreshes in {state.requests} requests; {state.late} late, "
        f"{state.quarantined} quarantined",
        extra=about,
    )
    if state.quarantined:
        log.warning("quarantine: %s/quarantine", run.storage.root, extra=about)
    if job.sink.path and job.sink.format != "stdout":
        paths = (job.sink.path, job.sink.quality)
        log.info("answers: %s, quality: %s", *paths, extra=about)
    if state.segments and state.latest_ms is not None:
        at = format_instant(state.latest_ms)
        what = "elements at" if job.counts_elements else "windows that close at"
        told = "open: %s %s or later wait for later elements; --until-end closes them"
        log.info(told, what, at, extra=about)
