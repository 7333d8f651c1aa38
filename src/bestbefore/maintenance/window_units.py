"""What the stream tells the policies: which units an evaluation needs, how often and how long."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bestbefore.arrays import Integers, Scores


@dataclass(frozen=True, slots=True)
class Pairs:
    """The pairs of a view row and a compatible window mapping, counted by unit and L.

    `position` is the unit's position among those of the window.
    """

    position: Integers
    remaining: Integers
    count: Integers


@dataclass(frozen=True, slots=True)
class JoinKeys:
    """The join keys of the window as the left side of the maintenance graph.

    Edge e joins key `edge_key[e]` with the unit at `edge_position[e]` (planning-ahead section 4);
    edges are in ascending order of keys.
    `remaining` and `mappings` hold, per key, L of its latest mapping and the number of mappings c.
    """

    remaining: Integers
    mappings: Integers
    edge_key: Integers
    edge_position: Integers


@dataclass(frozen=True, slots=True)
class WindowUnits:
    """The units compatible with the window: each once, ascending, with what the stream says of it.

    `remaining` is L of the unit's latest mapping, `mappings` the number of its pairs of a row and
    a compatible mapping. Without `pairs` all of them last as long as the latest; without `keys`
    each unit is a join key of its own (a 1:1 join). `unknown` counts the window's mappings whose
    join key the view does not know.
    """

    unit: Integers
    remaining: Integers
    mappings: Integers
    pairs: Pairs | None = None
    keys: JoinKeys | None = None
    unknown: int = 0

    def __len__(self) -> int:
        return len(self.unit)

    def weights(self, *, once: bool) -> Integers:
        """How many answer rows each unit has a part in; one, if answers show equal rows `once`."""
        return np.ones(len(self.unit), dtype=np.int64) if once else self.mappings

    def freshness(self, fresh: Scores, *, once: bool = False) -> float | None:
        """The mean over the answer rows of their units' freshness; what is unknown is not fresh."""
        weights = self.weights(once=once)
        whole = float(weights.sum() + self.unknown)
        return float(fresh @ weights) / whole if whole else None

    def results(self, fresh: Integers | int) -> Scores:
        """Per unit, the answers over the coming evaluations that it serves if fresh for so many.

        This is Σ min(L, B) over the unit's pairs, equations 12 to 15 of planning-ahead.
        """
        if self.pairs is None:
            answers = np.minimum(self.remaining, fresh) * self.mappings
            return answers.astype(np.float64)
        of_pair = fresh if isinstance(fresh, int) else fresh[self.pairs.position]
        each = np.minimum(self.pairs.remaining, of_pair) * self.pairs.count
        return np.asarray(
            np.bincount(self.pairs.position, weights=each, minlength=len(self.unit)),
            dtype=np.float64,
        )

    def join_keys(self) -> JoinKeys:
        """The join keys with their edges; those of a 1:1 join are the units themselves."""
        if self.keys is not None:
            return self.keys
        each = np.arange(len(self.unit))
        return JoinKeys(self.remaining, self.mappings, each, each)

    def later(self, slides: int) -> "WindowUnits":
        """What will be left of this window so many slides later, if nothing arrives."""
        if slides == 0:
            return self
        stays = self.remaining > slides
        unit, remaining = self.unit[stays], self.remaining[stays] - slides
        if self.pairs is None:
            return WindowUnits(unit, remaining, self.mappings[stays])
        lasting = self.pairs.remaining > slides
        position = (np.cumsum(stays) - 1)[self.pairs.position[lasting]]
        count = self.pairs.count[lasting]
        pairs = Pairs(position, self.pairs.remaining[lasting] - slides, count)
        mappings = np.bincount(position, weights=count, minlength=len(unit)).astype(np.int64)
        return WindowUnits(unit, remaining, mappings, pairs)


def together(windows: Sequence[WindowUnits]) -> WindowUnits:
    """What several windows over the same units need at one time, as one."""
    if len(windows) == 1:
        return windows[0]
    unit, position = np.unique(np.concatenate([one.unit for one in windows]), return_inverse=True)
    places = np.split(position, np.cumsum([len(one) for one in windows])[:-1])
    remaining, mappings = (np.zeros(len(unit), dtype=np.int64) for _ in range(2))
    for one, place in zip(windows, places, strict=True):
        remaining[place] = np.maximum(remaining[place], one.remaining)
        mappings[place] += one.mappings
    linked = any(one.keys is not None for one in windows)
    return WindowUnits(
        unit,
        remaining,
        mappings,
        pairs=_all_pairs(windows, places),
        keys=_all_keys([one.join_keys() for one in windows], places) if linked else None,
        unknown=sum(one.unknown for one in windows),
    )


