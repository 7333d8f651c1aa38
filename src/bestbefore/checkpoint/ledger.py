"""The ledger: refreshes are written down before they are made, and noted before they are used."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock

from bestbefore.checkpoint.journal import Journal
from bestbefore.limits import NO_LIMITS, Affordable, RequestAccount, Spending
from bestbefore.maintenance import Outcome
from bestbefore.sealed import seal, unseal
from bestbefore.storage import Storage
from bestbefore.view import LocalView

LEDGER_FILE = "ledger.json"
# More than any budget.
_ALL = Spending(2**62, 0)


class Reservations:
    """The refreshes that evaluations have reserved, in one file, until they are committed.

    The file is replaced and never removed, and counts how often it was written: a state that was
    committed later than the file was written shows that it is not the last one. Where a repair
    found the file `lost`, all that the batch under way may have had counts as reserved.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage, self._lock = storage, Lock()
        self._spent = dict[int, Spending]()
        self.written, self.lost = 0, False
        content = storage.read(LEDGER_FILE)
        if content is not None:
            fields = unseal(content, f"{storage.root}/{LEDGER_FILE}")
            self.written, self.lost = fields["written"], fields["lost"]
            self._spent = {number: Spending(*spent) for number, *spent in fields["evaluations"]}

    def of(self, evaluation: int) -> Spending:
        """What an evaluation has reserved so far."""
        return _ALL if self.lost else self._spent.get(evaluation, Spending(0, 0))

    def write(self, evaluation: int, spent: Spending) -> None:
        """Let an evaluation have reserved so much."""
        with self._lock:
            reserved = {**self._spent, evaluation: spent}
            self._write(reserved, written=self.written + 1)
            self._spent = reserved

    def close(self, following: int) -> None:
        """Forget the evaluations before one, which are committed: nothing will repeat them."""
        with self._lock:
            self._spent = {one: spent for one, spent in self._spent.items() if one >= following}
            self.lost = False

    def replace_lost(self, *, written: int) -> None:
        """Stand in for a file that is missing or damaged and was written so often."""
        self.lost = True
        self._write({}, written=written)

    def _write(self, reserved: Mapping[int, Spending], *, written: int) -> None:
        entries = [[number, one.units, one.requests] for number, one in reserved.items()]
        content = seal({"written": written, "lost": self.lost, "evaluations": entries})
        self._storage.write(LEDGER_FILE, content)
        self.written = written


@dataclass(frozen=True, slots=True)
class DurableLedger:
    """The refreshes reserved per evaluation, and what they brought, in files that survive a crash.

    An evaluation that is repeated after a crash finds what its first attempt reserved, whether or
    not those requests were sent: a crash may waste budget, it never adds any.
    """

    reservations: Reservations
    journal: Journal
    batch: int
    view: LocalView
    account: RequestAccount = field(default_factory=RequestAccount)

    def spent(self, evaluation: int) -> int:
        """The refreshes that an evaluation has reserved so far."""
        return self.reservations.of(evaluation).units

    def affordable(self, evaluation: int, units: int) -> Affordable:
        """How many of so many refreshes the limits of the service leave requests for."""
        if self.account.limits == NO_LIMITS:
            return Affordable(units)
        return self.account.affordable(units, self.reservations.of(evaluation))

    def left(self) -> Mapping[str, int]:
        """The requests that each limit of the service leaves."""
        return self.account.left()

    def reserve(self, evaluation: int, units: int, *, limit: int) -> int:
        """Take up to `units` refreshes for an evaluation that may have `limit` in all."""
        spent = self.reservations.of(evaluation)
        granted = max(0, min(units, limit - spent.units))
        if not granted:
            return 0
        taken = self.account.take(granted, spent)
        if taken.units:
            total = Spending(spent.units + taken.units, spent.requests + taken.requests)
            try:
                self.reservations.write(evaluation, total)
            except BaseException:
                self.account.settle(0)
                raise
        return taken.units

    def recall(self, evaluation: int) -> Outcome | None:
        """What an earlier attempt at this batch fetched for an evaluation, if it got so far."""
        return self.journal.read(self.batch, evaluation, self.view)

    def record(self, outcome: Outcome) -> None:
        """Note what an evaluation fetched, unless it did nothing."""
        if len(outcome.elected) or len(outcome.used) or len(outcome.evicted):
            self.journal.write(self.batch, outcome, self.view)
