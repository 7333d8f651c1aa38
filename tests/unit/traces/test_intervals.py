import pytest

from bestbefore.errors import InputError
from bestbefore.traces import read_intervals


def test_numbers_are_milliseconds_and_durations_are_read(file):
    text = "key,interval\n007,1500\nb,99.6\nc,5m\nd,PT1H\ne,250ms\n"
    assert read_intervals(file("i.csv", text)) == {
        "007": 1500,
        "b": 100,
        "c": 300_000,
        "d": 3_600_000,
        "e": 250,
    }


def test_the_same_interval_may_be_stated_twice(file):
    assert read_intervals(file("i.csv", "key,interval\na,1s\na,1000\n")) == {"a": 1000}


@pytest.mark.parametrize("bad", ["0", "-5", "0.2", "0s", "nan", "inf", "1e300"])
def test_an_interval_is_positive(file, bad):
    with pytest.raises(InputError, match=rf"i\.csv, line 3: interval = '{bad}'; it must be 1 ms"):
        read_intervals(file("i.csv", f"key,interval\na,1\nb,{bad}\n"))


@pytest.mark.parametrize("bad", ["often", "", "5 parsecs"])
def test_what_is_no_interval_is_named_with_its_line(file, bad):
    with pytest.raises(InputError, match=f"line 2: interval = '{bad}' is neither a number of"):
        read_intervals(file("i.csv", f"key,interval\na,{bad}\n"))


def test_two_intervals_of_one_key(file):
    with pytest.raises(InputError, match="line 3: key 'a' has the interval '2s' here and 1000 ms"):
        read_intervals(file("i.csv", "key,interval\na,1s\na,2s\n"))


def test_a_missing_column(file):
    with pytest.raises(InputError, match="the file of change intervals has no column 'interval'"):
        read_intervals(file("i.csv", "key,I\na,1\n"))
