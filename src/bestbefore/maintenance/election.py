"""The election: propose, rank, elect, and make room."""

from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from bestbefore.arrays import Integers, Scores, side_by_side
from bestbefore.maintenance.allocation import Allocation, Market, allowance, elect_flexibly
from bestbefore.maintenance.candidates import CandidateSet, Moment, Oracle
from bestbefore.maintenance.event_clock import EventClock
from bestbefore.maintenance.outcome import Asked
from bestbefore.maintenance.policy import Policy
from bestbefore.maintenance.proposers import Offer
from bestbefore.maintenance.rankers import NEVER, Scorer, elects, ranks_missing, scores
from bestbefore.maintenance.rankers.expected_gain import ExpectedGain
from bestbefore.maintenance.rankers.ranker import elect_highest
from bestbefore.maintenance.wanted import Lift, Wanted, cheapest_lift
from bestbefore.maintenance.window_units import WindowUnits
from bestbefore.view.units import Units


@dataclass(frozen=True, slots=True)
class Election:
    """The candidate set C, the elected set E ⊆ C and the units that leave for it, as numbers.

    Where a freshness is wanted, `lift` is what it would take; `price` is what a refresh is worth
    elsewhere, where that matters.
    """

    candidates: Integers
    elected: Integers
    evicted: Integers
    lift: Lift | None = None
    price: float | None = None


@dataclass(frozen=True, slots=True)
class Situation:
    """The moment, the budget γ, and what else an evaluation knows besides view and window.

    `evaluation` numbers the moment, and with `seed` decides what chance decides. `threshold` is
    that of the query's FILTER, and an answer shows the values above it, below it, or (`shown_above`
    is None) none; `aggregated` says that the answer of a join key aggregates its
    units; `capacity` is the most units that the view may hold, `saved` the budget that is left from
    before and `price` what a refresh was worth then, `oracle` the truth where it is known. With
    `fill` what the window needs and the view lacks goes first, whoever proposes; `start` more than
    the budget may be spent on it, and units that nobody needed for `keep_ms` leave. `uncached` asks
    for all that the window needs, whatever the budget, and keeps nothing. `freshness` is the α that
    is wanted, which no more than the budget is spent for, and answers may show equal rows `once`;
    `ahead` was asked for before the evaluation was due. Without a `clock` no time passes during an
    evaluation.
    """

    moment: Moment
    budget: int
    threshold: float | None = None
    shown_above: bool | None = None
    aggregated: bool = False
    capacity: int | None = None
    saved: int = 0
    price: float | None = None
    oracle: Oracle | None = None
    evaluation: int = 0
    seed: int = 0
    fill: bool = False
    start: int = 0
    keep_ms: int | None = None
    uncached: bool = False
    freshness: float | None = None
    once: bool = False
    ahead: Asked | None = None
    clock: EventClock | None = None

    @property
    def now_ms(self) -> int:
        """The time of the stream now."""
        t_ms = self.moment.t_ms
        return t_ms if self.clock is None else self.clock.now_ms(t_ms)

    @property
    def written_ms(self) -> int:
        """The time of the stream when the answer will be written."""
        t_ms = self.moment.t_ms
        return t_ms if self.clock is None else self.clock.written_ms(t_ms)

    @property
    def wanted(self) -> Wanted | None:
        """The freshness that is wanted, and when."""
        if self.freshness is None:
            return None
        if self.clock is None or not self.clock.live:
            return Wanted(self.freshness, self.written_ms, once=self.once)
        written_ms = self.written_ms + self.clock.asking_ms
        return Wanted(self.freshness, written_ms, self.clock.writing_ms, self.once)

    def rng(self) -> np.random.Generator:
        """The random generator of this evaluation, the same however often it is repeated."""
        # What `default_rng` makes of it, which takes longer.
        seed = np.random.SeedSequence([self.seed, self.evaluation])
        return np.random.Generator(np.random.PCG64(seed))


