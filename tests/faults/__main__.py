"""`python -m tests.faults [TRIAL …] [--count N] [--seed S]`: some or all trials, and one table."""

import argparse
import sys
import tempfile
from functools import cache
from pathlib import Path

from .findings import table, tell
from .trials import TRIALS


def main(arguments):
    options, found = _read(arguments), []
    chosen = [trial for trial in TRIALS if not options.trials or trial.name in options.trials]
    with tempfile.TemporaryDirectory(prefix="bestbefore-faults-") as name:
        folder = Path(name)
        session = _session_in(folder)
        for trial in chosen:
            tell(f"{trial.name}: {trial.what}")
            found.append(trial.run(folder, session, count=options.count, seed=options.seed))
    print(table(found))  # noqa: T201 - what this command is for
    return 1 if any(one.faults.total() for one in found) else 0


def _read(arguments):
    parser = argparse.ArgumentParser(prog="python -m tests.faults")
    names = [trial.name for trial in TRIALS]
    parser.add_argument("trials", nargs="*", metavar="TRIAL", help=", ".join(names))
    parser.add_argument("--count", type=int, help="how often to try; without it, each its own")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    if unknown := set(options.trials) - set(names):
        parser.error(f"unknown trial {unknown.pop()!r}; known: {', '.join(names)}")
    return options


def _session_in(folder):
    """The one session of all trials that need one, when the first of them asks for it."""

    @cache
    def session():
        from bestbefore.spark.session import local_session  # noqa: PLC0415 - most need no JVM

        return local_session(cores="2", log=folder / "spark.log")

    return session


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
