"""`bestbefore record`: the traces of a job's own stream and service, to compare policies on."""

import logging
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from bestbefore.checkpoint.ownership import lock_checkpoint
from bestbefore.cli.generating import check_folder, remove_traces
from bestbefore.cli.logs import log, set_up_log
from bestbefore.cli.running import (
    RunOptions,
    check_input,
    read_spark_options,
    start_spark,
    wait_for,
    with_mode,
)
from bestbefore.cli.tally import Tally
from bestbefore.engine import Engine, Quality
from bestbefore.engine.failures import told
from bestbefore.engine.recorded_texts import measured_in
from bestbefore.engine.recording import Recorder, polling_job
from bestbefore.engine.sinks import Nowhere
from bestbefore.errors import InputError, WorkError
from bestbefore.job import Job, load_job
from bestbefore.job.job import UNLIMITED, ServiceSettings
from bestbefore.maintenance import Need
from bestbefore.registry import own_modules
from bestbefore.time import format_duration, format_instant, parse_duration_ms
from bestbefore.traces import BACKGROUND, LINKS, STREAM, Traces


def record_job(
    path: Path, options: RunOptions, *, lasting: str | None, out: Path | None, force: bool
) -> None:
    """Record what a job's windows need, until its stream or the time is over, or until Ctrl-C."""
    set_up_log(options.log_format, options.log_level)
    master, settings = read_spark_options(options)
    lasting_ms = _lasting_ms(lasting)
    job = with_mode(load_job(path), options)
    set_up_log(options.log_format, options.log_level, query=job.query.name)
    folder = out or path.with_name(f"{path.stem}-traces")
    check_folder(folder, force=force)
    check_input(job, path)
    polling = polling_job(job)
    recorder, recorded = Recorder(polling, folder), None
    _announce(polling, limited=lasting_ms is not None)
    with _own_checkpoint(job, folder) as checkpoint:
        remove_traces(folder)
        polling = replace(polling, checkpoint=checkpoint)
        try:
            spark = start_spark(polling, master, settings)
            _run(spark, polling, recorder, lasting_ms, quiet=options.quiet)
        finally:
            recorded = recorder.close()
            if recorded is not None:
                summarise(recorder, recorded)
                sys.stdout.write(f"{simulate_command(job, recorder, recorded)}\n")
    if recorded is None:
        raise WorkError(
            "nothing was recorded: no window with elements was closed by a later element, or the "
            "service answered for none of its units; record for longer"
        )


def _lasting_ms(lasting: str | None) -> int | None:
    try:
        return None if lasting is None else parse_duration_ms(lasting)
    except InputError as error:
        raise InputError(f"--for: {error}") from None


def _announce(polling: Job, *, limited: bool) -> None:
    """Say what will be asked for, and what bounds it."""
    (service,) = polling.services
    limits = ", ".join(f"{name} = {value}" for name, value in service.limits.given().items())
    log.log(
        logging.INFO if limits else logging.WARNING,
        "every evaluation asks for all that its window needs, whatever budget.refreshes is, within "
        "its limits: %s",
        limits or "none",
        extra={"service": service.name},
    )
    if limited and not polling.is_live:
        log.info("the stream is recorded to its end; --follow waits for more of it")


@contextmanager
def _own_checkpoint(job: Job, folder: Path) -> Iterator[str]:
    """A checkpoint beside the traces, for as long as they are recorded.

    Where requests are counted in the checkpoint of the job, no run may use it meanwhile.
    """
    with ExitStack() as held:
        if any(one.limits.lasting and one.ledger is None for one in job.services):
            held.enter_context(lock_checkpoint(job.checkpoint))
        try:
            folder.mkdir(parents=True, exist_ok=True)
            made = TemporaryDirectory(dir=folder, prefix="checkpoint-", ignore_cleanup_errors=True)
        except OSError as error:
            raise WorkError(f"{folder} cannot be written to: {error.strerror}") from None
        yield str(Path(held.enter_context(made)).absolute())