def elect(
    policy: Policy,
    units: Units,
    window: WindowUnits,
    situation: Situation,
    *,
    rng: np.random.Generator,
) -> Election:
    """Elect at most γ units for a refresh now; with FBA, more if it was saved or can be."""
    step = _Step(policy, units, window, situation, rng)
    if situation.uncached:
        everything = step.everything()
        return Election(everything, everything, everything[:0])
    lift = step.lift()
    if lift is None:
        return _elect(step)
    if lift.enough and len(lift.units) <= situation.budget + situation.start:
        return replace(step.with_room(window.unit, lift.units), lift=lift)
    return replace(_elect(step), lift=lift)


def _elect(step: "_Step") -> Election:
    """What the policy elects."""
    policy, window, situation = step.policy, step.window, step.situation
    missing = step.missing()
    tiers = step.propose()
    candidates = tiers[0] if len(tiers) == 1 else np.concatenate([window.unit[:0], *tiers])
    first = step.elect_missing(missing) if len(missing) else missing
    price = situation.price
    if policy.allocation is Allocation.FBA and scores(policy.ranker):
        elected = step.elect_flexibly(policy.ranker, spent=len(first))
    elif policy.allocation is Allocation.PRICE and scores(policy.ranker):
        elected, price = step.elect_priced(policy.ranker, candidates, spent=len(first))
    else:
        elected = step.elect_from(tiers, situation.budget - len(first))
    if len(missing):
        candidates = np.concatenate([missing, candidates])
        elected = np.concatenate([first, elected])
    election = step.with_room(candidates, elected)
    return election if price is None else replace(election, price=price)


def describe(
    units: Units, proposed: Integers, window: WindowUnits, situation: Situation
) -> CandidateSet:
    """The proposed units as a policy sees them."""
    return CandidateSet(
        proposed,
        units,
        window,
        situation.threshold,
        situation.oracle,
        situation.aggregated,
        situation.shown_above,
    )


def worth_of(units: Units, window: WindowUnits, situation: Situation) -> Scores:
    """The rows that a refresh of each unit of a window is expected to make correct.

    Of units that cannot be asked now it is nothing, and so it is of those that nobody fetches.
    """
    candidates = describe(units, window.unit, window, situation)
    gain = ExpectedGain().score(candidates, situation.moment)
    usable = units.retry_at[window.unit] <= situation.evaluation
    if not situation.fill:
        usable &= candidates.held
    return np.where(usable, gain, 0.0)


