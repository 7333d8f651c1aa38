from datetime import UTC, datetime
from decimal import Decimal
from threading import Thread

import pytest

from bestbefore.errors import DamagedState, InputError, StateError
from bestbefore.limits import Grant, Ledgers, Limits, parse_quiet
from bestbefore.limits.usage import LANDING_MS
from tests.limited_service import Clocks, MemoryStorage, open_ledger

FILE = "limits/service.json"
MINUTE, DAY = 60_000, 86_400_000


@pytest.fixture
def clocks():
    return Clocks()


@pytest.fixture
def storage():
    return MemoryStorage()


def spend(ledger, requests):
    """Ask for so many, send all that is granted, and tell how many these were."""
    reservation = ledger.reserve(requests)
    ledger.settle(reservation, reservation.grant.requests)
    return reservation.grant.requests


def test_a_minute_slides(storage, clocks):
    ledger = open_ledger(storage, Limits(per_minute=10), clocks)
    assert spend(ledger, 6) == 6
    clocks.now_ms += 30_000
    begun = clocks.now_ms
    assert ledger.reserve(6).grant == Grant(4, "per_minute", begun + 30_000 + LANDING_MS + 1)
    clocks.now_ms = begun + 30_000 + LANDING_MS
    assert spend(ledger, 6) == 0
    clocks.now_ms += 1
    assert spend(ledger, 6) == 6


def test_a_steady_pace_within_the_limit_is_never_held_up(storage, clocks):
    ledger = open_ledger(storage, Limits(per_hour=62), clocks)
    for _ in range(200):
        assert spend(ledger, 1) == 1
        clocks.now_ms += MINUTE


def test_what_is_not_sent_is_given_back(storage, clocks):
    ledger = open_ledger(storage, Limits(per_minute=10, total=12), clocks)
    reservation = ledger.reserve(10)
    assert ledger.left() == {"total": 2, "per_minute": 0}
    ledger.settle(reservation, 3)
    assert ledger.left() == {"total": 9, "per_minute": 7}


def test_requests_that_take_long_count_from_their_end(storage, clocks):
    ledger = open_ledger(storage, Limits(per_minute=10), clocks)
    reservation = ledger.reserve(10)
    clocks.now_ms += 10 * MINUTE
    assert ledger.reserve(1).grant == Grant(0, "per_minute", None)
    ledger.settle(reservation, 10)
    clocks.now_ms += MINUTE
    assert spend(ledger, 1) == 0
    clocks.now_ms += LANDING_MS + 1
    assert spend(ledger, 11) == 10


def test_nothing_is_granted_that_cannot_be_written_down(clocks):
    class Full(MemoryStorage):
        def write(self, name, content):
            raise OSError("disk full")

    ledger = open_ledger(Full(), Limits(total=5), clocks)
    with pytest.raises(OSError, match="disk full"):
        ledger.reserve(3)
    assert ledger.left() == {"total": 5}


def test_a_crash_counts_what_was_open_as_sent_when_it_is_opened_again(storage, clocks):
    open_ledger(storage, Limits(per_minute=10, total=100), clocks).reserve(10)
    clocks.now_ms += 5 * MINUTE
    ledger = open_ledger(storage, Limits(per_minute=10, total=100), clocks)
    assert ledger.left() == {"total": 90, "per_minute": 0}
    clocks.now_ms += MINUTE + LANDING_MS + 1
    assert ledger.left() == {"total": 90, "per_minute": 10}


def test_a_clock_that_is_set_while_the_process_runs_changes_nothing(storage, clocks):
    ledger = open_ledger(storage, Limits(per_minute=10), clocks)
    assert spend(ledger, 10) == 10
    for hours in (1, -1, 24, -24):
        clocks.set_ms = hours * 3_600_000
        assert spend(ledger, 10) == 0
    clocks.now_ms += MINUTE + LANDING_MS + 1
    assert spend(ledger, 10) == 10


