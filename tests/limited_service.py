"""A service that asks what its limits let it, on clocks that tests set."""

from bestbefore.limits import RequestLedger


class MemoryStorage:
    """Storage that survives a crash of its user."""

    root = "memory"

    def __init__(self):
        self.files = {}

    def read(self, name):
        return self.files.get(name)

    def write(self, name, content):
        self.files[name] = content

    def names(self, folder):
        return sorted(name.removeprefix(folder + "/") for name in self.files)

    def delete(self, name):
        self.files.pop(name, None)


class Clocks:
    """True time in milliseconds, and a wall clock that may be set."""

    def __init__(self, now_ms=1_750_000_000_000):
        self.now_ms, self.set_ms = now_ms, 0

    def wall(self):
        return self.now_ms + self.set_ms

    def monotonic(self):
        return self.now_ms / 1000


def open_ledger(storage, limits, clocks, name="limits/service.json"):
    return RequestLedger(storage, name, limits, wall=clocks.wall, monotonic=clocks.monotonic)
