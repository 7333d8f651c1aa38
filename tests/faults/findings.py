"""What a trial has found: so many faults of each kind, and one table of all."""

import multiprocessing
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic

COLUMNS = ("lost", "repeated", "wrong", "limits", "untrue", "tracebacks", "hangs")
_TOLD, _TELL_EVERY_S = 100, 10
_PROCESSES, _WORTH_SHARING = 2, 2_000


@dataclass
class Findings:
    """The faults of one trial: evaluations lost, repeated or wrong, limits exceeded, and so on."""

    name: str
    trials: int = 0
    faults: Counter = field(default_factory=Counter)
    notes: list = field(default_factory=list)
    seconds: float = 0.0
    _told: float = field(default_factory=monotonic)

    def found(self, column, what, *, times=1):
        """Count a fault, and say what it was."""
        if column not in COLUMNS:
            raise ValueError(column)
        self.faults[column] += times
        self.notes.append(f"{column}: {what}")
        if len(self.notes) <= _TOLD:
            tell(f"{self.name}: {column}: {what}")

    def tried(self, number, of):
        """Count a trial, and now and then say how far it is."""
        self.trials = number
        if monotonic() > self._told + _TELL_EVERY_S or number >= of:
            self._told = monotonic()
            tell(f"{self.name}: {number} of {of}, {sum(self.faults.values())} faults")


@dataclass(frozen=True)
class Campaign:
    """What a trial is given: how often to try, a seed, a folder of its own, and Spark if needed.

    `spark` is a function, since most trials need no session or must not have one.
    """

    name: str
    count: int
    seed: int
    folder: Path
    spark: object

    def findings(self):
        return Findings(self.name)

    def shared(self, run):
        """What a function of a part of the campaign finds in processes that share it."""
        if self.count < _WORTH_SHARING:
            return run(self)
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(_PROCESSES, context) as pool:
            return merged(pool.map(run, [self._part(number) for number in range(_PROCESSES)]))

    def _part(self, number):
        folder = self.folder / f"part{number}"
        folder.mkdir()
        seed = self.seed * 1_000 + number
        count = (self.count + number) // _PROCESSES
        return replace(self, count=count, seed=seed, folder=folder, spark=None)


def merged(parts):
    """What the parts of one trial found together."""
    first, *others = parts
    for other in others:
        first.trials += other.trials
        first.faults += other.faults
        first.notes += other.notes
    return first


def tell(line):
    """Progress, for whoever waits."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def table(all_findings):
    """One table of all trials, a line each."""
    head = ("trial", "trials", *COLUMNS, "seconds")
    lines = [
        (one.name, one.trials, *(one.faults[column] for column in COLUMNS), round(one.seconds))
        for one in all_findings
    ]
    columns = list(zip(head, *lines, strict=True))
    widths = [max(len(f"{cell}") for cell in column) for column in columns]
    return "\n".join(
        "  ".join(
            f"{cell:<{width}}" if at == 0 else f"{cell:>{width}}"
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in (head, *lines)
    )
