from datetime import UTC, datetime, timedelta

import pytest

from bestbefore.errors import InputError
from bestbefore.limits import parse_quiet
from bestbefore.limits.quiet import quiet_until_ms

SPANS = [
    "08:00-18:00 Europe/Rome",
    "22:00-06:00 UTC",
    "22:00-02:30 Europe/Rome",
    "02:10-03:20 Europe/Rome",
    "18:00-24:00 America/New_York",
    "23:15-23:45 Australia/Lord_Howe",
    "24:00-5:05 Asia/Kathmandu",
]
# The clocks of Rome go forward on 29 March and back on 25 October.
DAYS = [(2026, 3, 28), (2026, 7, 1), (2026, 10, 24), (2026, 4, 4)]


def ms(moment):
    return round(moment.timestamp() * 1000)


@pytest.mark.parametrize("text", SPANS)
@pytest.mark.parametrize("day", DAYS)
def test_a_span_ends_at_the_first_minute_that_is_not_in_it(text, day):
    span, begin = parse_quiet(text), datetime(*day, tzinfo=UTC)
    minutes = [ms(begin + timedelta(minutes=minute)) for minute in range(3 * 24 * 60)]
    quiet = [span.holds(minute) for minute in minutes]
    assert True in quiet
    assert False in quiet
    for number in range(0, 2 * 24 * 60, 11):
        first = next(n for n in range(number, len(minutes)) if not quiet[n])
        inside = minutes[number] + (17 if quiet[number] else 0)
        assert quiet_until_ms([span], inside) == minutes[first]


def test_local_hours_follow_the_clocks_of_summer_and_winter():
    span = parse_quiet("08:00-18:00 Europe/Rome")
    assert span.holds(ms(datetime(2026, 7, 1, 6, 30, tzinfo=UTC)))
    assert not span.holds(ms(datetime(2026, 1, 1, 6, 30, tzinfo=UTC)))


def test_spans_that_follow_each_other_are_one_and_may_have_no_end():
    noon = ms(datetime(2026, 7, 1, 12, tzinfo=UTC))
    two = [parse_quiet("11:00-13:00 UTC"), parse_quiet("13:00-15:00 UTC")]
    assert quiet_until_ms(two, noon) == noon + 3 * 3_600_000
    ever = [parse_quiet("00:00-12:00 UTC"), parse_quiet("12:00-24:00 UTC")]
    assert quiet_until_ms(ever, noon) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("8-18 UTC", "'8-18 UTC' is no span of hours with a time zone; write it as 22:00"),
        ("08:00-18:00", "with a time zone"),
        ("08:00-18:61 UTC", "no clock shows 18:61"),
        ("08:00-25:00 UTC", "no clock shows 25:00"),
        ("08:00-08:00 UTC", "the whole day or nothing of it"),
        ("00:00-24:00 UTC", "the whole day or nothing of it"),
        ("08:00-18:00 Europe/Roma", "'Europe/Roma' is no time zone known here; write UTC or"),
        ("08:00-18:00 ../etc/passwd", "no time zone"),
        ("08:00-18:00 Europe", "no time zone"),
    ],
)
def test_a_mistake_names_the_value_and_the_way_out(text, message):
    with pytest.raises(InputError) as raised:
        parse_quiet(text)
    assert message in str(raised.value)


@pytest.mark.parametrize("text", SPANS)
def test_a_span_is_printed_as_it_is_read(text):
    assert parse_quiet(str(parse_quiet(text))) == parse_quiet(text)
