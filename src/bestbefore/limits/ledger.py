"""The ledger of requests: what may be asked of a service is written down before it is asked."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from threading import Lock

from bestbefore.errors import InputError, StateError
from bestbefore.limits.ceilings import Grant, ceilings_of, grant_of
from bestbefore.limits.clock import steady_clock
from bestbefore.limits.ledger_file import read_usage, write_usage
from bestbefore.limits.settings import Limits
from bestbefore.limits.usage import Reserved, Usage, advanced, reserved, restarted, settled
from bestbefore.storage import Storage
from bestbefore.time import Clock, monotonic_s, wall_clock_ms


@dataclass(frozen=True, slots=True)
class Reservation:
    """Requests that may be sent from now on, until they are settled."""

    grant: Grant
    _reserved: Reserved | None = None


class RequestLedger:
    """The requests to one service, within its limits whatever crashes and whoever asks at once.

    What is guaranteed, as the service sees it: no limit is exceeded in any period of its length, if
    requests arrive at most a second after they were settled. Requests that a crash left open count
    as sent when the ledger is opened again. A wall clock that is set while a process runs changes
    nothing but the quiet hours, which go by it. From the last write of one process to the next
    process it tells how much time has passed: set back meanwhile, that is none, so nothing is
    freed early, and nothing is kept for longer than its period from then; set ahead it is believed.

    Any thread may call it, and one process at a time.
    """

    def __init__(
        self,
        storage: Storage,
        name: str,
        limits: Limits,
        *,
        wall: Clock = wall_clock_ms,
        monotonic: Callable[[], float] = monotonic_s,
    ) -> None:
        self.limits = limits
        self.where = f"the ledger {storage.root}/{name}"
        self._storage, self._name = storage, name
        self._clock, self._wall = steady_clock(wall, monotonic), wall
        self._lock = Lock()
        self._written = storage.read(name)
        now_ms = self._clock()
        found = read_usage(self._written, self.where) if self._written is not None else None
        self._usage = restarted(found or Usage(now_ms, now_ms), now_ms, limits)

    @property
    def written(self) -> int:
        """How many reservations were written down so far."""
        with self._lock:
            return self._usage.reservations

    def available(self, wanted: int) -> Grant:
        """What would be granted now; nothing is reserved, so others may take it."""
        with self._lock:
            return self._grant(self._now(), wanted)

    def reserve(self, wanted: int) -> Reservation:
        """Take up to `wanted` requests, durably, before any of them is sent."""
        with self._lock:
            usage = self._now()
            grant = self._grant(usage, wanted)
            if grant.requests == 0:
                return Reservation(grant)
            usage, one = reserved(usage, grant.requests, self.limits.price)
            self._write(usage)
            return Reservation(grant, one)

    def settle(self, reservation: Reservation, sent: int, *, not_modified: int = 0) -> None:
        """Give back what was not sent of a reservation whose requests have all come to an end.

        Of those that were sent so many had the price of a reply that nothing has changed.
        """
        one = reservation._reserved
        if one is None:
            return
        with self._lock:
            usage = self._now()
            if one not in usage.open:
                raise ValueError(f"reservation {one.number} was settled before")
            saved = not_modified * self.limits.saved_by_not_modified
            self._write(settled(usage, one, sent, saved=saved))

    def left(self) -> dict[str, int]:
        """The requests that each limit leaves for now, by its name."""
        with self._lock:
            ceilings = ceilings_of(self._now(), self.limits, wall_ms=self._wall())
        return {one.name: max(0, one.left) for one in ceilings}

    def _now(self) -> Usage:
        return advanced(self._usage, self._clock())

    def _grant(self, usage: Usage, wanted: int) -> Grant:
        ceilings = ceilings_of(usage, self.limits, wall_ms=self._wall())
        return grant_of(ceilings, max(0, wanted))

    def _write(self, usage: Usage) -> None:
        """Make a usage durable, then believe it."""
        if self._storage.read(self._name) != self._written:
            raise StateError(
                f"{self.where} was changed by someone else: let one process at a time ask the "
                "service, or give each a ledger and a share of the limits of its own"
            )
        usage = replace(usage, wall_ms=self._wall())
        content = write_usage(usage)
        self._storage.write(self._name, content)
        self._usage, self._written = usage, content


@dataclass(frozen=True, slots=True)
class _Opened:
    ledger: RequestLedger
    root: str
    users: int = 1


class Ledgers:
    """The ledgers that are open, one per service: all that ask a service share its limits."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._opened: dict[str, _Opened] = {}

    def open(
        self, storage: Storage, address: str, limits: Limits, *, wall: Clock = wall_clock_ms
    ) -> RequestLedger:
        """The ledger of the service at an address; whoever opens it closes it in the end."""
        with self._lock:
            found = self._opened.get(address)
            if found is None:
                ledger = RequestLedger(storage, ledger_name(address), limits, wall=wall)
                self._opened[address] = _Opened(ledger, storage.root)
                return ledger
            _check_shared(found, storage.root, address, limits)
            self._opened[address] = _Opened(found.ledger, found.root, found.users + 1)
            return found.ledger

    def close(self, address: str) -> None:
        """Let go of a ledger; who opens it after all have let go reads its file anew."""
        with self._lock:
            found = self._opened.pop(address)
            if found.users > 1:
                self._opened[address] = _Opened(found.ledger, found.root, found.users - 1)


def ledger_name(address: str) -> str:
    """The file of the service at an address."""
    return f"limits/{sha256(address.encode()).hexdigest()[:16]}.json"


def _check_shared(found: _Opened, root: str, address: str, limits: Limits) -> None:
    if found.root != root:
        raise InputError(
            f"{address} is asked by another query, whose ledger is in {found.root}, and what both "
            f"ask counts together: give them the same limits.ledger instead of {root}"
        )
    if found.ledger.limits.shared != limits.shared:
        raise InputError(
            f"{address} is asked by another query under other limits; what both ask counts "
            "together: give them the same limits"
        )
