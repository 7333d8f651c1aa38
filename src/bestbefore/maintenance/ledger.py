"""The ledger: what was spent, written down before it is spent."""

import json
from dataclasses import dataclass

from bestbefore.storage import Storage


@dataclass(frozen=True, slots=True)
class Ledger:
    """The refreshes reserved per evaluation, in files that survive a crash.

    An evaluation that is repeated after a crash finds what its first attempt reserved, whether or
    not those requests were sent: a crash may waste budget, it never adds any.
    """

    storage: Storage

    def reserve(self, evaluation: int, units: int, *, limit: int) -> int:
        """Take up to `units` refreshes for an evaluation that may have `limit` in all."""
        spent = self.spent(evaluation)
        granted = max(0, min(units, limit - spent))
        if granted:
            entry = {"evaluation": evaluation, "reserved": spent + granted}
            self.storage.write(_name(evaluation), json.dumps(entry).encode())
        return granted

    def spent(self, evaluation: int) -> int:
        """The refreshes that an evaluation has reserved so far."""
        entry = self.storage.read(_name(evaluation))
        return int(json.loads(entry)["reserved"]) if entry else 0

    def close(self, evaluation: int) -> None:
        """Forget an evaluation whose batch is committed: nothing will repeat it."""
        self.storage.delete(_name(evaluation))


def _name(evaluation: int) -> str:
    return f"ledger/evaluation-{evaluation:012d}.json"
