"""A policy: the maintenance process MP(proposer, ranker, replacement) under the papers' name."""

from collections.abc import Collection
from dataclasses import dataclass, field

from bestbefore.errors import PolicyError
from bestbefore.maintenance.allocation import Allocation
from bestbefore.maintenance.proposers import Proposer, proposers
from bestbefore.maintenance.rankers import Ranker, scores
from bestbefore.maintenance.rankers.ranker import Need
from bestbefore.maintenance.replacement import FreshnessReplacement, Replacement


@dataclass(frozen=True, slots=True)
class Policy:
    """Who proposes, who ranks, who leaves a full view, and how budget moves in time."""

    name: str
    proposer: Proposer
    ranker: Ranker
    replacement: Replacement = field(default_factory=FreshnessReplacement)
    allocation: Allocation = Allocation.FIXED

    @property
    def saves(self) -> bool:
        """Whether budget that is left is for later."""
        return self.allocation is not Allocation.FIXED

    @property
    def fetches_missing(self) -> bool:
        """Whether it also fetches units that the view does not hold."""
        return self.proposer.fetches_missing

    @property
    def needs(self) -> frozenset[Need]:
        """What it needs beyond the columns of view and stream."""
        needs: frozenset[Need] = getattr(self.ranker, "needs", frozenset())
        return needs | {Need.ORACLE} if self.proposer.needs_oracle else needs

    @property
    def needs_oracle(self) -> bool:
        """Whether it needs someone who knows what nobody can know."""
        return not self.needs.isdisjoint({Need.ORACLE, Need.FUTURE})

    @property
    def simulator_only(self) -> bool:
        """Whether it needs what only a simulation has; all that a query can give is a FILTER."""
        return not self.needs <= {Need.FILTER}

    def check(self) -> None:
        """Refuse a combination that makes no sense in itself."""
        how = self.allocation.value
        if self.saves and not scores(self.ranker):
            raise PolicyError(
                f"{self.name!r}: {how} compares scores, and this ranker elects sets as a whole; "
                "use one that scores, for example FBA(IBM-BGP)"
            )
        if self.saves and self.proposer is not proposers["WSJ"]:
            raise PolicyError(
                f"{self.name!r}: {how} compares the units of this window with those of others, so "
                f"its candidates are those of WSJ; write {how}(…) without another proposer"
            )
        if self.saves and self.needs_oracle:
            raise PolicyError(
                f"{self.name!r}: {how} weighs what is expected, an oracle knows what will be"
            )
        if Need.FUTURE in self.needs and self.proposer not in (proposers["WSJ"], proposers["GNR"]):
            raise PolicyError(
                f"{self.name!r}: this ranker schedules refreshes of what the view holds; use it "
                "with WSJ or GNR"
            )
        known = (proposers["WSJ"], proposers["BST"], proposers["WST"])
        if not scores(self.ranker) and self.proposer not in known:
            raise PolicyError(
                f"{self.name!r}: this ranker completes join keys of the window whose units are "
                "cached; use it with WSJ"
            )

    def require(self, given: Collection[Need], *, where: str) -> None:
        """Refuse the policy where something that it needs is not given."""
        for need in sorted(self.needs - frozenset(given)):
            raise PolicyError(f"policy {self.name!r} needs {need.value}; {where} does not have it")
