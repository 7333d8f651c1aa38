"""Which queries of a run share a view: those that ask the same service for the same.

What a view holds, how it is maintained and what it may cost is then one thing. Queries may call
variables as they like, and what they do with the rows is their own matter.
"""

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from hashlib import sha256
from typing import Any

from bestbefore.checkpoint.state import query_folder
from bestbefore.errors import JobError
from bestbefore.job.job import Job, Qos, ServiceSettings, StreamSettings
from bestbefore.maintenance import Need
from bestbefore.query.algebra import Variable


@dataclass(frozen=True)
class SharedView:
    """A view with the settings that hold for all who share it: clauses by query and number."""

    settings: ServiceSettings
    owner: int
    members: tuple[tuple[int, int], ...]

    @property
    def shared(self) -> bool:
        """Whether it is more than one query's."""
        return len(self.members) > 1


def shared_views(jobs: Sequence[Job]) -> list[SharedView]:
    """The views of all queries; those that they share once, with the first that has it."""
    found = dict[Hashable, list[tuple[int, int]]]()
    for query, job in enumerate(jobs):
        for number, service in enumerate(job.services):
            identity = _identity(service) if _sharable(job, service) else (query, number)
            members = found.setdefault(identity, [])
            if members and members[-1][0] == query:
                # Two clauses of one query are two, also if they are written alike.
                found[(query, number)] = [(query, number)]
            else:
                members.append((query, number))
    return [
        SharedView(_together([jobs[query].services[number] for query, number in members]),
                   members[0][0], tuple(members))
        for members in found.values()
    ]  # fmt: skip


def _sharable(job: Job, service: ServiceSettings) -> bool:
    """Whether a view may be kept for several: what it is asked follows from windows in time."""
    own = service.plan.after is not None or service.ahead or service.policy.saves
    return not own and not job.counts_elements and job.shared_budget is None


def _identity(service: ServiceSettings) -> Hashable:
    """What two clauses that share a view have in common, whatever they call their variables."""
    names = {variable.name: f"v{place}" for place, variable in enumerate(service.plan.variables)}
    needs = service.policy.needs
    told = names.get(str(service.view.interval_variable))
    view = replace(service.view, refresh_key=None, interval_variable=told)
    return (
        repr(service.client),
        repr(_renamed(service.plan.service.pattern, names)),
        tuple(names[name] for name in service.join_key),
        tuple(names[name] for name in service.refresh_key),
        repr(view),
        service.policy.name,
        service.seed,
        repr(service.limits),
        service.ledger,
        repr(service.changes),
        _threshold(service, names) if Need.FILTER in needs else None,
        service.plan.aggregated if Need.AGGREGATE in needs else None,
    )  # fmt: skip


def _threshold(service: ServiceSettings, names: Mapping[str, str]) -> Hashable:
    one = service.threshold
    return None if one is None else (names.get(one.variable.name), one.op, one.number)


def _renamed(node: Any, names: dict[str, str]) -> Any:  # noqa: ANN401 - any part of a pattern
    """A part of a pattern with other names for its variables; inner ones are numbered on."""
    if isinstance(node, Variable):
        return replace(node, name=names.setdefault(node.name, f"v{len(names)}"))
    if isinstance(node, tuple):
        return tuple(_renamed(one, names) for one in node)
    if is_dataclass(node) and not isinstance(node, type):
        parts = {one.name: _renamed(getattr(node, one.name), names) for one in fields(node)}
        return replace(node, **parts)
    return node


def _together(members: Sequence[ServiceSettings]) -> ServiceSettings:
    """The settings of a view that clauses share: the larger budget, the stricter promise."""
    first = members[0]
    if len(members) == 1:
        return first
    alike = len({_threshold(one, _places(one)) for one in members}) == 1
    plan = replace(
        first.plan,
        thresholds=first.plan.thresholds if alike else (),
        aggregated=all(one.plan.aggregated for one in members),
    )
    wanted = [one.qos.freshness for one in members if one.qos.freshness is not None]
    deadlines = [one.qos.deadline_ms for one in members if one.qos.deadline_ms is not None]
    return replace(
        first,
        plan=plan,
        window=min((one.window for one in members), key=lambda window: window.slide_ms),
        budget=max(one.budget for one in members),
        start=max(one.start for one in members),
        once=all(one.once for one in members),
        shown=any(one.shown for one in members),
        qos=Qos(max(wanted, default=None), min(deadlines, default=None)),
    )


def _places(service: ServiceSettings) -> dict[str, str]:
    return {variable.name: str(place) for place, variable in enumerate(service.plan.variables)}


def folders_of(jobs: Sequence[Job]) -> list[str]:
    """The folders of queries that run together in their checkpoint: the first is in its root."""
    names = [job.query.name for job in jobs]
    for name in names:
        if names.count(name) > 1:
            raise JobError(f"two queries register <{name}>: give each a name of its own")
    return ["", *(query_folder(_slug(name)) for name in names[1:])]


def _slug(name: str) -> str:
    """A name that is a folder's wherever it is, short, and told apart by its checksum."""
    tail = re.sub(r"[^A-Za-z0-9_-]", "-", re.split(r"[/#:]", name)[-1])[:40]
    return f"{tail}-{sha256(name.encode()).hexdigest()[:8]}"


def check_together(jobs: Sequence[Job]) -> None:
    """Refuse jobs that cannot be one transaction."""
    first, *others = jobs
    folders_of(jobs)
    for job in others:
        for what, of in _COMMON.items():
            if (own := of(job)) != (common := of(first)):
                raise JobError(
                    f"queries that run together have one {what}: <{first.query.name}> says "
                    f"{common!r}, <{job.query.name}> {own!r}; make them equal, or run them apart"
                )
    sinks = [job.sink.path for job in jobs if job.sink.format != "stdout" and job.sink.path]
    for what, paths in (("path", sinks), ("quality", [job.sink.quality for job in jobs])):
        for path in paths:
            if path is not None and paths.count(path) > 1:
                raise JobError(f"two queries have sink.{what} = {path!r}: give each its own")
    streams_of(jobs)


_COMMON: dict[str, Callable[[Job], object]] = {
    "query.trigger": lambda job: job.trigger,
    "query.heartbeat (in ms)": lambda job: job.heartbeat_ms,
}


def streams_of(jobs: Sequence[Job]) -> list[StreamSettings]:
    """The streams of all queries, each once; one that two of them describe otherwise is refused."""
    found = dict[str, StreamSettings]()
    for job in jobs:
        for stream in job.sources:
            known = found.setdefault(stream.iri, stream)
            if (known.source, known.time) != (stream.source, stream.time):
                raise JobError(
                    f"the stream <{stream.iri}> has another source or time in <{job.query.name}> "
                    "than in a query that runs with it: make them equal, or run them apart"
                )
    return list(found.values())