def _all_pairs(windows: Sequence[WindowUnits], places: Sequence[Integers]) -> Pairs:
    parts = [
        one.pairs or Pairs(np.arange(len(one)), one.remaining, one.mappings) for one in windows
    ]
    return Pairs(
        np.concatenate([place[part.position] for part, place in zip(parts, places, strict=True)]),
        np.concatenate([part.remaining for part in parts]),
        np.concatenate([part.count for part in parts]),
    )


def _all_keys(several: Sequence[JoinKeys], places: Sequence[Integers]) -> JoinKeys:
    """The join keys of several windows: an answer of each is an answer of its own."""
    before = np.cumsum([0, *(len(one.remaining) for one in several[:-1])])
    numbered = zip(several, before.tolist(), strict=True)
    edges = zip(several, places, strict=True)
    return JoinKeys(
        np.concatenate([one.remaining for one in several]),
        np.concatenate([one.mappings for one in several]),
        np.concatenate([first + one.edge_key for one, first in numbered]),
        np.concatenate([place[one.edge_position] for one, place in edges]),
    )


_NONE: Integers = np.empty(0, dtype=np.int64)
NO_UNITS = WindowUnits(_NONE, _NONE, _NONE)


def units_of_keys(key: Integers, remaining: Integers, mappings: Integers) -> WindowUnits:
    """The window's units in a 1:1 join, from counts per (key, L) in ascending order of keys."""
    starts = run_starts(key)
    if len(starts) == len(key):
        return WindowUnits(key, remaining, mappings)
    position = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(key))))
    return WindowUnits(
        unit=key[starts],
        remaining=np.maximum.reduceat(remaining, starts),
        mappings=np.add.reduceat(mappings, starts),
        pairs=Pairs(position, remaining, mappings),
    )


class LinkedUnits(Protocol):
    """Whoever knows which units join keys are linked with."""

    def units(self, keys: Integers) -> tuple[Integers, Integers]:
        """The units of some join keys, by edge: which of `keys` each belongs to, and its number."""
        ...


def units_of_links(
    links: LinkedUnits, key: Integers, remaining: Integers, mappings: Integers
) -> WindowUnits:
    """The window's units in an M:N join, from counts per (key, L) in ascending order of keys."""
    starts = run_starts(key)
    owner, linked = links.units(key[starts])
    unit, position = np.unique(linked, return_inverse=True)
    entry_key = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(key))))
    pairs = _pairs(owner, position, entry_key, remaining, mappings)
    edges = np.unique(np.stack([owner, position]), axis=1)
    latest = np.zeros(len(unit), dtype=np.int64)
    np.maximum.at(latest, pairs.position, pairs.remaining)
    return WindowUnits(
        unit=unit,
        remaining=latest,
        mappings=_sums(pairs.position, pairs.count, len(unit)),
        pairs=pairs,
        keys=JoinKeys(
            remaining=np.maximum.reduceat(remaining, starts) if len(starts) else starts,
            mappings=_sums(entry_key, mappings, len(starts)),
            edge_key=edges[0],
            edge_position=edges[1],
        ),
    )


def _pairs(
    owner: Integers,
    position: Integers,
    entry_key: Integers,
    remaining: Integers,
    mappings: Integers,
) -> Pairs:
    """Every edge with every entry of its key, counted by unit and L."""
    first = np.searchsorted(owner, entry_key)
    counts = np.searchsorted(owner, entry_key, side="right") - first
    entry = np.repeat(np.arange(len(entry_key)), counts)
    offset = np.arange(len(entry)) - np.repeat(np.cumsum(counts) - counts, counts)
    at = position[np.repeat(first, counts) + offset]
    depth = int(remaining.max(initial=0)) + 1
    code, inverse = np.unique(at * depth + remaining[entry], return_inverse=True)
    return Pairs(code // depth, code % depth, _sums(inverse, mappings[entry], len(code)))


def _sums(group: Integers, values: Integers, groups: int) -> Integers:
    return np.bincount(group, weights=values, minlength=groups).astype(np.int64)


def run_starts(*ordered: Integers) -> Integers:
    """Where rows in order, by one or several columns, are others than the one before."""
    if not len(ordered[0]):
        return np.empty(0, dtype=np.int64)
    other = np.ones(len(ordered[0]), dtype=np.bool_)
    np.not_equal(ordered[0][1:], ordered[0][:-1], out=other[1:])
    for column in ordered[1:]:
        other[1:] |= column[1:] != column[:-1]
    return other.nonzero()[0]
