"""A view on demand over 10,000 evaluations with new keys all the time: what it keeps, and where.

No Spark: what is measured is the driver's side of a job that never ends. A figure that grows with
the evaluations would be a leak: of units that the view knows, of blocks that Python has allocated,
of the process's resident memory, or of files in the checkpoint.
"""

import gc
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

from tests.endless_job import KEEP_WINDOWS, NEW_USERS, EndlessJob

EVALUATIONS, EVERY = 10_000, 1_000


@dataclass(frozen=True)
class Figures:
    """What is there after some evaluations."""

    evaluations: int
    units: int
    held: int
    blocks: int
    resident: int
    files: int
    on_disk: int


def main() -> None:
    """Measure and print the table."""
    title = f"{NEW_USERS} new keys per evaluation, keep_windows = {KEEP_WINDOWS}"
    columns = ("evaluations", "units", "held", "blocks", "resident MiB", "files", "KiB on disk")
    table = Table(*columns, title=title)
    for one in figures(EVALUATIONS, every=EVERY):
        table.add_row(
            f"{one.evaluations:,}",
            f"{one.units:,}",
            f"{one.held:,}",
            f"{one.blocks:,}",
            f"{one.resident / 2**20:.1f}",
            f"{one.files:,}",
            f"{one.on_disk / 2**10:,.0f}",
        )
    Console().print(table)


def figures(evaluations: int, *, every: int) -> Iterator[Figures]:
    """Run so many evaluations, and look at what is there at times."""
    with TemporaryDirectory() as folder:
        job = EndlessJob(folder)
        for number in range(1, evaluations + 1):
            job.evaluate(number)
            if number % every == 0:
                yield figures_of(job, number, Path(folder))


def figures_of(job: EndlessJob, evaluations: int, folder: Path) -> Figures:
    """What is there now."""
    gc.collect()
    view = job.served.view
    files = [file for file in folder.rglob("*") if file.is_file()]
    return Figures(
        evaluations,
        units=len(view),
        held=int(view.units.held.sum()),
        blocks=sys.getallocatedblocks(),
        resident=_resident(),
        files=len(files),
        on_disk=sum(file.stat().st_size for file in files),
    )


def _resident() -> int:
    """The resident memory of this process in bytes; 0 where the system does not tell."""
    pages = Path("/proc/self/statm")
    return int(pages.read_text().split()[1]) * 4096 if pages.exists() else 0


if __name__ == "__main__":
    main()
