"""A service over rows in memory, which tests change as they like."""

from dataclasses import dataclass, field

from bestbefore.service import Fetched, Loaded


@dataclass
class RowService:
    """A service over rows; the positions `key` of a row name its unit, `down` are out of reach."""

    rows: list
    key: tuple = (0,)
    asked: list = field(default_factory=list)
    down: set = field(default_factory=set)

    def load(self, *, requests_allowed=None):
        return Loaded(tuple(self.rows), 1, 0.0)

    def fetch(self, keys, *, requests_allowed=None, deadline_s=None):
        self.asked.append(list(keys))
        found = {key: () for key in keys if key not in self.down}
        for row in self.rows:
            if (key := tuple(row[place] for place in self.key)) in found:
                found[key] += (row,)
        failed = {key: "down" for key in keys if key in self.down}
        return Fetched(found, failed, requests=1)

    def close(self):
        pass
