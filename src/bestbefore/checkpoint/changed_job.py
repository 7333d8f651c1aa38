"""A changed job on an old checkpoint: each change is applied, or refused with the reason."""

import logging
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from bestbefore.checkpoint.state import State
from bestbefore.errors import StateError
from bestbefore.job.job import Job, ServiceSettings, StreamSettings
from bestbefore.spark.sources import FolderSource, SparkSource

_LOG = logging.getLogger("bestbefore.checkpoint")
_NONE = "-"
# What names the data that a source of Spark's reads; other options may hold secrets.
_NAMING = ("subscribe", "subscribePattern", "assign", "kafka.bootstrap.servers", "path")
_REFUSED = {
    "query.t0": "its windows have begun where they did",
    "query.full_windows_only": "its windows have begun where they did",
    "source": "Spark's offsets are those of the other source",
    "time": "its buffer holds elements with the other time",
    "services": "views, ledgers and journals are kept under these names",
}
ANEW = "endpoint"
"""The setting of a service whose change starts its view anew: its rows are of no other service."""

INTERVALS = "view.intervals"
"""The setting of a service whose change gives the units of its view other change intervals."""


def settings_of(job: Job) -> dict[str, str]:
    """What a job says that a checkpoint of it depends on, by keys of the job file."""
    settings = {
        "query.t0": _text(job.t0_ms),
        "query.full_windows_only": _text(job.full_windows_only),
        "query.report": f"{job.report.strategy.value} {_text(job.report.every_ms)}",
        "services": ", ".join(sorted(service.name for service in job.services)),
    }
    for stream in job.sources:
        settings |= {f"streams <{stream.iri}> {key}": one for key, one in _of_stream(stream)}
    for service in job.services:
        settings |= {f"services.{service.name}.{key}": one for key, one in _of_service(service)}
    return settings


def _of_stream(stream: StreamSettings) -> list[tuple[str, str]]:
    source = stream.source
    match source:
        case FolderSource():
            found = source.path
        case SparkSource():
            named = (f"{key}={source.options[key]}" for key in _NAMING if key in source.options)
            found = " ".join([source.format, *named])
        case _:
            found = "dataframe"
    lateness = f"{stream.allowed_lateness_ms} ms"
    return [("source", found), ("time", stream.time), ("allowed_lateness", lateness)]


def _of_service(service: ServiceSettings) -> list[tuple[str, str]]:
    view, limits = service.view, service.limits
    return [
        (ANEW, service.identity),
        ("policy", service.policy.name),
        ("seed", str(service.seed)),
        ("budget.refreshes", str(service.budget)),
        ("budget.start", str(service.start)),
        ("budget.ahead", _text(service.ahead)),
        ("limits", repr(limits)),
        ("qos", repr(service.qos)),
        ("view.fill", "on-demand" if view.fill else "start"),
        ("view.mode", view.mode),
        ("view.capacity", _text(view.capacity)),
        ("view.keep_windows", str(view.keep_windows)),
        (INTERVALS, _intervals(service)),
    ]


def _intervals(service: ServiceSettings) -> str:
    view = service.view
    parts = [f"{view.change_interval_ms or service.window.width_ms} ms"]
    parts += ["learned"] * view.learned
    for name in (view.interval_variable, view.interval_predicate, view.interval_file):
        parts += [name] if name else []
    if view.interval_file and (file := Path(view.interval_file)).is_file():
        parts.append(sha256(file.read_bytes()).hexdigest()[:16])
    return " ".join(parts)


def take_over(state: State, settings: Mapping[str, str], where: str) -> frozenset[str]:
    """The settings that have changed since a state was committed; some are refused.

    `where` is how a message names the checkpoint. What is applied is said in the log.
    """
    before = state.settings
    changed = [key for key in {**before, **settings} if before.get(key) != settings.get(key)]
    if not before:
        return frozenset()
    for key in changed:
        was, now = before.get(key, _NONE), settings.get(key, _NONE)
        if reason := _refusal(key, state, now):
            raise StateError(
                f"{key} = {now}, and the checkpoint {where} was made with {was}: {reason}; set it "
                "back, or use another checkpoint.path"
            )
        applied = f"from evaluation {state.next_evaluation} on"
        if key.endswith(f".{ANEW}"):
            applied = "its view starts anew"
        _LOG.info("%s = %s (was %s): %s", key, now, was, applied)
    return frozenset(changed)


def _refusal(key: str, state: State, now: str) -> str | None:
    """Why a change cannot be applied, if it cannot."""
    if key.startswith("query.") and state.t0_ms is None:
        return None
    if key.startswith("services.") and key.endswith(".view.fill"):
        return "the view was not loaded at the start" if now == "start" else None
    name = key if key in _REFUSED else key.rpartition(" ")[2]
    return _REFUSED.get(name)


def _text(value: object) -> str:
    return _NONE if value is None else str(value)
