"""`python -m tests.faults [TRIAL …] [--count N] [--seed S]`: some or all trials, and one table."""

import argparse
import sys
import tempfile
from functools import cache
from pathlib import Path

from .findings import table, tell
from .trials import TRIALS


def main(arguments):
    options = _read(arguments)
    with tempfile.TemporaryDirectory(prefix="bestbefore-faults-") as folder:
        session = _session_in(Path(folder))
        found = []
        for trial in TRIALS:
            if trial.name in (options.trials or [trial.name for trial in TRIALS]):
                tell(f"{trial.name}: {trial.what}")
                found.append(
                    trial.run(Path(folder), session, count=options.count, seed=options.seed)
                )
    print(table(found))  # noqa: T201 - what this command is for
    return 1 if any(sum(one.faults.values()) for one in found) else 0


def _read(arguments):
    names = [trial.name for trial in TRIALS]
    parser = argparse.ArgumentParser(prog="python -m tests.faults")
    parser.add_argument("trials", nargs="*", choices=[*names, []], metavar="TRIAL")
    parser.add_argument("--count", type=int, help="how often to try (default: as in the note)")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(arguments)


def _session_in(folder):
    """The one session of all trials that need one, when the first of them asks for it."""

    @cache
    def session():
        from bestbefore.spark.session import local_session  # noqa: PLC0415 - most need no JVM

        return local_session(cores="2", log=folder / "spark.log")

    return session


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