@pytest.mark.parametrize("ahead_ms", [3_600_000, 3_650 * DAY])
def test_a_clock_set_back_between_runs_frees_nothing_and_blocks_for_a_period_at_most(
    storage, clocks, ahead_ms
):
    clocks.set_ms = ahead_ms
    assert spend(open_ledger(storage, Limits(per_minute=10), clocks), 10) == 10
    clocks.set_ms = 0
    assert open_ledger(storage, Limits(per_minute=10), clocks).left() == {"per_minute": 0}
    assert spend(open_ledger(storage, Limits(per_hour=11), clocks), 11) == 1
    clocks.now_ms += MINUTE + LANDING_MS + 1
    # A new process every time: none of them sees much time pass.
    assert open_ledger(storage, Limits(per_minute=10), clocks).left() == {"per_minute": 10}


def test_a_clock_that_was_put_right_while_a_process_ran_frees_nothing_in_the_next(storage, clocks):
    clocks.set_ms = -DAY
    ledger = open_ledger(storage, Limits(per_minute=10), clocks)
    clocks.set_ms = 0
    assert spend(ledger, 10) == 10
    clocks.now_ms += 5_000
    assert open_ledger(storage, Limits(per_minute=10), clocks).left() == {"per_minute": 0}


def test_limits_may_change_between_runs_and_what_was_asked_still_counts(storage, clocks):
    assert spend(open_ledger(storage, Limits(per_minute=10), clocks), 10) == 10
    clocks.now_ms += 10 * MINUTE
    changed = open_ledger(storage, Limits(per_hour=15, per_month=12, total=30), clocks)
    assert changed.left() == {"total": 20, "per_hour": 5, "per_month": 2}


def test_money_is_exact_and_kept_by_its_price(storage, clocks):
    priced = Limits(cost_per_request=Decimal("0.1"), cost_total=Decimal("1"))
    assert spend(open_ledger(storage, priced, clocks), 3) == 3
    dearer = Limits(
        cost_per_request=Decimal("0.25"), cost_total=Decimal("1"), cost_per_day=Decimal("0.8")
    )
    ledger = open_ledger(storage, dearer, clocks)
    assert ledger.left() == {"cost_total": 2, "cost_per_day": 2}
    assert ledger.reserve(3).grant.bound_by == "cost_total"


def test_a_total_never_comes_back(storage, clocks):
    assert spend(open_ledger(storage, Limits(total=3), clocks), 5) == 3
    clocks.now_ms += 365 * DAY
    assert open_ledger(storage, Limits(total=3), clocks).reserve(1).grant == Grant(0, "total", None)


def test_a_burst_saves_what_is_unused_and_no_more(storage, clocks):
    ledger = open_ledger(storage, Limits(per_minute=60, burst=5), clocks)
    clocks.now_ms += DAY
    assert spend(ledger, 100) == 5
    assert spend(ledger, 100) == 0
    clocks.now_ms += LANDING_MS + 2_500
    assert ledger.reserve(3).grant == Grant(2, "per_minute", clocks.now_ms + 500)


def test_a_burst_may_be_larger_than_its_rate(storage, clocks):
    ledger = open_ledger(storage, Limits(per_minute=6, burst=30), clocks)
    assert spend(ledger, 100) == 30
    clocks.now_ms += LANDING_MS + MINUTE
    assert open_ledger(storage, Limits(per_minute=6, burst=30), clocks).left() == {"per_minute": 6}
    # A new rate knows what was asked within its period.
    assert open_ledger(storage, Limits(per_hour=6, burst=32), clocks).left() == {"per_hour": 2}


def test_per_second_is_the_client_s_and_burst_goes_with_it(storage, clocks):
    ledger = open_ledger(storage, Limits(per_second=2, per_minute=60, burst=5), clocks)
    assert spend(ledger, 100) == 60
    assert Limits(per_second=2, per_minute=60, burst=5).bursting == "per_second"


def test_quiet_hours_grant_nothing_and_say_until_when(storage, clocks):
    ledger = open_ledger(storage, Limits(quiet=(parse_quiet("08:00-18:00 Europe/Rome"),)), clocks)
    clocks.now_ms = at(2026, 7, 1, 15, 59)
    assert ledger.reserve(3).grant == Grant(0, "quiet", at(2026, 7, 1, 16))
    clocks.now_ms = at(2026, 7, 1, 16)
    assert ledger.reserve(3).grant == Grant(3)


