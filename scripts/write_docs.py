"""Writes the parts of the documentation that follow from the code: the pages of `--help`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from bestbefore.cli.main import app

TARGET = Path(__file__).parent.parent / "docs" / "cli.md"
_WIDTH = 100
_HEADING = """# Commands

Data goes to stdout, everything else to stderr. Exit codes: 0 good, 1 the work failed, 2 the input
is wrong. This page is written by `make docs`.

**How a run ends.** By itself, with what is there; `--until-end` also answers the windows that still
hold elements; `--follow` waits for more. SIGINT (Ctrl-C) or SIGTERM, also to the whole process
group, lets the batch that runs come to its end and commits it: exit code 0. A second signal ends
the process at once, as a crash would. The JVM hears of neither, and ends with the process even
after `kill -9`. (Under `spark-submit` the JVM comes first, and what ends it ends the run.) A JVM
that was killed, a full disk, a folder or a permission that is gone while the run goes: one line
with the cause, the path and the way out, exit code 1. In all cases the same command goes on after
the last committed batch.

**What a checkpoint lost is said** before anything else is done: a run compares the commits, the
files that they rely on (by number, size and checksum), the journals, the ledgers and Spark's own
logs. If they do not agree it names the file and what can be done, and ends with exit code 1.
`bestbefore checkpoint check` lists all that is wrong, `bestbefore checkpoint repair` mends it.

**What went wrong is said** in the last lines of a run, with counts: refreshes that failed,
evaluations whose refreshes all failed or that had to wait for units that had failed before, alerts.
The exit code is 0 all the same, since every answer was given from the view; with `--strict` it is
1.

**The log** is a line each on stderr: time, level, message, and where known the service, batch and
evaluation. `--log-format json` makes each line an object with the keys `time`, `level`, `message`,
and `query`, `service`, `batch` and `evaluation`. Secrets are in none of them. What Spark itself
logs is in `CHECKPOINT/spark.log`.
"""


def command_page() -> str:
    """The help of every command as Markdown."""
    command: Any = get_command(app)
    return "\n".join([_HEADING, *_pages("bestbefore", command)])


def _pages(path: str, group: Any) -> Iterator[str]:  # noqa: ANN401 - typer has no type for it
    for name in sorted(group.commands):
        each, whole = group.commands[name], f"{path} {name}"
        if hasattr(each, "commands"):
            yield from _pages(whole, each)
            continue
        context = each.make_context(
            name,
            [],
            parent=None,
            resilient_parsing=True,
            terminal_width=_WIDTH,
            max_content_width=_WIDTH,
        )
        text = each.get_help(context).replace(f"Usage: {name}", f"Usage: {whole}")
        yield f"## {whole}\n\n```\n{text.strip()}\n```\n"


if __name__ == "__main__":
    TARGET.write_text(command_page(), encoding="utf-8")