def _run(
    spark: SparkSession, polling: Job, recorder: Recorder, lasting_ms: int | None, *, quiet: bool
) -> None:
    tally = Tally()

    def heard(record: Quality) -> None:
        tally.add(record)
        if not quiet:
            _show(record)

    try:
        engine = Engine(spark)
        running = engine.start(polling, sink=Nowhere(), on_quality=heard, recorder=recorder)
        wait_for(running, lasting_ms)
        spark.stop()
    except (Py4JError, PySparkException, OSError) as error:
        raise told(error, polling) from None
    if tally.troubles:
        log.warning("what went wrong: %s", "; ".join(tally.troubles))


def _show(record: Quality) -> None:
    needed = record.candidates + record.waiting
    line = (
        f"{format_instant(record.at)}  #{record.evaluation}  {record.refreshed} of {needed} needed "
        f"units polled, {record.changed} had changed"
    )
    if bound := record.limits.get("bound"):
        line += f"; limits.{bound} leaves no more"
    log.info("%s", line, extra={"evaluation": record.evaluation})


def summarise(recorder: Recorder, recorded: Traces) -> None:
    """Say what was recorded, and at which resolution."""
    needed, polled = recorder.needed, recorder.polled
    log.info(
        f"recorded in {recorder.folder}: {len(needed)} evaluations, {len(recorded.stream)} "
        f"mappings of the stream, {len(recorded.background)} values of "
        f"{len(set(recorded.background.key))} units"
    )
    shares = [some / all_ for some, all_ in zip(polled, needed, strict=True) if all_]
    if shares:
        log.info(
            f"of the units that a window needed, {sum(polled) / sum(needed):.0%} were polled, by "
            f"evaluation {min(shares):.0%} to {max(shares):.0%} (median {median(shares):.0%}); "
            "one that was not kept its last value"
        )
    for limit, evaluations in recorder.limited.items():
        log.warning("limits.%s left less than all for %d evaluations", limit, evaluations)
    if polls := recorder.polls.values():
        log.info(
            f"resolution: a unit was polled {min(polls)} to {max(polls)} times (median "
            f"{median(polls):g}), at one in {sum(needed) / sum(polled):.3g} of the evaluations "
            "that needed it; what changed and changed back between two polls is not seen"
        )


def simulate_command(job: Job, recorder: Recorder, recorded: Traces) -> str:
    """The command line that compares policies on what was recorded."""
    (service,), folder = job.services, recorder.folder
    options = {"--stream": str(folder / STREAM), "--background": str(folder / BACKGROUND)}
    if recorded.links is not None:
        options["--links"] = str(folder / LINKS)
    options["--width"] = format_duration(service.window.width_ms)
    options["--slide"] = format_duration(service.window.slide_ms)
    measured = measured_in(job)
    if measured is not None and any(map(_is_number, recorded.background.value)):
        name, value = measured.option
        options[name] = value
    if service.view.capacity is not None:
        options["--cache-size"] = str(service.view.capacity)
    budget = service.budget
    if budget == UNLIMITED:
        budget = sum(recorder.needed) // max(1, 10 * len(recorder.needed))
    budgets = dict.fromkeys(max(1, each) for each in (budget // 2, budget, 2 * budget))
    options["--budget"] = ",".join(map(str, budgets))
    options["--policy"] = ",".join(_policies(service, options))
    own = [word for module in own_modules() for word in ("--policies", module)]
    words = [word for option in options.items() for word in option]
    return shlex.join(["bestbefore", "simulate", *words, *own])


def _policies(service: ServiceSettings, options: dict[str, str]) -> Sequence[str]:
    """The job's own policy, unless it cannot be simulated here, and those of its kind."""
    own, bounded, filtered = service.policy, "--cache-size" in options, "--filter" in options
    fits = (own.fetches_missing or not bounded) and (filtered or Need.FILTER not in own.needs)
    kind = ["WSJ-RND", "WSJ-LRU", "IBM-BGP" if "--links" in options else "WSJ-WBM"]
    if bounded:
        kind = ["MP(CWSJ,WBM,FRP)", "MP(FWSJ,WBM,FRP)"]
    elif filtered:
        kind.append("LRU.F+(alpha=0.5)")
    elif "--aggregate" in options:
        kind.append("IBM-Agg")
    return [*dict.fromkeys([own.name, *kind] if fits else kind)]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