@dataclass(frozen=True, slots=True)
class _Step:
    policy: Policy
    units: Units
    window: WindowUnits
    situation: Situation
    rng: np.random.Generator

    def propose(self) -> tuple[Integers, ...]:
        stale = None
        if self.situation.oracle is not None:
            stale = self.situation.oracle.stale(np.arange(len(self.units)))
        tiers = self.policy.proposer.select(Offer(self.units.held, self.window, stale))
        if self.situation.fill:
            tiers = tuple(tier[self.units.held[tier]] for tier in tiers)
        return tuple(self._ready(tier) for tier in tiers)

    def everything(self) -> Integers:
        """All units that the window needs and that need not wait."""
        return self._ready(self.window.unit)

    def lift(self) -> Lift | None:
        """What it takes to reach the freshness that is wanted, if one is."""
        wanted = self.situation.wanted
        if wanted is None:
            return None
        unit = self.window.unit
        ready = self.units.retry_at[unit] <= self.situation.evaluation
        if not self.situation.fill and not self.policy.fetches_missing:
            ready &= self.units.held[unit]
        return cheapest_lift(self.units, self.window, ready, wanted)

    def missing(self) -> Integers:
        """The units to fill the view with: those that the window needs and the view lacks."""
        unit = self.window.unit
        lacks = ~self.units.held[unit] if self.situation.fill else np.zeros(0, dtype=np.bool_)
        return self._ready(unit[lacks]) if lacks.any() else unit[:0]

    def elect_missing(self, missing: Integers) -> Integers:
        """Elect those that the most answers wait for, over the evaluations that need them."""
        candidates = describe(self.units, missing, self.window, self.situation)
        answers = candidates.results(candidates.remaining)
        budget = self.situation.budget + self.situation.start
        return missing[elect_highest(answers, budget=budget, rng=self.rng)]

    def _ready(self, proposed: Integers, slides: int = 0) -> Integers:
        """Those proposed that need not wait, so many evaluations from now."""
        waits = self.units.retry_at[side_by_side(proposed)] > self.situation.evaluation + slides
        return proposed[(~waits).nonzero()[0]] if waits.any() else proposed

    def elect_from(self, tiers: tuple[Integers, ...], budget: int) -> Integers:
        elected: list[Integers] = [np.empty(0, dtype=np.int64)]
        for tier in tiers:
            left = budget - sum(map(len, elected))
            if left > 0 and len(tier):
                elected.append(self._elect_tier(tier, left))
        return elected[-1] if len(elected) == 2 else np.concatenate(elected)

    def _elect_tier(self, tier: Integers, budget: int) -> Integers:
        candidates = describe(self.units, tier, self.window, self.situation)
        ranker, moment = self.policy.ranker, self.situation.moment
        complete = ranks_missing(ranker) or bool(candidates.held.all())
        if elects(ranker) and complete:
            return tier[ranker.elect(candidates, moment, budget=budget, rng=self.rng)]
        found = cast("Scorer", ranker).score(candidates, moment)
        if not complete:
            found = self._with_missing(candidates, found)
        return tier[elect_highest(found, budget=budget, rng=self.rng)]

    def _with_missing(self, candidates: CandidateSet, found: Scores) -> Scores:
        """Nothing is known of a missing unit: it gets the score of some cached one."""
        known = found[candidates.held & (found > NEVER)]
        missing = ~candidates.held
        found = found.copy()
        found[missing] = self.rng.choice(known, missing.sum()) if len(known) else 0.0
        return found

    def elect_flexibly(self, ranker: Scorer, *, spent: int) -> Integers:
        moment = self.situation.moment
        foreseen = []
        for slides in range(moment.horizon):
            window = self.window.later(slides)
            held = self.units.held[window.unit]
            cached = self._ready(window.unit if held.all() else window.unit[held], slides)
            foreseen.append(describe(self.units, cached, window, self.situation))
        pool = allowance(self.situation.budget, self.situation.saved, moment, Allocation.FBA)
        pool = max(0, pool - spent)
        chosen = elect_flexibly(ranker, foreseen, moment, pool=pool, rng=self.rng)
        return foreseen[0].unit[chosen]

    def elect_priced(
        self, ranker: Scorer, proposed: Integers, *, spent: int
    ) -> tuple[Integers, float | None]:
        """What is worth the price, and the price from now on."""
        moment, budget, saved = self.situation.moment, self.situation.budget, self.situation.saved
        market = Market(budget, saved, moment.horizon, self.situation.price)
        score = ranker.score(describe(self.units, proposed, self.window, self.situation), moment)
        price = market.after(score)
        pool = allowance(budget, saved, moment, Allocation.PRICE)
        worth = market.worthwhile(score, price)
        return proposed[elect_highest(worth, budget=max(0, pool - spent), rng=self.rng)], price

    def with_room(self, candidates: Integers, elected: Integers) -> Election:
        """Choose who leaves for the missing ones.

        Those without room are not fetched; their budget goes to units that are cached.
        """
        none = elected[:0]
        capacity = self.situation.capacity
        missing = ~self.units.held[elected]
        if capacity is None or not missing.any():
            return Election(candidates, elected, none)
        excess = int(self.units.held.sum()) + int(missing.sum()) - capacity
        if excess <= 0:
            return Election(candidates, elected, none)
        movable, needed = self.units.held.copy(), np.zeros(len(self.units), dtype=np.bool_)
        movable[elected], needed[self.window.unit] = False, True
        order = self.policy.replacement.order(
            self.units, movable, needed, moment=self.situation.moment, count=excess
        )
        evicted = order[:excess]
        homeless = np.flatnonzero(missing)[::-1][: excess - len(evicted)]
        elected = np.delete(elected, homeless)
        if len(homeless):
            cached = candidates[self.units.held[candidates]]
            cached = np.setdiff1d(cached, np.concatenate([elected, evicted]))
            elected = np.append(elected, self.elect_from((cached,), len(homeless)))
        return Election(candidates, elected, evicted)
