"""A view on demand that meets new keys without end keeps what windows need, and no more."""

from benchmarks.memory import figures
from tests.endless_job import KEEP_WINDOWS, NEW_USERS

EVALUATIONS, EVERY = 800, 26


def test_memory_and_checkpoint_do_not_grow_with_the_evaluations():
    found = list(figures(EVALUATIONS, every=EVERY))
    early, late = found[5:15], found[-10:]
    # Users who are mentioned for ever, and those of the windows that are kept.
    most = 10 + NEW_USERS * (KEEP_WINDOWS + 3)
    assert max(one.held for one in found) <= most
    assert max(one.units for one in found) <= 1.5 * most

    def growth(name):
        before, after = (max(getattr(one, name) for one in part) for part in (early, late))
        return after - before

    assert growth("units") < 0.1 * most
    # A single block per key that was met would be many times that.
    assert growth("blocks") < EVALUATIONS
    assert growth("files") <= 10
    assert growth("on_disk") < 0.1 * max(one.on_disk for one in early)
