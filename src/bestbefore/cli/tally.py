"""What came of a run: its evaluations counted as they are told, and what went wrong in them."""

from collections import Counter
from dataclasses import dataclass, field

from bestbefore.engine import Quality


@dataclass
class Tally:
    """The counts of a run.

    `fruitless` evaluations asked for refreshes and got none; `waited` ones could ask for none: the
    units they needed had failed lately or can never be sent. `limited` ones were bound by the
    limits of a service, and `starved` if these left no refresh at all.
    """

    evaluations: int = 0
    rows: int = 0
    elected: int = 0
    refreshed: int = 0
    failed: int = 0
    requests: int = 0
    fruitless: int = 0
    waited: int = 0
    limited: int = 0
    starved: int = 0
    alerts: int = 0
    reasons: Counter[str] = field(default_factory=Counter)

    def add(self, record: Quality) -> None:
        """Count an evaluation."""
        self.evaluations += 1
        self.rows += record.answers
        self.elected += record.elected
        self.refreshed += record.refreshed
        self.failed += record.failed
        self.requests += record.requests
        if record.service_status != "ok":
            self.reasons[record.service_status] += 1
        self.fruitless += bool(record.failed and not record.refreshed)
        self.waited += bool(record.waiting and not record.candidates)
        self.limited += bool(record.limits.get("bound"))
        self.starved += bool(record.limits.get("bound") and not record.budget)
        self.alerts += len(record.alerts)

    def __str__(self) -> str:
        limited = f"; {self.limited} evaluations bound by limits" if self.limited else ""
        return (
            f"this run: {self.evaluations} evaluations, {self.rows} answer rows; "
            f"{self.elected} refreshes elected, {self.refreshed} done, {self.failed} failed, "
            f"in {self.requests} requests{limited}"
        )

    @property
    def troubles(self) -> list[str]:
        """What went wrong, with counts; empty if nothing did."""
        counts = {
            "refreshes failed": self.failed,
            "evaluations whose refreshes all failed": self.fruitless,
            "evaluations that waited for units whose refresh had failed": self.waited,
            "evaluations that limits left no refresh for": self.starved,
            "alerts": self.alerts,
        }
        found = [f"{count} {what}" for what, count in counts.items() if count]
        if self.failed and not self.refreshed:
            found.insert(0, "no refresh of this run succeeded")
        return found + [f"{why} ({count}×)" for why, count in self.reasons.most_common(3)]
