"""Panes: what elements count for in all evaluations to come, reduced once to key statistics.

Where an element makes a mapping by itself, and came once, the evaluations that find the mapping and
its L in them depend on nothing that comes later. An evaluation then looks at the few rows that are
left of earlier batches, and not at their elements again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np

from bestbefore.engine.key_statistics import KeyCounts, Statistics
from bestbefore.maintenance.window_units import run_starts
from bestbefore.query import QueryPlan
from bestbefore.query.algebra import BGP, Filter, Pattern
from bestbefore.query.expressions import exists_patterns
from bestbefore.rdf.terms import Key
from bestbefore.spark.buffer import Segment
from bestbefore.spark.window_mappings import telling_service
from bestbefore.windows import Due

# Rows that no evaluation to come looks at are let go when they are such a share of all.
_GONE = 8


@dataclass
class Panes:
    """What the elements of the buffer's segments count for, all of it together.

    For each pane, of one or several segments, it is known what the last evaluation is that looks at
    it: if they leave the buffer before, and none is known to have taken their place, everything is
    made anew.
    """

    _last: dict[tuple[str, ...], int] = field(default_factory=dict)
    _services: list["_Kept"] = field(default_factory=list)

    @property
    def names(self) -> set[str]:
        """The segments whose counts are here."""
        return set(chain.from_iterable(self._last))

    def note_merged(self, names: Sequence[str], name: str) -> None:
        """Let a segment have taken the place of others, if the counts of all of them are here."""
        if not self.names.issuperset(names):
            return
        last = dict[tuple[str, ...], int]()
        for old, evaluation in self._last.items():
            now = tuple(dict.fromkeys(name if one in names else one for one in old))
            last[now] = max(evaluation, last.get(now, evaluation))
        self._last = last

    def missing(self, segments: Sequence[Segment], due: Due) -> list[str]:
        """The segments, of those that there are, whose counts are still to be made."""
        live = {segment.name for segment in segments}
        gone = [names for names in self._last if live.isdisjoint(names)]
        if any(self._last[names] >= due.first for names in gone):
            self._last, self._services = {}, []
        for names in gone:
            self._last.pop(names, None)
        known = self.names
        return [segment.name for segment in segments if segment.name not in known]

    def add(self, names: Sequence[str], statistics: Statistics) -> None:
        """Keep what some segments count for, now and later."""
        found = statistics.services
        self._services = self._services or [_Kept() for _ in found]
        for kept, counts in zip(self._services, found, strict=True):
            kept.add(counts)
        self._last[tuple(names)] = max(int(one.last.max(initial=-1)) for one in found)

    def statistics(self, due: Due) -> Statistics:
        """What due evaluations find; what is told of a key may be in several parts."""
        return Statistics([kept.between(due.first, due.last) for kept in self._services])


@dataclass
class _Kept:
    """The counts of one service, whose keys have a place once they have come."""

    counts: KeyCounts = field(default_factory=lambda: KeyCounts((), *np.empty((5, 0), np.int64)))
    places: dict[Key, int] = field(default_factory=dict)

    def add(self, counts: KeyCounts) -> None:
        """Merge other counts in, most of which end after those that are here."""
        places = [self.places.setdefault(key, len(self.places)) for key in counts.keys]
        counts = replace(counts, key=np.array(places, dtype=np.int64)[counts.key])
        counts = counts.take(np.argsort(counts.key, kind="stable"))
        kept = self.counts
        behind = np.searchsorted(kept.key, counts.key, side="right")
        before = np.maximum(behind - 1, 0)
        late = len(kept) > 0 and bool(
            ((kept.key[before] == counts.key) & (kept.end[before] > counts.end)).any()
        )
        both = _one_after_the_other(kept, counts)
        if late:
            order = np.lexsort((both.end, both.key))
        else:
            order = np.insert(np.arange(len(kept)), behind, np.arange(len(kept), len(both)))
        self.counts = both.take(order)

    def between(self, first: int, last: int) -> KeyCounts:
        """The counts in some evaluations, with the keys that have any; those before are over."""
        self._let_go(first)
        counts = self.counts
        found = counts.take(np.flatnonzero((counts.last >= first) & (counts.first <= last)))
        starts = run_starts(found.key)
        keys, length = list(self.places), np.diff(np.append(starts, len(found)))
        return KeyCounts(
            [keys[place] for place in found.key[starts].tolist()],
            np.repeat(np.arange(len(starts)), length),
            np.maximum(found.first, first),
            np.minimum(found.last, last),
            found.end,
            found.mappings,
        )

    def _let_go(self, first: int) -> None:
        """Forget rows that are over, and keys without any, when they are many."""
        rows = np.flatnonzero(self.counts.last >= first)
        if (len(self.counts) - len(rows)) * _GONE <= len(self.counts):
            return
        counts, keys = self.counts.take(rows), list(self.places)
        there, key = np.unique(counts.key, return_inverse=True)
        self.places = {keys[place]: number for number, place in enumerate(there.tolist())}
        self.counts = replace(counts, key=key.astype(np.int64))


def _one_after_the_other(counts: KeyCounts, others: KeyCounts) -> KeyCounts:
    """Both in one, not in order."""
    return KeyCounts(
        (),
        *(
            np.concatenate([getattr(counts, name), getattr(others, name)])
            for name in ("key", "first", "last", "end", "mappings")
        ),
    )


def has_panes(plan: QueryPlan) -> bool:
    """Whether each element makes a mapping by itself, and statistics tell all of the mappings."""
    if len(plan.windows) != 1:
        return False
    (window,) = plan.windows
    return telling_service(window, plan) is not None and _is_of_one_triple(window.pattern)


def _is_of_one_triple(pattern: Pattern) -> bool:
    if isinstance(pattern, Filter):
        return not exists_patterns(pattern.condition) and _is_of_one_triple(pattern.pattern)
    return isinstance(pattern, BGP) and len(pattern.patterns) == 1
