"""Many micro-batches of one run: memory, threads, open files and the checkpoint must not grow.

What each of them has at ten points is told. The least that one has in the last third is compared
with the least in the third before, since a batch is under way whenever it is looked at: growth
beyond `BOUNDS` is a fault.
"""

import gc
import os
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path

from bestbefore.engine import Engine
from bestbefore.job import load_job
from bestbefore.job.job import UNTIL_END
from tests.run_processes import answers, until
from tests.unit.service.conftest import ScriptedEndpoint, query_of
from tests.unwilling_endpoint import iri

from .findings import tell
from .mentioned_users import USERS, check_answers, mentions, write_job

POINTS, LONGEST_S = 10, 3_600
# A JVM that is new grows until its pools have all their threads and its caches are full.
WARM = 40
MIB = 2**20


@dataclass(frozen=True)
class Sizes:
    """What a run takes at one moment, after garbage was collected."""

    python_mib: float
    python_threads: int
    python_files: int
    jvm_heap_mib: float
    jvm_mib: float
    jvm_threads: int
    jvm_files: int
    checkpoint_kib: float
    checkpoint_files: int
    source_list_kib: float


# So much may be gained from one third of the batches to the next. Spark's list of the files that
# it has read is a line per file, and what the JVM has reserved follows no rule.
BOUNDS = Sizes(
    python_mib=8,
    python_threads=4,
    python_files=8,
    jvm_heap_mib=8,
    jvm_mib=64,
    jvm_threads=8,
    jvm_files=16,
    checkpoint_kib=256,
    checkpoint_files=64,
    source_list_kib=256,
)


class QuietEndpoint(ScriptedEndpoint):
    """An endpoint that remembers nobody, and so does not grow itself."""

    async def _serve(self, request):
        return await self._answer(await query_of(request))(request)


def run(campaign):
    findings, server = campaign.findings(), QuietEndpoint("followers")
    server.facts = {iri(user): [str(user)] for user in range(USERS)}
    stream = mentions(campaign.seed, campaign.count)
    stream.write(campaign.folder / "stream")
    job_file = write_job(campaign.folder, server.url, refreshes=3)
    job = replace(load_job(job_file), trigger=UNTIL_END)
    spark = campaign.spark()
    _warm_up(spark, campaign, server)
    running, found = Engine(spark).start(job), []
    for point in range(1, POINTS + 1):
        batches = campaign.count * point // POINTS
        until(lambda batches=batches: _reached(running, batches), LONGEST_S)
        found.append(sizes(spark, campaign.folder / "checkpoint"))
        tell(f"soak: after {batches} batches {found[-1]}")
        findings.tried(batches, campaign.count)
    running.wait(LONGEST_S)
    server.close()
    _check_growth(findings, found)

    def ever(user):
        return {(user.rpartition("/")[2],)}

    check_answers(findings, "soak", answers(job_file), stream.windows(), ever)
    return findings


def _warm_up(spark, campaign, server):
    """Another run, of which nothing is measured."""
    folder = campaign.folder / "before"
    folder.mkdir()
    mentions(campaign.seed + 1, WARM).write(folder / "stream")
    job = load_job(write_job(folder, server.url, refreshes=3))
    Engine(spark).start(replace(job, trigger=UNTIL_END)).wait(LONGEST_S)


def _reached(running, batches):
    return running.state.source_batch + 1 >= batches or not running.query.isActive


def _check_growth(findings, found):
    third = len(found) // 3
    before, after = found[-2 * third : -third], found[-third:]
    for field in fields(Sizes):
        then, now = (min(getattr(one, field.name) for one in part) for part in (before, after))
        grown = now - then
        if grown > (bound := getattr(BOUNDS, field.name)):
            findings.found("limits", f"{field.name} grew by {grown:.1f}, more than {bound}")


def sizes(spark, checkpoint):
    """What this process, its JVM and the checkpoint take now."""
    gc.collect()
    jvm = spark._jvm
    jvm.System.gc()
    runtime, process = jvm.Runtime.getRuntime(), jvm.ProcessHandle.current().pid()
    files = _file_sizes(checkpoint)
    return Sizes(
        python_mib=round(_resident(os.getpid()), 1),
        python_threads=_count(os.getpid(), "task"),
        python_files=_count(os.getpid(), "fd"),
        jvm_heap_mib=round((runtime.totalMemory() - runtime.freeMemory()) / MIB, 1),
        jvm_mib=round(_resident(process), 1),
        jvm_threads=_count(process, "task"),
        jvm_files=_count(process, "fd"),
        checkpoint_kib=round(sum(files) / 1024, 1),
        checkpoint_files=len(files),
        source_list_kib=round(max(_file_sizes(checkpoint / "spark/sources")) / 1024, 1),
    )


def _file_sizes(folder):
    """The sizes of the files in a folder that is being written: what goes meanwhile is no file.

    Spark writes its list of the files that it has read anew every ten batches, and keeps the old
    ones for ten minutes, however many batches that are: only the longest of them tells something.
    """
    found = []
    for root, folders, names in os.walk(folder):
        if Path(root).name == "spark" and "sources" in folders:
            folders.remove("sources")
        for name in names:
            with suppress(FileNotFoundError):
                found.append((Path(root) / name).stat().st_size if name != "spark.log" else 0)
    return found


def _resident(process):
    status = Path(f"/proc/{process}/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def _count(process, what):
    return len(list(Path(f"/proc/{process}/{what}").iterdir()))
