"""The inspection of a checkpoint: whether its logs, files and numbers agree with each other."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial

from bestbefore.checkpoint.advances import ADVANCE_FILE, Advances
from bestbefore.checkpoint.journal import Journal
from bestbefore.checkpoint.ledger import LEDGER_FILE, Reservations
from bestbefore.checkpoint.ownership import RUN_FILE, run_of
from bestbefore.checkpoint.relied_on import (
    OFFSETS,
    SOURCES,
    SPARK_COMMITS,
    log_number,
    log_of,
)
from bestbefore.checkpoint.spark_log import fault_in, files_until
from bestbefore.checkpoint.state import QUERIES, Commits, State
from bestbefore.errors import DamagedState
from bestbefore.job.job import Job, ServiceSettings
from bestbefore.limits.ledger import ledger_name
from bestbefore.limits.ledger_file import read_usage
from bestbefore.storage import Storage, StorageFolder, agree


class Mend(Enum):
    """What a repair can do about damage, in the words that people are told."""

    NOTHING = "restore it from a copy, or use another checkpoint.path to start anew"
    GO_BACK = "go back to the commit before, whose batch is then repeated: nothing is lost"
    REPEAT = "let Spark repeat the batch: nothing is lost"
    OFFSETS = "write it anew from the commit: nothing is lost"
    METADATA = "write another, with a new id: nothing is lost"
    RUN = "write the id of the commits into it: nothing is lost"
    STRAY = "remove it: nothing is lost"
    FORGET = "remove it: refreshes that it noted may be made again within their budgets"
    LEDGER = "write it anew: the batch under way then makes no refresh"
    SEGMENT = "go on without its elements: answers of windows that held them lack them"
    ANSWERED = "go on without it: the next answer is compared with no other"
    VIEW = "start the view anew: what it held is fetched again within the budgets"
    LIMITS = "count what the service is asked from zero: its limits may be exceeded once"

    @property
    def loses(self) -> bool:
        """Whether something is lost for good by it."""
        return self in (Mend.SEGMENT, Mend.ANSWERED, Mend.VIEW, Mend.LIMITS)


@dataclass(frozen=True)
class Damage:
    """A file of a checkpoint that is not what it must be, and what can be done about it."""

    file: str
    what: str
    mend: Mend = Mend.NOTHING

    def __str__(self) -> str:
        return f"{self.file} {self.what}"


@dataclass(frozen=True)
class RequestFile:
    """Where the requests to a service are counted; `query` is the folder of its query."""

    service: str
    storage: Storage
    name: str
    query: str = ""

    @property
    def file(self) -> str:
        """What a message calls it."""
        return f"{self.storage.root}/{self.name}"


def request_files(
    job: Job, folder_of: Callable[[ServiceSettings], Storage], query: str = ""
) -> list[RequestFile]:
    """Where the requests to a job's services are counted, for those that have limits."""
    return [
        RequestFile(one.name, folder_of(one), ledger_name(one.address), query)
        for one in job.services
        if one.limits.lasting
    ]


def check(storage: Storage) -> None:
    """Refuse to go on from a checkpoint that lost something."""
    _refuse(storage, inspect(storage))


def check_ledgers(storage: Storage, state: State, ledgers: Sequence[RequestFile]) -> None:
    """Refuse to go on where what services were asked is not known any more."""
    _refuse(storage, [damage for ledger in ledgers for damage in _requests(ledger, state)])


def _refuse(storage: Storage, found: Sequence[Damage]) -> None:
    for damage in found:
        way_out = Mend.NOTHING.value
        if damage.mend is not Mend.NOTHING:
            way_out = f"`bestbefore checkpoint repair` can {damage.mend.value}; or {way_out}"
        raise DamagedState(f"the checkpoint {storage.root} is damaged: {damage}; {way_out}")


def inspect(storage: Storage, ledgers: Sequence["RequestFile"] = ()) -> list[Damage]:
    """All damage of a checkpoint, as far as it can be told from what is left.

    Formats that this version does not read are errors of their own.
    """
    commits = Commits(storage)
    names = commits.names()
    state = None
    if names:
        try:
            state = commits.read(names[-1])
        except DamagedState as error:
            return [Damage(names[-1], _said(error), _way_back(commits, names))]
    found = [
        *_spark_logs(storage, state),
        *_run(storage, state),
        *_sealed(ADVANCE_FILE, lambda: Advances(storage).unfinished(0)),
    ]
    if state is not None:
        found += [*_files(storage, state), *_under_way(storage, state)]
        found += [damage for ledger in ledgers for damage in _requests(ledger, state)]
    return list({damage.file: damage for damage in reversed(found)}.values())[::-1]


def _way_back(commits: Commits, names: Sequence[str]) -> Mend:
    """Whether the commit before can be gone back to."""
    try:
        before = commits.read(names[-2]) if len(names) > 1 else None
    except DamagedState:
        return Mend.NOTHING
    lost = before is None or any(_files(commits.storage, before))
    return Mend.NOTHING if lost else Mend.GO_BACK


def _files(storage: Storage, state: State) -> Iterator[Damage]:
    """What the state relies on and is not as it was."""
    for name, told in state.files.items():
        found = storage.fingerprint(name)
        if agree(told, found):
            continue
        size, was = ((one or "").rpartition(", ")[0] for one in (found, told))
        what = f"has other content than it had ({was})"
        if found is None:
            what = f"is missing ({was})"
        elif size != was:
            what = f"has {size}, and had {was}"
        yield Damage(name, what, _mend_of(name, state))


