"""What queries are started with, and which of them can run together."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pyspark.sql import DataFrame

from bestbefore.engine.alerts import AlertListener
from bestbefore.engine.query_run import QualityListener
from bestbefore.engine.recording import Recorder
from bestbefore.engine.sharing import check_together, shared_views, streams_of
from bestbefore.engine.sinks import Sink, check_output, output_folders
from bestbefore.errors import InputError, JobError, nearest
from bestbefore.job.job import Job
from bestbefore.service import Service


@dataclass(frozen=True)
class Start:
    """What a query is started with."""

    job: Job
    streams: Mapping[str, DataFrame] = field(default_factory=dict)
    services: Mapping[str, Service] = field(default_factory=dict)
    sink: Sink | None = None
    on_quality: QualityListener | None = None
    on_alert: AlertListener | None = None
    recorder: Recorder | None = None

    def check(self) -> None:
        """Refuse what the job has no place for."""
        check_output(self.job, sink_given=self.sink is not None)
        _check_names("service", self.services, [service.name for service in self.job.services])
        _check_names("stream", self.streams, [stream.name for stream in self.job.sources])

    def frames(self) -> dict[str, DataFrame]:
        """The DataFrames by the IRIs of the streams that they are."""
        named = {stream.name: stream.iri for stream in self.job.sources}
        return {named[name]: frame for name, frame in self.streams.items()}

    def outputs(self) -> dict[str, str]:
        """The folders of the answers."""
        return output_folders(self.job, sink_given=self.sink is not None)

    def given(self, number: int) -> Service | None:
        """The service that was handed over in the place of one of the job's."""
        return self.services.get(self.job.services[number].name)


def can_join(starts: Sequence[Start], new: Start, *, begun: bool) -> bool:
    """Whether a query can run with others that run, and has a stream or a view in common with them.

    Where they have `begun` to read, it may bring no stream of its own.
    """
    every = [*starts, new]
    if any(one.recorder is not None for one in every):
        return False
    try:
        check_together([one.job for one in every])
    except JobError:
        return False
    known = {stream.iri for stream in streams_of([one.job for one in starts])}
    own = {stream.iri for stream in new.job.sources}
    given = {iri: frame for one in starts for iri, frame in one.frames().items()}
    if (begun and not own <= known) or any(
        given.get(iri) is not frame for iri, frame in new.frames().items() if iri in known
    ):
        return False
    return _agree_on_services(every) and (bool(own & known) or _shares(every))


def _agree_on_services(starts: Sequence[Start]) -> bool:
    """Whether those who share a view were handed the same service, if any was."""
    return all(
        len({id(starts[query].given(number)) for query, number in view.members}) == 1
        for view in shared_views([one.job for one in starts])
    )


def _shares(starts: Sequence[Start]) -> bool:
    """Whether the last query shares a view."""
    views = shared_views([one.job for one in starts])
    return any(view.shared and view.members[-1][0] == len(starts) - 1 for view in views)


def _check_names(kind: str, given: Iterable[str], known: Sequence[str]) -> None:
    if unknown := [name for name in given if name not in known]:
        raise InputError(f"the job has no {kind} {unknown[0]!r}; {nearest(unknown[0], known)}")
