"""What a committed state relies on: files that must be there, as they were, to go on from it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from bestbefore.checkpoint.state import (
    QUERIES,
    Commits,
    State,
    batch_name,
    merged_name,
    query_folder,
)
from bestbefore.storage import Storage

SPARK = "spark"
OFFSETS, SPARK_COMMITS, SOURCES = (f"{SPARK}/{name}" for name in ("offsets", "commits", "sources"))
_METADATA = f"{SPARK}/metadata"
_OF_VIEW = ("view", "journal")
_JOURNAL = re.compile(r"services/(.+)/journal/batch-(\d+)")


def relying(storage: Storage, state: State, before: State) -> State:
    """A state with the fingerprints of what it relies on; what it has from before is not read."""
    files = dict[str, str]()
    for name in (*_folders(state, before.files), *_spark_files(storage, state, before)):
        found = before.files.get(name)
        if found is None:
            storage.force(name)
            found = storage.fingerprint(name)
        if found is not None:
            files[name] = found
    offsets = {
        name: before.offsets.get(name) or (storage.read(name) or b"").decode()
        for name in files
        if name.startswith(f"{OFFSETS}/")
    }
    return replace(state, files=files, offsets=offsets)


def _folders(state: State, known: Iterable[str]) -> list[str]:
    """The folders that the states of all queries rely on."""
    return [
        f"{folder}{name}"
        for folder, part in state.parts().items()
        for name in _own_folders(part, _inside(folder, known))
    ]


def _inside(folder: str, names: Iterable[str]) -> list[str]:
    """The names of what is in the folder of a query, without it."""
    return [name.removeprefix(folder) for name in names if name.startswith(folder)]


def _own_folders(state: State, known: Iterable[str]) -> list[str]:
    """The folders of segments, of the last answer, of views and of their journals."""
    names = [segment_folder(segment.name) for segment in state.segments]
    if state.answered:
        names.append(f"answered/{state.answered}")
    for service, view in state.views.items():
        if view.snapshot:
            names.append(view_folder(service, view.snapshot))
        names.append(f"services/{service}/journal/{batch_name(state.batch)}")
    return names + [name for name in known if _in_journal(name, state)]


def _in_journal(name: str, state: State) -> bool:
    """Whether a folder is that of a batch of a journal that no snapshot covers."""
    found = _JOURNAL.fullmatch(name)
    if found is None or found[1] not in state.views:
        return False
    return state.views[found[1]].snapshot_batch < int(found[2]) <= state.batch


def _spark_files(storage: Storage, state: State, before: State) -> list[str]:
    """The files of Spark's checkpoint that its next batch begins with."""
    if state.source_batch == before.source_batch:
        return [name for name in before.files if _is_sparks(name)]
    sources = [f"{SOURCES}/{name}" for name in storage.names(SOURCES)]
    logs = (f"{source}/{name}" for source in sources for name in log_of(storage, source))
    # Spark begins with the last batch, and where that began is where the one before it ended.
    last = (f"{OFFSETS}/{state.source_batch - back}" for back in range(2))
    return [_METADATA, *last, *logs]


def log_of(storage: Storage, source: str) -> list[str]:
    """The files of a source's log that count: the last that sums up, and those after it."""
    names = sorted(storage.names(source), key=log_number)
    compact = [place for place, name in enumerate(names) if name.endswith(".compact")]
    return names[compact[-1] :] if compact else names


def log_number(name: str) -> int:
    """The number of a file in a log."""
    number = name.removesuffix(".compact")
    return int(number) if number.isdecimal() else -1


def segment_folder(name: str) -> str:
    """The folder of a segment of the buffer."""
    return f"buffer/{name}"


def view_folder(service: str, snapshot: str) -> str:
    """The folder of a snapshot of a service's view."""
    return f"services/{service}/view/{snapshot}"


def sweep(storage: Storage, kept: Sequence[State]) -> None:
    """Remove what crashes left: neither a kept state relies on it, nor the batch under way."""
    if not kept:
        return
    needed = {name for state in kept for name in state.files}
    under_way = batch_name(kept[-1].batch + 1)
    queries = ["", *(query_folder(name) for name in storage.names(QUERIES))]
    for folder in (each for query in queries for each in _swept(storage, query)):
        for name in storage.names(folder):
            if name != under_way and f"{folder}/{name}" not in needed:
                storage.delete(f"{folder}/{name}")


def _swept(storage: Storage, query: str) -> list[str]:
    """The folders of a query in which crashes leave litter."""
    services = storage.names(f"{query}services")
    own = [f"{query}services/{name}/{part}" for name in services for part in _OF_VIEW]
    return [f"{query}buffer", f"{query}answered", *own]


class History:
    """The two latest states of a query: what either relies on is kept, so that one may go back."""

    def __init__(self, storage: Storage, latest: State) -> None:
        self._storage = storage
        self._before = self.latest = latest

    def commit(self, state: State) -> list[str]:
        """Make a state final, and let go of what is no longer relied on; a crash leaves litter."""
        state = relying(self._storage, state, self.latest)
        Commits(self._storage).commit(state)
        needed = {*self.latest.files, *state.files}
        # A batch may have written elements that no window to come needs.
        brought = map(segment_folder, (batch_name(state.batch), merged_name(state.batch)))
        written = (f"{folder}{name}" for name in brought for folder in state.parts())
        old = (*self._before.files, *written)
        gone = [name for name in old if name not in needed and not _is_sparks(name)]
        for name in gone:
            self._storage.delete(name)
        self._before, self.latest = self.latest, state
        return gone


def _is_sparks(name: str) -> bool:
    return name.startswith(f"{SPARK}/")
