"""The journal: what each evaluation fetched and evicted, noted before an answer uses it."""

import io
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bestbefore.arrays import Integers
from bestbefore.checkpoint.state import batch_name
from bestbefore.errors import DamagedState
from bestbefore.maintenance import Outcome, Reply
from bestbefore.rdf.terms import Key
from bestbefore.sealed import seal, unseal
from bestbefore.storage import Storage
from bestbefore.view import LocalView

_FOLDER, _NEEDED, _CHANGED = "journal", "needed.json", "changed.json"


@dataclass(frozen=True, slots=True)
class Journal:
    """The outcomes of evaluations, until a snapshot covers their batch.

    A file has those that were written together, and is named by the first of them.
    """

    storage: Storage

    def write(self, batch: int, entries: Sequence[Mapping[str, Any]]) -> None:
        """Make outcomes of a batch durable, together."""
        name = f"{journal_of(batch)}/{_file(entries)}"
        self.storage.write(name, seal({"outcomes": entries}))

    def entries(self, batch: int) -> dict[int, dict[str, Any]]:
        """What was written of the outcomes of a batch, by their evaluations, in order."""
        found = {
            entry["evaluation"]: entry for name in self.names(batch) for entry in self.read(name)
        }
        return dict(sorted(found.items()))

    def of_batch(self, batch: int, view: LocalView) -> list[Outcome]:
        """The outcomes of a batch in order; the view gets to know their units."""
        entries = self.entries(batch).values()
        # Units that enter in one batch are numbered together, here as in the batch itself.
        view.learn(_key(key) for entry in entries for key in entry["elected"])
        return [outcome_of(entry, view) for entry in entries]

    def names(self, batch: int) -> list[str]:
        """The files of a batch, in the order of their first evaluations."""
        folder = journal_of(batch)
        files = (one for one in self.storage.names(folder) if one not in (_NEEDED, _CHANGED))
        return [f"{folder}/{file}" for file in files]

    def write_needed(self, batch: int, view: LocalView) -> None:
        """Make durable which units the evaluations of a batch needed, now that it is settled.

        Units are named by their rank among those that were not dropped: who reads it later has no
        holes where this view may have some.
        """
        units = view.units
        noted = np.setdiff1d(np.flatnonzero(units.noted), view.dropped())
        units.noted[:] = False
        ranks, known = view.ranks(noted)
        columns = {"unit": ranks, "needed": units.needed[noted]}
        out = io.BytesIO()
        pq.write_table(pa.table(columns), out)
        fields = {
            "watched": units.watched,
            "known": known,
            "units": b64encode(out.getvalue()).decode(),
        }
        self.storage.write(f"{journal_of(batch)}/{_NEEDED}", seal(fields))

    def restore_needed(self, batch: int, view: LocalView) -> None:
        """Let a view know again what the evaluations of a batch needed."""
        name = f"{journal_of(batch)}/{_NEEDED}"
        content, where = self.storage.read(name), f"{self.storage.root}/{name}"
        if content is None:
            return
        fields, known = unseal(content, where), view.known()
        if fields["known"] != len(known):
            raise DamagedState(f"{where} is that of another view: restore what belongs to it")
        table = pq.read_table(io.BytesIO(b64decode(fields["units"])))
        view.units.watch(fields["watched"])
        view.units.set_needed(known[table["unit"].to_numpy()], table["needed"].to_numpy())

    def write_changed(self, batch: int, keys: Sequence[Key], t_ms: int) -> None:
        """Make durable which units are known to have changed since the batch before."""
        fields = {"keys": keys, "t_ms": t_ms}
        self.storage.write(f"{journal_of(batch)}/{_CHANGED}", seal(fields))

    def restore_changed(self, batch: int, view: LocalView) -> None:
        """Let a view know again which units had changed when a batch came."""
        name = f"{journal_of(batch)}/{_CHANGED}"
        if (content := self.storage.read(name)) is not None:
            fields = unseal(content, f"{self.storage.root}/{name}")
            view.mark_changed(map(_key, fields["keys"]), fields["t_ms"])

    def read(self, name: str) -> list[dict[str, Any]]:
        """The entries of a file as they were written; none if it is not there."""
        content, where = self.storage.read(name), f"{self.storage.root}/{name}"
        if content is None:
            return []
        entries: list[dict[str, Any]] = unseal(content, where)["outcomes"]
        if not name.endswith(f"/{_file(entries)}"):
            raise DamagedState(
                f"{where} is damaged: it tells of evaluation {entries[0]['evaluation']}; restore "
                "it, or use another checkpoint.path"
            )
        return entries

    def batches(self) -> list[int]:
        """The batches that the journal holds, oldest first."""
        return [int(name.removeprefix("batch-")) for name in self.storage.names(_FOLDER)]


