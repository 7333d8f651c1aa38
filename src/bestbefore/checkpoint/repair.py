"""The repair of a checkpoint: what is left of it becomes a state that can be gone on from."""

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bestbefore.checkpoint.inspection import Damage, Mend, RequestFile, inspect
from bestbefore.checkpoint.ledger import LEDGER_FILE, Reservations
from bestbefore.checkpoint.ownership import write_run
from bestbefore.checkpoint.relied_on import OFFSETS, SPARK_COMMITS, log_number, segment_folder
from bestbefore.checkpoint.state import QUERIES, Commits, State, query_folder
from bestbefore.errors import DamagedState
from bestbefore.storage import Storage, StorageFolder


def repair(
    storage: Storage, ledgers: Sequence[RequestFile] = (), *, accept_loss: bool = False
) -> list[Damage]:
    """Mend all damage of a checkpoint, or none of it; return what was mended.

    What would lose something is only done with `accept_loss`.
    """
    mended, mending = list[Damage](), _Mending(storage, ledgers)
    while found := inspect(storage, ledgers):
        _refuse(storage, found, accept_loss=accept_loss)
        for damage in found:
            if damage in mended:
                raise DamagedState(f"{storage.root}: {damage}, still; {Mend.NOTHING.value}")
            mending.mend(damage)
            mended.append(damage)
    return mended


def _refuse(storage: Storage, found: Sequence[Damage], *, accept_loss: bool) -> None:
    for damage in found:
        if damage.mend is Mend.NOTHING:
            raise DamagedState(
                f"{storage.root}: {damage} and cannot be mended: {damage.mend.value}"
            )
        if damage.mend.loses and not accept_loss:
            raise DamagedState(
                f"{storage.root}: {damage}; a repair would {damage.mend.value}. Restore it from a "
                "copy, or repair with --accept-loss"
            )


@dataclass(frozen=True)
class _Mending:
    """What is done to a checkpoint, damage by damage; `ledgers` count requests to its services."""

    storage: Storage
    ledgers: Sequence[RequestFile]

    def mend(self, damage: Damage) -> None:
        """Do what can be done about one damage."""
        file, state = damage.file, self._latest(without=damage)
        match damage.mend:
            case Mend.GO_BACK | Mend.REPEAT:
                self._repeat_after(state)
            case Mend.OFFSETS:
                self._delete_log(file)
                self.storage.write(file, state.offsets[file].encode())
            case Mend.RUN:
                write_run(self.storage, state.run)
            case Mend.FORGET | Mend.STRAY:
                self.storage.delete(file)
            case Mend.LEDGER:
                self._replace_ledger(file, state)
            case Mend.LIMITS:
                self._drop_limits(file, state)
            case _:
                self._commit_without(damage, state)

    def _commit_without(self, damage: Damage, state: State) -> None:
        """Commit a state anew that does not rely on what is damaged."""
        query, file = _split(damage.file)
        part = state.parts()[query]
        match damage.mend:
            case Mend.METADATA:
                self._delete_log(file)
                self.storage.write(file, json.dumps({"id": str(uuid.uuid4())}).encode())
            case Mend.SEGMENT:
                left = (one for one in part.segments if segment_folder(one.name) != file)
                state = state.with_part(query, replace(part, segments=tuple(left)))
            case Mend.ANSWERED:
                state = state.with_part(query, replace(part, answered=""))
            case Mend.VIEW:
                state = state.without_view(query, _service_of(file))
            case _:
                raise DamagedState(f"{damage} and cannot be mended: {Mend.NOTHING.value}")
        Commits(self.storage).write(state.without_files(damage.file))

    def _latest(self, *, without: Damage) -> State:
        """The last commit; one that is damaged itself is removed first."""
        if without.mend is Mend.GO_BACK:
            self.storage.delete(without.file)
        commits = Commits(self.storage)
        return commits.read(commits.names()[-1])

    def _repeat_after(self, state: State) -> None:
        """Let Spark begin again with the batch after the one that a state has committed."""
        committed = state.source_batch
        for folder, last in ((SPARK_COMMITS, committed), (OFFSETS, committed + 1)):
            for name in self.storage.names(folder):
                if log_number(name) > last:
                    self._delete_log(f"{folder}/{name}")

    def _delete_log(self, name: str) -> None:
        """Remove a file of Spark's, with the checksums that are kept beside it."""
        folder, _, file = name.rpartition("/")
        self.storage.delete(name)
        self.storage.delete(f"{folder}/.{file}.crc")

    def _replace_ledger(self, file: str, state: State) -> None:
        query, name = _split(file)
        service = _service_of(name)
        own = StorageFolder(self.storage, f"{query}services/{service}")
        own.delete(LEDGER_FILE)
        Reservations(own).replace_lost(written=state.parts()[query].view(service).ledger)

    def _drop_limits(self, file: str, state: State) -> None:
        """Let a ledger of requests begin anew, and the state expect no more of it."""
        for ledger in self.ledgers:
            if ledger.file == file:
                ledger.storage.delete(ledger.name)
                part = state.parts()[ledger.query]
                begun = replace(part.view(ledger.service), limits=0)
                part = replace(part, views={**part.views, ledger.service: begun})
                state = state.with_part(ledger.query, part)
        Commits(self.storage).write(state)


def _split(file: str) -> tuple[str, str]:
    """The folder of the query that a file is of, and its name in there."""
    match file.split("/"):
        case [queries, name, *inside] if queries == QUERIES:
            return query_folder(name), "/".join(inside)
    return "", file


def _service_of(file: str) -> str:
    return file.split("/")[1]
