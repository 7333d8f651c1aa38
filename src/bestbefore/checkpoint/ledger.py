"""The ledger: refreshes are written down before they are made, and noted before they are used."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bestbefore.arrays import Integers
from bestbefore.checkpoint.state import batch_name
from bestbefore.errors import StateError
from bestbefore.limits import NO_LIMITS, Affordable, RequestAccount, Spending
from bestbefore.maintenance import Outcome, Reply
from bestbefore.rdf.terms import Key
from bestbefore.storage import Storage
from bestbefore.view import LocalView


@dataclass(frozen=True, slots=True)
class DurableLedger:
    """The refreshes reserved per evaluation, and what they brought, in files that survive a crash.

    An evaluation that is repeated after a crash finds what its first attempt reserved, whether or
    not those requests were sent: a crash may waste budget, it never adds any.
    """

    storage: Storage
    batch: int
    view: LocalView
    account: RequestAccount = field(default_factory=RequestAccount)

    def spent(self, evaluation: int) -> int:
        """The refreshes that an evaluation has reserved so far."""
        return self._spending(evaluation).units

    def affordable(self, evaluation: int, units: int) -> Affordable:
        """How many of so many refreshes the limits of the service leave requests for."""
        if self.account.limits == NO_LIMITS:
            return Affordable(units)
        return self.account.affordable(units, self._spending(evaluation))

    def left(self) -> Mapping[str, int]:
        """The requests that each limit of the service leaves."""
        return self.account.left()

    def reserve(self, evaluation: int, units: int, *, limit: int) -> int:
        """Take up to `units` refreshes for an evaluation that may have `limit` in all."""
        spent = self._spending(evaluation)
        granted = max(0, min(units, limit - spent.units))
        if not granted:
            return 0
        taken = self.account.take(granted, spent)
        if taken.units:
            entry = {
                "evaluation": evaluation,
                "reserved": spent.units + taken.units,
                "requests": spent.requests + taken.requests,
            }
            try:
                self.storage.write(_name(evaluation), json.dumps(entry).encode())
            except BaseException:
                self.account.settle(0)
                raise
        return taken.units

    def _spending(self, evaluation: int) -> Spending:
        content = self.storage.read(_name(evaluation))
        entry = json.loads(content) if content else {"reserved": 0}
        return Spending(int(entry["reserved"]), int(entry.get("requests", 0)))

    def recall(self, evaluation: int) -> Outcome | None:
        """What an earlier attempt at this batch fetched for an evaluation, if it got so far."""
        return Journal(self.storage).read(self.batch, evaluation, self.view)

    def record(self, outcome: Outcome) -> None:
        """Note what an evaluation fetched, unless it did nothing."""
        if len(outcome.elected) or len(outcome.used) or len(outcome.evicted):
            Journal(self.storage).write(self.batch, outcome, self.view)


def close_evaluations(storage: Storage, evaluations: Iterable[int]) -> None:
    """Forget the reservations of a committed batch: nothing will repeat it."""
    for evaluation in evaluations:
        storage.delete(_name(evaluation))


@dataclass(frozen=True, slots=True)
class Journal:
    """What each evaluation fetched and evicted, a file each, until a snapshot covers its batch."""

    storage: Storage

    def write(self, batch: int, outcome: Outcome, view: LocalView) -> None:
        """Make the outcome of an evaluation durable."""
        content = json.dumps(_entry(outcome, view)).encode()
        self.storage.write(f"{_folder(batch)}/{_file(outcome.evaluation)}", content)

    def read(self, batch: int, evaluation: int, view: LocalView) -> Outcome | None:
        """The outcome of an evaluation, if it is there."""
        content = self.storage.read(f"{_folder(batch)}/{_file(evaluation)}")
        return _outcome(json.loads(content), view) if content else None

    def of_batch(self, batch: int, view: LocalView) -> list[Outcome]:
        """The outcomes of a batch in order; the view gets to know their units."""
        folder = _folder(batch)
        files = (self.storage.read(f"{folder}/{name}") for name in self.storage.names(folder))
        entries = [json.loads(content) for content in files if content]
        # Units that enter in one batch are numbered together, here as in the batch itself.
        view.learn(_key(key) for entry in entries for key in entry["elected"])
        return [_outcome(entry, view) for entry in entries]

    def batches(self) -> list[int]:
        """The batches that the journal holds, oldest first."""
        return [int(name.removeprefix("batch-")) for name in self.storage.names("journal")]

    def forget(self, batch: int) -> None:
        """Drop a batch that a snapshot covers."""
        self.storage.delete(_folder(batch))


def _entry(outcome: Outcome, view: LocalView) -> dict[str, Any]:
    """The durable part of an outcome, by keys: numbers are void after a restart."""
    reply = outcome.reply
    answered = zip(_keys(view, reply.answered), reply.content, strict=True)
    return {
        "evaluation": outcome.evaluation,
        "t_ms": outcome.t_ms,
        "candidates": outcome.candidates,
        "elected": _keys(view, outcome.elected),
        "rows": [[key, rows] for key, rows in answered],
        "intervals_ms": _by_key(view, reply.stated_ms),
        "failed": _by_key(view, reply.failed),
        "evicted": _keys(view, outcome.evicted),
        "used": _keys(view, outcome.used),
        "came_ms": outcome.came_ms,
        "limits": [outcome.bound_by, dict(outcome.left)],
        "budget": outcome.budget,
        "lift": outcome.lift,
        "requests": reply.requests,
        "seconds": reply.seconds,
        "state": reply.state,
        "dropped": reply.dropped,
    }


def _outcome(entry: Mapping[str, Any], view: LocalView) -> Outcome:
    rows = [[tuple(row) for row in rows] for _, rows in entry["rows"]]
    reply = Reply(
        answered=_numbers(view, [key for key, _ in entry["rows"]]),
        content=rows,
        stated_ms=_by_number(view, entry["intervals_ms"]),
        failed=_by_number(view, entry["failed"]),
        requests=entry["requests"],
        seconds=entry["seconds"],
        state=entry["state"],
        dropped=entry["dropped"],
    )
    bound_by, left = entry.get("limits", (None, {}))
    return Outcome(
        evaluation=entry["evaluation"],
        t_ms=entry["t_ms"],
        candidates=entry["candidates"],
        elected=_numbers(view, entry["elected"]),
        reply=reply,
        came_ms=entry["came_ms"],
        evicted=_numbers(view, entry["evicted"]),
        used=_numbers(view, entry["used"]),
        bound_by=bound_by,
        left=left,
        budget=entry["budget"],
        lift=tuple(entry["lift"]) if entry["lift"] else None,
    )


def _keys(view: LocalView, units: Integers) -> list[Key]:
    return [view.keys[unit] for unit in units.tolist()]


def _by_key(view: LocalView, values: Mapping[int, Any]) -> list[list[Any]]:
    return [[view.keys[unit], value] for unit, value in values.items()]


def _numbers(view: LocalView, keys: Sequence[Sequence[str]]) -> Integers:
    numbers = view.numbers(map(_key, keys))
    if (numbers < 0).any():
        unknown = ", ".join(keys[int(np.argmin(numbers))])
        raise StateError(
            f"the journal names the unit {unknown}, which the view does not know: a part of the "
            "checkpoint is missing; restore it, or use another checkpoint.path"
        )
    return numbers


def _by_number(view: LocalView, values: Sequence[tuple[Sequence[str], Any]]) -> dict[int, Any]:
    numbers = _numbers(view, [key for key, _ in values]).tolist()
    return dict(zip(numbers, (value for _, value in values), strict=True))


def _key(parts: Sequence[str]) -> Key:
    return tuple(parts)


def _folder(batch: int) -> str:
    return f"journal/{batch_name(batch)}"


def _file(evaluation: int) -> str:
    return f"evaluation-{evaluation:012d}.json"


def _name(evaluation: int) -> str:
    return f"ledger/evaluation-{evaluation:012d}.json"