def test_of_limits_that_leave_as_little_the_one_that_lasts_longest_is_named(storage, clocks):
    ledger = open_ledger(storage, Limits(per_minute=3, per_day=3), clocks)
    assert spend(ledger, 3) == 3
    assert ledger.reserve(1).grant.bound_by == "per_day"


def test_threads_share_what_there_is(storage, clocks):
    ledger, granted = open_ledger(storage, Limits(per_hour=50), clocks), []
    threads = [Thread(target=lambda: granted.append(spend(ledger, 9))) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(granted) == 50


def test_a_reservation_is_settled_once(storage, clocks):
    ledger = open_ledger(storage, Limits(total=5), clocks)
    reservation = ledger.reserve(2)
    ledger.settle(reservation, 1)
    with pytest.raises(ValueError, match="settled before"):
        ledger.settle(reservation, 1)


def broken_files():
    storage, clocks = MemoryStorage(), Clocks()
    open_ledger(storage, Limits(per_minute=10, burst=4), clocks).reserve(3)
    good = storage.read(FILE)
    yield from (good[:length] for length in range(0, len(good), 7))
    yield good.replace(b'"total": [0', b'"total": [1')
    yield from (b"null", b"[]", b"{}", b'{"format":2,"check":""}', b"\xff\xfe", b'"x"')


@pytest.mark.parametrize("content", list(broken_files()))
def test_a_damaged_file_is_never_taken_for_an_empty_one(content, storage, clocks):
    storage.files[FILE] = content
    with pytest.raises(DamagedState, match=r"ledger memory/limits/service.json is (empty|damaged)"):
        open_ledger(storage, Limits(total=5), clocks)


def test_a_newer_format_is_refused(storage, clocks):
    storage.files[FILE] = b'{"format":99,"check":""}'
    with pytest.raises(StateError, match="has format 99.*upgrade"):
        open_ledger(storage, Limits(total=5), clocks)


def test_another_process_is_noticed(storage, clocks):
    first, second = (open_ledger(storage, Limits(total=5), clocks) for _ in range(2))
    first.reserve(1)
    with pytest.raises(StateError, match="changed by someone else"):
        second.reserve(1)


def test_a_service_has_one_ledger_while_it_is_open(storage):
    ledgers, limits = Ledgers(), Limits(total=5)
    first = ledgers.open(storage, "http://e/sparql", limits)
    assert ledgers.open(storage, "http://e/sparql", limits) is first
    assert ledgers.open(storage, "http://e/other", limits) is not first
    with pytest.raises(InputError, match="under other limits"):
        ledgers.open(storage, "http://e/sparql", Limits(total=6))
    elsewhere = MemoryStorage()
    elsewhere.root = "elsewhere"
    with pytest.raises(InputError, match="the same limits.ledger instead of elsewhere"):
        ledgers.open(elsewhere, "http://e/sparql", limits)
    ledgers.close("http://e/sparql")
    assert ledgers.open(storage, "http://e/sparql", limits) is first
    ledgers.close("http://e/sparql")
    ledgers.close("http://e/sparql")
    assert ledgers.open(storage, "http://e/sparql", limits) is not first


def at(*parts):
    return round(datetime(*parts, tzinfo=UTC).timestamp() * 1000)


def test_what_has_not_changed_may_cost_less(storage, clocks):
    limits = Limits(cost_per_request=Decimal("0.5"), cost_total=10, not_modified_cost=Decimal(0))
    ledger = open_ledger(storage, limits, clocks, FILE)
    ledger.settle(ledger.reserve(10), 10, not_modified=4)
    assert ledger.left() == {"cost_total": 14}
    for money in ({"not_modified_cost": Decimal(2)}, {"not_modified_cost": Decimal(-1)}):
        with pytest.raises(InputError, match="must be between 0 and cost_per_request = 1"):
            Limits(cost_per_request=Decimal(1), **money)
