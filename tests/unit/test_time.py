import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore.errors import InputError
from bestbefore.time import format_duration, format_instant, parse_duration_ms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PT10M", 600_000),
        ("PT1M30S", 90_000),
        ("P1DT2H", 93_600_000),
        ("PT0.5S", 500),
        ("100s", 100_000),
        ("10m", 600_000),
        ("250ms", 250),
        ("1.5 h", 5_400_000),
        ("2d", 172_800_000),
    ],
)
def test_reads_the_usual_spellings(text, expected):
    assert parse_duration_ms(text) == expected


@pytest.mark.parametrize("text", ["", "10", "PT", "P", "P1DT", "-5s", "5 minutes", "PT5", "M5"])
def test_refuses_the_rest_and_says_what_to_write(text):
    with pytest.raises(InputError, match="is not a duration; write"):
        parse_duration_ms(text)


@given(st.integers(0, 10**12))
def test_printing_and_reading_are_inverse(milliseconds):
    assert parse_duration_ms(format_duration(milliseconds)) == milliseconds


def test_instants_are_utc():
    assert format_instant(1_700_000_000_000) == "2023-11-14T22:13:20Z"
    assert format_instant(1_700_000_000_250) == "2023-11-14T22:13:20.250Z"
