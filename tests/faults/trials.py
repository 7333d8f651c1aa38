"""The trials of the campaign: how often each is tried in full, and in the short form."""

from dataclasses import dataclass
from importlib import import_module
from time import monotonic

from .findings import Campaign
from .watching import where_of


@dataclass(frozen=True)
class Trial:
    """A module of this package that tries something many times.

    One that measures the JVM must be `alone` in it.
    """

    name: str
    full: int
    short: int
    what: str
    alone: bool = False

    def run(self, folder, spark, *, count=None, seed=1):
        """Try it, and return what was found."""
        begun, folder = monotonic(), folder / self.name
        folder.mkdir(parents=True)
        campaign = Campaign(self.name, count or self.full, seed, folder, spark)
        try:
            findings = import_module(f"tests.faults.{self.name}").run(campaign)
        except Exception as error:
            # The other trials, and the table, are worth having all the same.
            findings = campaign.findings()
            findings.found("tracebacks", f"the trial did not come to its end: {where_of(error)}")
        findings.seconds = monotonic() - begun
        return findings


TRIALS = (
    Trial("requests", 100_000, 500, "requests to an endpoint that misbehaves in every way"),
    Trial("mutations", 10_000, 300, "mutated queries, job files and stream lines"),
    Trial("kills", 200, 1, "`kill -9` at random moments of real runs"),
    Trial("rivals", 40, 2, "two runs on one checkpoint, or one folder of answers"),
    Trial("clocks", 200, 3, "a wall clock that jumps"),
    Trial("corruptions", 500, 5, "damage to one file of a checkpoint"),
    Trial("soak", 2_000, 20, "micro-batches of one run", alone=True),
)
