"""The stream of a simulation: what each window needs."""

from itertools import pairwise

import numpy as np

from bestbefore.arrays import Integers
from bestbefore.maintenance.window_units import WindowUnits, units_of_keys, units_of_links
from bestbefore.view.links import Links
from bestbefore.windows import SlidingWindow


def window_contents(
    ts_ms: Integers,
    key: Integers,
    mapping: Integers,
    *,
    window: SlidingWindow,
    evaluations: range,
    links: Links | None,
) -> tuple[WindowUnits, ...]:
    """What each evaluation needs, from the time, join key and mapping of each stream element.

    Elements of one mapping collapse within a window, and the latest of them gives its time.
    """
    first, last = _presence(ts_ms, mapping, window)
    first, last = np.maximum(first, evaluations.start), np.minimum(last, evaluations.stop - 1)
    counts = np.maximum(last - first + 1, 0)
    element = np.repeat(np.arange(len(ts_ms)), counts)
    index = first[element] + np.arange(len(element)) - np.repeat(np.cumsum(counts) - counts, counts)
    remaining = window.remaining(ts_ms[element], window.closing(index))
    return _split(index, key[element], remaining, evaluations=evaluations, links=links)


def _presence(
    ts_ms: Integers, mapping: Integers, window: SlidingWindow
) -> tuple[Integers, Integers]:
    """The first and the last window in which each element gives its mapping's time."""
    order = np.lexsort((ts_ms, mapping))
    until = ts_ms + window.width_ms
    same = mapping[order][1:] == mapping[order][:-1]
    earlier = order[:-1][same]
    until[earlier] = np.minimum(until[earlier], ts_ms[order][1:][same])
    return window.first_with(ts_ms), window.first_with(until) - 1


def _split(
    index: Integers,
    key: Integers,
    remaining: Integers,
    *,
    evaluations: range,
    links: Links | None,
) -> tuple[WindowUnits, ...]:
    depth = int(remaining.max(initial=0)) + 1
    keys = int(key.max(initial=0)) + 1
    code, count = np.unique((index * keys + key) * depth + remaining, return_counts=True)
    index, key, remaining = code // depth // keys, code // depth % keys, code % depth
    bounds = np.searchsorted(index, [*evaluations, evaluations.stop])
    return tuple(
        units_of_keys(key[low:high], remaining[low:high], count[low:high])
        if links is None
        else units_of_links(links, key[low:high], remaining[low:high], count[low:high])
        for low, high in pairwise(bounds)
    )
