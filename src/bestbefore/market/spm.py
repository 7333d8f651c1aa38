"""Simple predicate multiplication (SPM, thesis section 3.4.1.1)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, ClassVar, Self

from pyspark.sql import DataFrame

from bestbefore.market.counted_store import CountedStore
from bestbefore.market.packing import Columns
from bestbefore.market.predicate_counts import PredicateCounts, updated_counts
from bestbefore.market.shapes import Part, Star
from bestbefore.market.summary import Renewed, StarEstimate, Summary, summaries

_TOTAL = "total"


@dataclass(frozen=True, eq=False)
class SPM:
    """The freshness of a join as the product of that of its predicates.

    Cardinalities are those of System R: rows are spread evenly over subjects and objects.
    """

    counts: PredicateCounts

    def star(self, star: Star, renewed: Renewed) -> StarEstimate:
        """The cardinalities of a star."""
        return multiplied(self.counts, star, renewed)

    def objects(self, part: Part) -> float:
        """How many different objects the triples of a pattern have."""
        return self.counts.of(part)[3]

    def predicates(self) -> Sequence[str]:
        """The predicates of the store."""
        return self.counts.names

    def updated(self, before: DataFrame, after: DataFrame) -> Summary:
        """The summary after a refresh."""
        return replace(self, counts=updated_counts(self.counts, before, after))

    def packed(self) -> tuple[dict[str, Any], Columns]:
        """The fields and columns that are written."""
        return self.counts.packed()

    @classmethod
    def unpacked(cls, fields: dict[str, Any], columns: Columns) -> Self:
        """The summary that was written."""
        return cls(PredicateCounts.unpacked(fields, columns))


@summaries.register("SPM")
@dataclass(frozen=True)
class SPMBuilder:
    """Simple predicate multiplication: total and fresh triples per predicate."""

    makes: ClassVar[type[Summary]] = SPM

    def build(self, store: CountedStore) -> SPM:
        """The summary of a store."""
        return SPM(store.predicates)


def multiplied(
    counts: PredicateCounts, star: Star, renewed: Renewed, freshness: Sequence[float] | None = None
) -> StarEstimate:
    """A star whose triples are independent; `freshness` is that of its parts, if it is another."""
    found = [counts.of(part) for part in star.parts]
    if any(total <= 0 for total, _, _, _ in found):
        return StarEstimate(0.0, 0.0, 0.0)
    subjects = [subjects for _, _, subjects, _ in found]
    bound = star.parts[0].bound[0] is not None
    # Every part of a bound subject has rows of that one alone.
    matches = 1.0 if bound else prod(subjects) / min(subjects)
    total = prod(total for total, _, _, _ in found) / matches
    shares = freshness or [fresh / total for total, fresh, _, _ in found]
    fresh = prod(one + part * (1 - one) for one, part in zip(shares, renewed, strict=True))
    return StarEstimate(total, total * fresh, min(subjects))
