"""No limit is exceeded at the service, whatever is asked, crashes, waits or sets the clock."""

from bisect import bisect_left
from decimal import Decimal
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from bestbefore.limits import Limits
from bestbefore.limits.settings import PERIODS_MS
from bestbefore.limits.usage import LANDING_MS
from tests.limited_service import Clocks, MemoryStorage, open_ledger

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000

few = st.integers(1, 12)
money = st.integers(3, 40).map(lambda cents: Decimal(cents) / 100)
alone = st.one_of(
    st.builds(lambda name, most: {name: most}, st.sampled_from(list(PERIODS_MS)), few),
    st.builds(lambda most: {"cost_per_day": most}, money),
)
together = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(PERIODS_MS, few),
        "total": st.integers(1, 300),
        "cost_per_day": money,
        "cost_total": money.map(lambda most: 10 * most),
    },
)


@st.composite
def limits_of(draw):
    """Limits one at a time, since others would hide what one of them lets through, or many."""
    given_ = draw(alone | together)
    burst = draw(st.none() | few) if any(name in given_ for name in PERIODS_MS) else None
    return Limits(burst=burst, cost_per_request=Decimal("0.03"), **given_)


class World:
    """A ledger's user that knows when its requests reach the service."""

    def __init__(self, limits):
        self.limits, self.clocks, self.storage = limits, Clocks(), MemoryStorage()
        self.arrivals, self.open, self.counted = [], [], 0
        self.set_at_write, self.retry_at_ms = 0, None
        self.ledger = open_ledger(self.storage, limits, self.clocks)

    def wait(self, ms):
        self.clocks.now_ms += ms

    def reserve(self, wanted):
        reservation = self.ledger.reserve(wanted)
        grant = reservation.grant
        assert 0 <= grant.requests <= wanted
        assert (grant.bound_by is None) == (grant.requests == wanted)
        self.retry_at_ms = grant.retry_at_ms
        if grant.requests:
            self.open.append((reservation, self.clocks.now_ms))
            self.set_at_write = self.clocks.set_ms

    def settle(self, number, sent, when):
        reservation, since = self.open.pop(number)
        count = round(sent * reservation.grant.requests)
        self._arrive(count, since, when)
        self.ledger.settle(reservation, count)
        self.set_at_write = self.clocks.set_ms

    def crash(self, back_ms, when):
        """What was open may have been sent; a wall clock that was set ahead would be believed."""
        for reservation, since in self.open:
            self._arrive(reservation.grant.requests, since, when)
        self.open.clear()
        self.clocks.set_ms = min(self.clocks.set_ms, self.set_at_write) - back_ms
        self.ledger = open_ledger(self.storage, self.limits, self.clocks)
        self.retry_at_ms = None

    def _arrive(self, count, since, when):
        until = self.clocks.now_ms + LANDING_MS
        self.counted += count
        self.arrivals += [since + round((until - since) * when()) for _ in range(count)]


def drive(world, rng, steps):
    """Ask, wait, crash and set clocks at random, and mostly where it could hurt."""
    for _ in range(steps):
        match rng.choices(["ask", "settle", "wait", "set", "crash"], [8, 7, 6, 1, 1])[0]:
            case "ask":
                world.reserve(rng.choice([1, 2, 20]))
            case "settle" if world.open:
                sent = rng.choice([0.5, 1, 1, 1])
                world.settle(rng.randrange(len(world.open)), sent, extremes(rng))
            case "wait":
                world.wait(some_time(world, rng))
            case "set":
                world.clocks.set_ms += rng.randint(-40 * DAY, 40 * DAY)
            case "crash":
                world.crash(rng.choice([0, 0, rng.randint(0, DAY)]), extremes(rng))


def some_time(world, rng):
    """Until the ledger grants more, a millisecond less than that, or any time."""
    now_ms = world.clocks.now_ms
    if world.retry_at_ms is not None and rng.random() < 0.7:
        # What the ledger says is in its own time, which may differ from the true one.
        until = world.retry_at_ms - world.ledger._clock() + now_ms
        return max(0, until - now_ms - rng.choice([0, 0, 1]))
    return rng.choice([rng.randint(0, 3_000), rng.randint(0, 2 * MINUTE), HOUR // 60, HOUR // 2])


def extremes(rng):
    return lambda: rng.choice([0, 1, 1, rng.random()])


def check_arrivals(limits, arrivals):
    """Brute force over all periods that end with an arrival."""
    times = sorted(arrivals)
    for rate in limits.rates:
        if rate != limits.bucket:
            assert most_within(times, rate.period_ms) <= rate.requests, rate
    if limits.cost_per_day is not None:
        assert most_within(times, DAY) * limits.price <= limits.cost_per_day
    if limits.cost_total is not None:
        assert len(times) * limits.price <= limits.cost_total
    if limits.total is not None:
        assert len(times) <= limits.total
    if (rate := limits.bucket) is not None:
        for first, begin in enumerate(times):
            for last, end in enumerate(times[first:], first):
                count = last - first + 1
                grown = rate.requests * (end - begin)
                assert count * rate.period_ms <= limits.burst * rate.period_ms + grown


def most_within(times, period_ms):
    counts = (n + 1 - bisect_left(times, end - period_ms) for n, end in enumerate(times))
    return max(counts, default=0)


@settings(max_examples=250, deadline=None, derandomize=True)
@given(limits_of(), st.integers(0, 2**32))
def test_no_limit_is_exceeded_at_the_service_and_none_is_lost(limits, seed):
    world = World(limits)
    drive(world, Random(seed), 120)
    world.crash(0, lambda: 1)
    check_arrivals(limits, world.arrivals)
    # Totals are exact: what was sent, and what may have been.
    left = world.ledger.left()
    if limits.total is not None:
        assert left["total"] == limits.total - world.counted
    if limits.cost_total is not None:
        assert left["cost_total"] == (limits.cost_total - world.counted * limits.price) // (
            limits.price
        )
    # After a period of silence all of it is there again.
    for rate in limits.rates:
        open_for = rate.period_ms if rate != limits.bucket else full_after(limits, world)
        world.wait(open_for + LANDING_MS + 1)
        full = limits.burst if rate == limits.bucket else rate.requests
        assert world.ledger.left()[rate.name] == full


def full_after(limits, world):
    """How long a token bucket takes to be full, if it lacked all that was ever asked."""
    rate = limits.bucket
    return (limits.burst + world.counted) * rate.period_ms // rate.requests + 1


@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.lists(st.integers(0, 20 * MINUTE), min_size=400, max_size=400), st.integers(0, 3))
def test_the_file_does_not_grow_with_what_is_asked(waits, back):
    clocks, storage, limits = Clocks(), MemoryStorage(), Limits(per_month=10**6)
    ledger, sizes = open_ledger(storage, limits, clocks), []
    for number, wait in enumerate(waits):
        clocks.now_ms += wait
        ledger.settle(ledger.reserve(1_000), 1_000)
        if number % 5 == back:
            clocks.set_ms -= 10_000
            ledger = open_ledger(storage, limits, clocks)
        sizes.append(len(storage.read("limits/service.json")))
    # Four periods and what is landing, each of at most 130 buckets of some 25 bytes.
    assert max(sizes) < 5 * 130 * 27