def _mend_of(name: str, state: State) -> Mend:
    parts = name.split("/")
    match parts[2:] if parts[0] == QUERIES else parts:
        case ["buffer", *_]:
            return Mend.SEGMENT
        case ["answered", *_]:
            return Mend.ANSWERED
        case ["services", *_]:
            return Mend.VIEW
        case ["spark", "offsets", *_] if name in state.offsets:
            return Mend.OFFSETS
        case ["spark", "metadata"]:
            return Mend.METADATA
        case _:
            return Mend.NOTHING


def _spark_logs(storage: Storage, state: State | None) -> Iterator[Damage]:
    """Where Spark's logs and the commits do not agree on how far the query has come."""
    begun, done = (_last(storage, folder) for folder in (OFFSETS, SPARK_COMMITS))
    committed = -1 if state is None else state.source_batch
    if done > committed:
        missing = f"lacks the commit of Spark's batch {done}"
        # What the batch before relied on is still there if the last commit is all that is lost.
        mend = Mend.REPEAT if state is not None and done == committed + 1 else Mend.NOTHING
        yield Damage("commits", missing, mend)
        return
    if begun > committed + 1:
        yield Damage("commits", f"is older than Spark's log, which has begun batch {begun}")
        return
    if begun < committed and f"{OFFSETS}/{committed}" not in (state.files if state else ()):
        yield Damage(OFFSETS, f"lacks the batch {committed}, which is committed")
    for batch in range(max(0, committed - 1), begun + 1):
        name = f"{OFFSETS}/{batch}"
        if fault := fault_in(storage, name):
            yield Damage(name, fault, _mend_of(name, state) if state else Mend.NOTHING)
    for folder, last in ((OFFSETS, begun), (SPARK_COMMITS, done)):
        yield from _strays(storage, folder, last + 1)
    yield from _source_logs(storage, begun)


def _strays(storage: Storage, folder: str, following: int) -> Iterator[Damage]:
    """Checksums without their file: Spark takes them for those of somebody else who writes it."""
    for file in (f"{following}", f"{following}.compact"):
        name = f"{folder}/.{file}.crc"
        if storage.read(name) is not None:
            yield Damage(name, f"is left of {folder}/{file}, which is missing", Mend.STRAY)


def _source_logs(storage: Storage, begun: int) -> Iterator[Damage]:
    """What the logs of Spark's sources lack of what its last batch was to read."""
    wanted = files_until(storage, f"{OFFSETS}/{begun}") if begun >= 0 else {}
    for source in storage.names(SOURCES):
        folder = f"{SOURCES}/{source}"
        names = log_of(storage, folder)
        for name in names:
            # Each kind of source has a form of its own.
            if fault := fault_in(storage, f"{folder}/{name}", is_json=False):
                yield Damage(f"{folder}/{name}", fault)
        numbers = [log_number(name) for name in names]
        yield from _strays(storage, folder, max(numbers, default=-1) + 1)
        first = numbers[0] if names and names[0].endswith(".compact") else 0
        last = wanted.get(int(source), -1) if source.isdecimal() else -1
        for number in range(first, last + 1):
            if number not in numbers:
                yield Damage(f"{folder}/{number}", "is missing")


def _run(storage: Storage, state: State | None) -> Iterator[Damage]:
    """Whether the checkpoint still has the id that its commits have."""
    mend = Mend.RUN if state is not None else Mend.NOTHING
    try:
        found = run_of(storage)
    except DamagedState as error:
        yield Damage(RUN_FILE, _said(error), mend)
        return
    if state is not None and found != state.run:
        what = "is missing" if found is None else "is that of another checkpoint"
        yield Damage(RUN_FILE, what, mend)


def _under_way(storage: Storage, state: State) -> Iterator[Damage]:
    """What the batch under way has noted, which no commit knows of yet."""
    views = {
        f"{query}services/{service}": view
        for query, part in state.parts().items()
        for service, view in part.views.items()
    }
    for folder, view in views.items():
        own = StorageFolder(storage, folder)
        journal = Journal(own)
        for name in journal.names(state.batch + 1):
            yield from _sealed(f"{folder}/{name}", partial(journal.read, name))
        file = f"{folder}/{LEDGER_FILE}"
        try:
            written = Reservations(own).written
        except DamagedState as error:
            yield Damage(file, _said(error), Mend.LEDGER)
            continue
        if written < view.ledger:
            what = "is older than the last commit" if written else "is missing"
            yield Damage(file, what, Mend.LEDGER)


def _requests(ledger: RequestFile, state: State) -> Iterator[Damage]:
    """Whether a ledger of requests is at least as late as the last commit."""
    content = ledger.storage.read(ledger.name)
    try:
        written = 0 if content is None else read_usage(content, ledger.file).reservations
    except DamagedState as error:
        yield Damage(ledger.file, _said(error), Mend.LIMITS)
        return
    if written < state.parts()[ledger.query].view(ledger.service).limits:
        what = "is missing" if content is None else "is older than the last commit"
        yield Damage(ledger.file, what, Mend.LIMITS)


def _sealed(name: str, read: Callable[[], object]) -> Iterator[Damage]:
    """Whether a file of the batch under way can be read."""
    try:
        read()
    except DamagedState as error:
        yield Damage(name, _said(error), Mend.FORGET)


def _last(storage: Storage, folder: str) -> int:
    """The last batch of one of Spark's logs, −1 if it has none."""
    return max((log_number(name) for name in storage.names(folder)), default=-1)


def _said(error: DamagedState) -> str:
    """What an error says of a file, without its name."""
    return "is empty" if "is empty" in str(error) else "is damaged"
