"""The state that a job finds in its checkpoint: whole, its own, and with what has changed since."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyspark.sql import SparkSession

from bestbefore.checkpoint.changed_job import ANEW, settings_of, take_over
from bestbefore.checkpoint.inspection import check, check_ledgers, request_files
from bestbefore.checkpoint.ownership import check_lent
from bestbefore.checkpoint.state import Commits, State
from bestbefore.job.job import Job, ServiceSettings
from bestbefore.spark.hadoop import storage_at
from bestbefore.storage import Storage


@dataclass(frozen=True)
class Found:
    """A state, and the keys of the job file that said something else when it was committed.

    Its query may have `joined` others that have committed batches without it.
    """

    state: State
    changed: frozenset[str] = frozenset()
    joined: bool = False

    def changed_of(self, service: str) -> frozenset[str]:
        """The keys of a service that have changed."""
        section = f"services.{service}."
        return frozenset(
            key.removeprefix(section) for key in self.changed if key.startswith(section)
        )


def find_states(
    spark: SparkSession, jobs: Sequence[Job], folders: Sequence[str], storage: Storage
) -> list[Found]:
    """What jobs that run together go on from; a checkpoint that lost something is refused."""
    check(storage)
    if not Commits(storage).names():
        check_lent(storage, jobs[0].query.name)
    names = [folder.split("/")[1] for folder in folders[1:]]
    whole = Commits(storage).latest(jobs[0], dict(zip(names, jobs[1:], strict=True)))
    found = []
    for job, folder in zip(jobs, folders, strict=True):
        state, settings = whole.parts()[folder], settings_of(job)
        changed = take_over(state, settings, storage.root)
        joined = state.batch >= 0 and not state.settings
        found.append(Found(replace(state, settings=settings, others={}), changed, joined))
        files = request_files(job, lambda one: ledger_folder(spark, one, storage), folder)
        anew = found[-1]
        check_ledgers(
            storage, whole, [one for one in files if ANEW not in anew.changed_of(one.service)]
        )
    return found


def ledger_folder(spark: SparkSession, service: ServiceSettings, storage: Storage) -> Storage:
    """Where the requests to a service are counted: beside its checkpoint, or where it says."""
    return storage_at(spark, service.ledger) if service.ledger else storage
