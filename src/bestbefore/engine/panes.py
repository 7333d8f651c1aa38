"""Panes: what elements count for in all evaluations to come, reduced once to key statistics.

Where an element makes a mapping by itself, and came once, the evaluations that find the mapping and
its L in them depend on nothing that comes later. An evaluation then looks at the few rows that are
left of earlier batches, and not at their elements again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain

import pyarrow as pa
import pyarrow.compute as pc

from bestbefore.query import QueryPlan
from bestbefore.query.algebra import BGP, Filter, Pattern
from bestbefore.query.expressions import exists_patterns
from bestbefore.spark.buffer import Segment
from bestbefore.spark.columns import FROM_EVALUATION, REMAINING, TO_EVALUATION
from bestbefore.spark.window_mappings import telling_service
from bestbefore.windows import Due


@dataclass
class Panes:
    """The key statistics of the buffer's segments, one or several of them together.

    A pane stays as long as one of its segments does: of those that were let go no evaluation to
    come sees anything, and segments are merged all at once.
    """

    _kept: dict[tuple[str, ...], pa.Table] = field(default_factory=dict)

    def missing(self, segments: Sequence[Segment]) -> list[str]:
        """The segments, of those that there are, whose statistics are still to be made."""
        live = {segment.name for segment in segments}
        self._kept = {
            names: kept for names, kept in self._kept.items() if not live.isdisjoint(names)
        }
        known = set(chain.from_iterable(self._kept))
        return [segment.name for segment in segments if segment.name not in known]

    def add(self, names: Sequence[str], statistics: pa.Table) -> None:
        """Keep what some segments count for, now and later."""
        self._kept[tuple(names)] = statistics

    def statistics(self, due: Due) -> pa.Table:
        """The key statistics of due evaluations; what is told of a key may be in several parts."""
        first, last = pa.scalar(due.first, pa.int64()), pa.scalar(due.last, pa.int64())
        self._kept = {
            names: kept.filter(pc.field(TO_EVALUATION) >= first)
            for names, kept in self._kept.items()
        }
        return pa.concat_tables([_between(kept, first, last) for kept in self._kept.values()])


def _between(kept: pa.Table, first: pa.Scalar, last: pa.Scalar) -> pa.Table:
    """The statistics of some evaluations only; L goes down by one from each to the next."""
    kept = kept.filter(pc.field(FROM_EVALUATION) <= last)
    begin = pc.max_element_wise(kept[FROM_EVALUATION], first)
    gone = pc.subtract(begin, kept[FROM_EVALUATION])
    columns = {
        **{name: kept[name] for name in kept.column_names},
        FROM_EVALUATION: begin,
        TO_EVALUATION: pc.min_element_wise(kept[TO_EVALUATION], last),
        REMAINING: pc.subtract(kept[REMAINING], gone),
    }
    return pa.table(columns)


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
