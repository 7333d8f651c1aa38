"""`bestbefore checkpoint`: what a checkpoint lost, and what can be done about it."""

from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console

from bestbefore.checkpoint.inspection import Damage, Mend, RequestFile, inspect, request_files
from bestbefore.checkpoint.ownership import lent_to, lock_checkpoint
from bestbefore.checkpoint.repair import repair
from bestbefore.checkpoint.state import Commits
from bestbefore.errors import DamagedState, InputError
from bestbefore.job import load_job
from bestbefore.job.job import Job
from bestbefore.storage import LocalStorage, Storage, local_path


def check_checkpoint(job: Path, *, write: Callable[[str], object]) -> None:
    """Print a line per damage; an error if there is any."""
    storage, ledgers = _opened(load_job(job))
    with lock_checkpoint(storage.root):
        found = inspect(storage, ledgers)
        for damage in found:
            write(f"{damage}\t{_advice(damage)}\n")
        if found:
            count = f"{len(found)} file{'s' if len(found) > 1 else ''}"
            raise DamagedState(
                f"the checkpoint {storage.root} is damaged: {count}; `bestbefore checkpoint "
                f"repair {job}` mends what can be mended"
            )
        write(f"{_summary(storage)}\n")


def repair_checkpoint(
    job: Path, *, accept_loss: bool, write: Callable[[str], object], console: Console
) -> None:
    """Mend a checkpoint, and print a line for everything that was done."""
    storage, ledgers = _opened(load_job(job))
    with lock_checkpoint(storage.root):
        mended = repair(storage, ledgers, accept_loss=accept_loss)
        for damage in mended:
            write(f"{damage}\t{damage.mend.value}\n")
        done = f"{len(mended)} mended" if mended else "nothing to mend"
        console.print(f"{storage.root}: {done}; {_summary(storage)}")


def _advice(damage: Damage) -> str:
    can = damage.mend is not Mend.NOTHING
    return f"{'a repair would ' if can else ''}{damage.mend.value}"


def _summary(storage: Storage) -> str:
    names = Commits(storage).names()
    if not names:
        return "nothing was committed yet"
    state = Commits(storage).read(names[-1])
    return (
        f"whole: batch {state.batch} is committed, evaluation {state.next_evaluation} comes next, "
        f"{sum(one.elements for one in state.segments)} elements in {len(state.segments)} segments"
    )


def _opened(job: Job) -> tuple[Storage, Sequence[RequestFile]]:
    """The checkpoint of a job, and the ledgers of what its services were asked."""
    storage = local_checkpoint(job)
    ledgers = request_files(
        job, lambda one: _local("limits.ledger", one.ledger) if one.ledger else storage
    )
    return storage, ledgers


def local_checkpoint(job: Job) -> LocalStorage:
    """The checkpoint of a job, or of those it runs with: it must be a folder of this machine."""
    storage = _local("checkpoint.path", job.checkpoint)
    common = lent_to(storage)
    return _local("checkpoint.path", common) if common else storage


def _local(key: str, address: str) -> LocalStorage:
    path = local_path(address)
    if path is None:
        raise InputError(
            f"{key} = {address!r} is on another file system: copy the folder here, check or "
            "repair the copy, and copy it back"
        )
    if not path.is_dir():
        raise InputError(f"{key} = {address!r}: no such folder, so there is nothing to look at")
    return LocalStorage(address)
