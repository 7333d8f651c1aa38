"""What each window needs, against a reading of the definitions element by element."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bestbefore.simulator.windows import window_contents
from bestbefore.view.links import link
from bestbefore.windows import SlidingWindow

elements = st.lists(
    st.tuples(st.integers(1, 60), st.integers(0, 4), st.integers(0, 2)), min_size=1, max_size=25
)


def mappings_in(rows, window, index):
    """(key, event) → the latest time within the window."""
    opening, closing = window.bounds(index)
    latest = {}
    for ts, key, event in rows:
        if opening < ts <= closing:
            latest[key, event] = max(ts, latest.get((key, event), 0))
    return latest


def contents(rows, window, last, links=None):
    ts, key, event = (np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))
    return window_contents(
        ts, key, key * 3 + event, window=window, evaluations=range(1, last + 1), links=links
    )


@given(elements, st.integers(1, 25), st.integers(1, 25))
def test_one_to_one(rows, width, slide):
    window = SlidingWindow(width, slide)
    last = 60 // slide + 1
    for index, found in enumerate(contents(rows, window, last), start=1):
        t = window.closing(index)
        expected = {}
        for (key, _), ts in mappings_in(rows, window, index).items():
            expected.setdefault(key, []).append(-(-(ts + width - t) // slide))
        assert found.unit.tolist() == sorted(expected)
        assert found.remaining.tolist() == [max(expected[key]) for key in sorted(expected)]
        assert found.mappings.tolist() == [len(expected[key]) for key in sorted(expected)]
        for fresh in range(4):
            impact = [sum(min(left, fresh) for left in expected[key]) for key in sorted(expected)]
            assert found.results(np.full(len(found), fresh)).tolist() == impact


@given(elements, st.integers(0, 2**32 - 1))
def test_many_to_many(rows, seed):
    window, rng = SlidingWindow(12, 5), np.random.default_rng(seed)
    edges = rng.random((5, 6)) < 0.5
    links, _ = link(*np.nonzero(edges), keys=5)
    for index, found in enumerate(contents(rows, window, 13, links), start=1):
        present = mappings_in(rows, window, index)
        pairs = [
            (unit, -(-(ts + 12 - window.closing(index)) // 5))
            for (key, _), ts in present.items()
            for unit in np.flatnonzero(edges[key]).tolist()
        ]
        units = sorted({unit for unit, _ in pairs})
        assert found.unit.tolist() == units
        assert found.mappings.tolist() == [sum(u == unit for u, _ in pairs) for unit in units]
        assert found.remaining.tolist() == [
            max(left for u, left in pairs if u == unit) for unit in units
        ]
        keys = found.join_keys()
        joined = {
            (int(k), units[p]) for k, p in zip(keys.edge_key, keys.edge_position, strict=True)
        }
        in_window = sorted({key for key, _ in present})
        assert joined == {
            (place, unit)
            for place, key in enumerate(in_window)
            for unit in np.flatnonzero(edges[key]).tolist()
        }


@given(elements, st.integers(0, 5))
def test_what_is_left_later_if_nothing_arrives(rows, slides):
    window = SlidingWindow(20, 5)
    now = contents(rows, window, 13)
    for index, found in enumerate(now[: 13 - slides], start=1):
        t = window.closing(index)
        so_far = [row for row in rows if row[0] <= t]
        if not so_far:
            continue
        expected = contents(so_far, window, 13)[index + slides - 1]
        later = found.later(slides)
        assert later.unit.tolist() == expected.unit.tolist()
        assert later.remaining.tolist() == expected.remaining.tolist()
        assert later.mappings.tolist() == expected.mappings.tolist()
