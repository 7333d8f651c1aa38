"""The ledger: refreshes are written down before they are made, and noted before they are answered.

Where many evaluations are due at once, one write is for as many of them as are likely to be done in
a quarter of a second: a file system takes as long for a file as an evaluation does. A crash wastes
what these had reserved, and nothing else.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from bestbefore.checkpoint.journal import Journal, entry_of, outcome_of
from bestbefore.limits import NO_LIMITS, Affordable, RequestAccount, Spending
from bestbefore.maintenance import Outcome
from bestbefore.sealed import seal, unseal
from bestbefore.storage import Storage
from bestbefore.time import monotonic_s
from bestbefore.view import LocalView

LEDGER_FILE = "ledger.json"
# More than any budget.
_ALL = Spending(2**62, 0)
_TOGETHER_S = 0.25


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

    def write(self, spent: Mapping[int, Spending]) -> None:
        """Let evaluations have reserved so much."""
        with self._lock:
            reserved = {**self._spent, **spent}
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


@dataclass(slots=True)
class DurableLedger:
    """The refreshes reserved per evaluation, and what they brought, in files that survive a crash.

    An evaluation that is repeated after a crash finds what its first attempt reserved, whether or
    not those requests were sent: a crash may waste budget, it never adds any. Evaluations that are
    `coming` in the same batch, in their order, are reserved for ahead of time, each as much as any
    took since the last time.
    """

    reservations: Reservations
    journal: Journal
    batch: int
    view: LocalView
    account: RequestAccount = field(default_factory=RequestAccount)
    coming: Sequence[int] = ()
    together_s: float = _TOGETHER_S
    _ahead: dict[int, Spending] = field(default_factory=dict, init=False)
    _unwritten: list[dict[str, Any]] = field(default_factory=list, init=False)
    _earlier: Mapping[int, dict[str, Any]] | None = field(default=None, init=False)
    _reserved_s: float | None = field(default=None, init=False)
    _noted_s: float = field(default=0.0, init=False)
    _fetched: int = field(default=0, init=False)
    _most: Spending = field(default_factory=Spending, init=False)

    def spent(self, evaluation: int) -> int:
        """The refreshes that an evaluation has reserved so far."""
        return self._spent(evaluation).units

    def affordable(self, evaluation: int, units: int) -> Affordable:
        """How many of so many refreshes the limits of the service leave requests for."""
        if self.account.limits == NO_LIMITS:
            return Affordable(units)
        return self.account.affordable(units, self._spent(evaluation))

    def left(self) -> Mapping[str, int]:
        """The requests that each limit of the service leaves."""
        return self.account.left()

    def reserve(self, evaluation: int, units: int, *, limit: int) -> int:
        """Take up to `units` refreshes for an evaluation that may have `limit` in all."""
        spent = self._spent(evaluation)
        granted = max(0, min(units, limit - spent.units))
        if not granted:
            return 0
        taken = self.account.take(granted, spent)
        if taken.units:
            try:
                self._take(evaluation, taken)
            except BaseException:
                self.account.settle(0)
                raise
        return taken.units

    def recall(self, evaluation: int) -> Outcome | None:
        """What an earlier attempt at this batch fetched for an evaluation, if it got so far."""
        if self._earlier is None:
            self._earlier = self.journal.entries(self.batch)
        entry = self._earlier.get(evaluation)
        return None if entry is None else outcome_of(entry, self.view)

    def record(self, outcome: Outcome) -> None:
        """Note what an evaluation fetched, unless it did nothing.

        It is durable when the last one is noted for which something is reserved, or if that takes
        longer than expected.
        """
        self._fetched += len(outcome.elected) > 0
        if len(outcome.elected) or len(outcome.used) or len(outcome.evicted):
            self._unwritten.append(entry_of(outcome, self.view))
        last = outcome.evaluation >= max(self._ahead, default=outcome.evaluation)
        if last or monotonic_s() - self._noted_s >= 2 * self.together_s:
            self._write_journal()

    def _spent(self, evaluation: int) -> Spending:
        """What an evaluation has reserved, less what is left of what was reserved ahead."""
        found = self.reservations.of(evaluation)
        return found.less(self._ahead.get(evaluation, Spending()))

    def _take(self, evaluation: int, taken: Spending) -> None:
        """Take from what was reserved ahead; if that is too little, reserve it, and ahead again."""
        ahead, self._most = self._ahead.get(evaluation, Spending()), taken.at_least(self._most)
        if not taken.within(ahead):
            self._write_journal()
            following = dict.fromkeys(self._following(evaluation), self._most)
            self._reserved_s = self._noted_s = monotonic_s()
            self._fetched, self._most = 0, taken
            self._reserve_ahead({evaluation: taken, **following})
            ahead = self._ahead[evaluation]
        self._ahead[evaluation] = ahead.less(taken)

    def _reserve_ahead(self, wanted: Mapping[int, Spending]) -> None:
        """Let evaluations have so much ahead of them, at least."""
        ahead = {one: self._ahead.get(one, Spending()).at_least(few) for one, few in wanted.items()}
        self.reservations.write({one: self._spent(one).plus(few) for one, few in ahead.items()})
        self._ahead |= ahead

    def _following(self, evaluation: int) -> Sequence[int]:
        """The evaluations after one that are likely to be done soon, as fast as those before it."""
        if self._reserved_s is None:
            return ()
        took_s = max(monotonic_s() - self._reserved_s, 1e-6)
        likely = int(self.together_s * self._fetched / took_s)
        first = bisect_right(self.coming, evaluation)
        return self.coming[first : first + max(0, likely - 1)]

    def _write_journal(self) -> None:
        if self._unwritten:
            self.journal.write(self.batch, self._unwritten)
            self._unwritten, self._noted_s = [], monotonic_s()