def journal_of(batch: int) -> str:
    """The folder of a batch."""
    return f"{_FOLDER}/{batch_name(batch)}"


def entry_of(outcome: Outcome, view: LocalView) -> dict[str, Any]:
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
        "modified_ms": _by_key(view, reply.modified_ms),
        "failed": _by_key(view, reply.failed),
        "evicted": _keys(view, outcome.evicted),
        "used": _keys(view, outcome.used),
        "came_ms": outcome.came_ms,
        "need": None if outcome.need is None else outcome.need.tolist(),
        "limits": [outcome.bound_by, dict(outcome.left)],
        "budget": outcome.budget,
        "lift": outcome.lift,
        "price": outcome.price,
        "requests": reply.requests,
        "seconds": reply.seconds,
        "state": reply.state,
        "dropped": reply.dropped,
        "not_modified": reply.not_modified,
    }


def outcome_of(entry: Mapping[str, Any], view: LocalView) -> Outcome:
    """The outcome that an entry tells, with the numbers that its units have in a view."""
    rows = [[tuple(row) for row in rows] for _, rows in entry["rows"]]
    reply = Reply(
        answered=_numbers(view, [key for key, _ in entry["rows"]]),
        content=rows,
        stated_ms=_by_number(view, entry["intervals_ms"]),
        modified_ms=_by_number(view, entry.get("modified_ms", [])),
        failed=_by_number(view, entry["failed"]),
        requests=entry["requests"],
        seconds=entry["seconds"],
        state=entry["state"],
        dropped=entry["dropped"],
        not_modified=entry.get("not_modified", 0),
    )
    bound_by, left = entry.get("limits", (None, {}))
    return Outcome(
        evaluation=entry["evaluation"],
        t_ms=entry["t_ms"],
        candidates=entry["candidates"],
        elected=_numbers(view, entry["elected"]),
        reply=reply,
        came_ms=entry["came_ms"],
        need=None if entry["need"] is None else np.array(entry["need"], dtype=np.float64),
        evicted=_numbers(view, entry["evicted"]),
        used=_numbers(view, entry["used"]),
        bound_by=bound_by,
        left=left,
        budget=entry["budget"],
        lift=tuple(entry["lift"]) if entry["lift"] else None,
        price=entry["price"],
    )


def _keys(view: LocalView, units: Integers) -> list[Key]:
    return [view.keys[unit] for unit in units.tolist()]


def _by_key(view: LocalView, values: Mapping[int, Any]) -> list[list[Any]]:
    return [[view.keys[unit], value] for unit, value in values.items()]


def _numbers(view: LocalView, keys: Sequence[Sequence[str]]) -> Integers:
    numbers = view.numbers(map(_key, keys))
    if (numbers < 0).any():
        unknown = ", ".join(keys[int(np.argmin(numbers))])
        raise DamagedState(
            f"the journal names the unit {unknown}, which the view does not know: restore what is "
            "missing of the checkpoint, or use another checkpoint.path"
        )
    return numbers


def _by_number(view: LocalView, values: Sequence[tuple[Sequence[str], Any]]) -> dict[int, Any]:
    numbers = _numbers(view, [key for key, _ in values]).tolist()
    return dict(zip(numbers, (value for _, value in values), strict=True))


def _key(parts: Sequence[str]) -> Key:
    return tuple(parts)


def _file(entries: Sequence[Mapping[str, Any]]) -> str:
    return f"evaluation-{entries[0]['evaluation']:012d}.json"
