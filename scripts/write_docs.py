"""Writes the parts of the documentation that follow from the code: the pages of `--help`."""

from pathlib import Path

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
    command = get_command(app)
    names = sorted(command.commands)  # type: ignore[attr-defined]
    parts = [_HEADING]
    for name in names:
        each = command.commands[name]  # type: ignore[attr-defined]
        context = each.make_context(
            name,
            [],
            parent=None,
            resilient_parsing=True,
            terminal_width=_WIDTH,
            max_content_width=_WIDTH,
        )
        text = each.get_help(context).replace(f"Usage: {name}", f"Usage: bestbefore {name}")
        parts.append(f"## bestbefore {name}\n\n```\n{text.strip()}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    TARGET.write_text(command_page(), encoding="utf-8")
