"""Whose a folder is: one process at a time per checkpoint, one checkpoint per folder of answers.

A checkpoint has a run id from its first start on, in `run.json`. The folders that its answers and
quality records go to hold the same id in a file that readers of Spark do not see.
"""

import fcntl
import os
import re
import socket
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from bestbefore.errors import DamagedState, StateError
from bestbefore.sealed import seal, unseal
from bestbefore.storage import Storage, local_path

OWNER_FILE = "_bestbefore.json"
RUN_FILE = "run.json"
_LOCK_FILE = "lock"
_LENT_FILE = "together.json"
# What a run writes into a folder of answers or quality records, and what Spark does.
_WRITTEN = ("batch=", "batch-", "part-", "_SUCCESS")


@dataclass(frozen=True)
class Owner:
    """Who writes into a folder: the run of a query, by the checkpoint that it goes on from."""

    run: str
    query: str
    checkpoint: str

    def __str__(self) -> str:
        return f"the query <{self.query}> with the checkpoint {self.checkpoint}"


@contextmanager
def lock_checkpoint(address: str) -> Iterator[None]:
    """Keep a checkpoint for this process; while another has it, it is refused.

    The lock is the operating system's, so it ends with its process, however that ends. Only file
    systems of this machine have it.
    """
    folder = local_path(address)
    if folder is None:
        yield
        return
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / _LOCK_FILE).open("a+", encoding="utf-8") as file:
        if not _locked(file):
            raise StateError(
                f"the checkpoint {address} is in use by {_holder(folder)}: wait until it ends, or "
                "use another checkpoint.path"
            )
        file.truncate(0)
        file.write(f"process {os.getpid()} on {socket.gethostname()}")
        file.flush()
        yield


def _locked(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        # A file system without locks: as good as a remote one.
        return True
    return True


def _holder(folder: Path) -> str:
    return (folder / _LOCK_FILE).read_text(encoding="utf-8") or "another process"


def owner_of(storage: Storage, query: str) -> Owner:
    """The owner that a checkpoint stands for, from its first start on."""
    run = run_of(storage)
    if run is None:
        run = uuid.uuid4().hex
        write_run(storage, run)
    return Owner(run, query, storage.root)


def run_of(storage: Storage) -> str | None:
    """The run id of a checkpoint, None if it has none yet."""
    content = storage.read(RUN_FILE)
    if content is None:
        return None
    return str(unseal(content, f"{storage.root}/{RUN_FILE}")["run"])


def write_run(storage: Storage, run: str) -> None:
    """Let a checkpoint have a run id."""
    storage.write(RUN_FILE, seal({"run": run}))


def lend(storage: Storage, checkpoint: str) -> None:
    """Write down that the query of a checkpoint runs together with others, in theirs."""
    storage.write(_LENT_FILE, seal({"checkpoint": checkpoint}))


def lent_to(storage: Storage) -> str | None:
    """The checkpoint in which the query of this one runs together with others, if it does."""
    if (content := storage.read(_LENT_FILE)) is None:
        return None
    return str(unseal(content, f"{storage.root}/{_LENT_FILE}")["checkpoint"])


def check_lent(storage: Storage, query: str) -> None:
    """Refuse to begin anew what runs together with others."""
    if (checkpoint := lent_to(storage)) is not None:
        raise StateError(
            f"the query <{query}> runs together with others, in the checkpoint {checkpoint}: start "
            f"it with them, or remove {storage.root}/{_LENT_FILE} to let it begin anew by itself"
        )


def claim(
    folders: Mapping[str, Storage],
    owner: Owner,
    *,
    begun: bool,
    joined: bool = False,
    overwrite: bool = False,
) -> None:
    """Make folders, by their keys in the job file, those of an owner: all of them or none.

    What another has written is in the way. A checkpoint that has `begun` and finds a folder without
    an owner takes it for its own, unless it is that of a query that only now `joined`. With
    `overwrite` what was written there is removed first, unless its owner still runs.
    """
    taken = {where: folder for where, folder in folders.items() if not _owned(folder, owner)}
    for where, folder in folders.items():
        if where not in taken and not begun:
            _check_begun(folder, where, owner)
    for where, folder in taken.items():
        if overwrite:
            _refuse_running(folder, where, owner)
        else:
            _refuse_written(folder, where, owner, begun=begun and not joined)
    for folder in taken.values():
        for name in _written(folder) if overwrite else ():
            folder.delete(name)
        folder.write(OWNER_FILE, seal(asdict(owner)))


def _check_begun(folder: Storage, where: str, owner: Owner) -> None:
    """A run that has committed nothing can have written no batch but its first."""
    numbers = (re.search(r"^batch.(\d+)", name) for name in _written(folder))
    last = max((int(found[1]) for found in numbers if found), default=0)
    if last > 0:
        raise DamagedState(
            f"the checkpoint {owner.checkpoint} has lost its commits: {where} = {folder.root!r} "
            f"holds what it wrote as batch {last}; restore it from a copy, or use another "
            "checkpoint.path to start anew"
        )


def _owned(folder: Storage, owner: Owner) -> bool:
    found = _found(folder)
    return found is not None and found.run == owner.run


def _found(folder: Storage) -> Owner | None:
    content = folder.read(OWNER_FILE)
    if content is None:
        return None
    way_out = "remove it if no other run writes into that folder"
    return Owner(**unseal(content, f"{folder.root}/{OWNER_FILE}", way_out))


def _written(folder: Storage) -> list[str]:
    return [name for name in folder.names("") if name.startswith(_WRITTEN)]


def _refuse_written(folder: Storage, where: str, owner: Owner, *, begun: bool) -> None:
    found = _found(folder)
    if found is None and (begun or not _written(folder)):
        return
    whose = f"belongs to {found}" if found else "holds answers of an earlier run"
    raise StateError(
        f"{where} = {folder.root!r} {whose}, and this is {owner}: use another {where}, or "
        "let --overwrite remove what is there"
    )


def _refuse_running(folder: Storage, where: str, owner: Owner) -> None:
    found = _found(folder)
    # An earlier run may have had the same path, which is locked by this one now.
    if found is None or found.checkpoint == owner.checkpoint:
        return
    checkpoint = local_path(found.checkpoint)
    if checkpoint is None or not (checkpoint / _LOCK_FILE).exists():
        return
    try:
        with lock_checkpoint(str(checkpoint)):
            pass
    except StateError as error:
        raise StateError(f"{where} = {folder.root!r} belongs to {found}: {error}") from None
