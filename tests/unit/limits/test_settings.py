from decimal import Decimal

import pytest

from bestbefore.errors import InputError
from bestbefore.limits import NO_LIMITS, Limits, parse_quiet, requests_for, units_for


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"per_minute": 0}, "per_minute = 0: it must be more than 0; leave it out for none"),
        ({"total": -3}, "total = -3"),
        ({"cost_per_request": Decimal(0)}, "cost_per_request = 0"),
        ({"cost_per_request": Decimal("NaN")}, "cost_per_request = NaN"),
        ({"cost_per_day": Decimal(3)}, "cost_per_day = 3 needs to know .* add cost_per_request"),
        ({"cost_total": Decimal(3)}, "cost_total = 3 needs to know"),
        (
            {"cost_total": Decimal(3), "cost_per_request": Decimal(4)},
            "cost_total = 3 pays for no request at cost_per_request = 4",
        ),
        ({"burst": 5, "total": 9}, "burst = 5 saves up .* add per_second, per_minute"),
    ],
)
def test_contradictions_are_refused_with_a_way_out(given, message):
    with pytest.raises(InputError, match=message):
        Limits(**given)


def test_what_lasts_needs_a_ledger():
    assert not NO_LIMITS.lasting
    assert not Limits(requests_per_evaluation=3, per_second=2, burst=4).lasting
    assert not Limits(cost_per_request=Decimal(1)).lasting
    assert Limits(per_month=3).lasting
    assert Limits(total=3).lasting
    assert Limits(quiet=(parse_quiet("08:00-09:00 UTC"),)).lasting


def test_burst_is_for_the_finest_rate():
    assert Limits(per_hour=9, per_day=99, burst=3).bursting == "per_hour"
    assert Limits(per_hour=9, per_day=99, burst=3).bucket.name == "per_hour"
    assert Limits(per_hour=9, per_day=99).bucket is None


def test_limits_are_shown_as_they_are_written():
    limits = Limits(per_day=9, quiet=(parse_quiet("8:00-18:00 UTC"),))
    assert limits.given() == {"per_day": "9", "quiet": "08:00-18:00 UTC"}


@pytest.mark.parametrize(
    ("units", "size", "requests"), [(0, 5, 0), (1, 5, 3), (5, 5, 3), (6, 5, 5)]
)
def test_requests_for_units_leave_room_to_confirm_and_to_retry(units, size, requests):
    assert requests_for(units, size) == requests
    assert units <= units_for(requests, size)
