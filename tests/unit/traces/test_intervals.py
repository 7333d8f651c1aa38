import pytest

from bestbefore.errors import InputError
from bestbefore.traces import read_intervals, read_key_intervals


def refusal(path, *arguments, **more):
    with pytest.raises(InputError) as caught:
        read_key_intervals(path, *arguments, **more)
    return str(caught.value)


@pytest.mark.parametrize(("column", "unit_ms"), [("interval_ms", 1), ("interval_s", 1_000)])
def test_the_header_says_what_numbers_are_and_durations_are_read(file, column, unit_ms):
    text = f"key,{column}\n007,1500\nb,99.6\nc,5m\nd,PT1H\ne,250ms\n"
    assert read_intervals(file("i.csv", text)) == {
        "007": 1_500 * unit_ms,
        "b": round(99.6 * unit_ms),
        "c": 300_000,
        "d": 3_600_000,
        "e": 250,
    }


def test_a_number_without_a_unit_is_refused_with_the_ways_out(file):
    path = file("i.csv", "key,interval\na,5m\nb,90\n")
    assert refusal(path) == (
        f"{path}, line 3: interval = '90' has no unit; write 90s or 90ms, or name the column "
        "interval_s or interval_ms"
    )
    assert read_intervals(file("i.csv", "key,interval\na,5m\n")) == {"a": 300_000}


def test_who_reads_may_know_the_unit_but_not_better_than_the_header(file):
    plain = read_key_intervals(file("i.csv", "key,interval\na,90\n"), plain_ms=60_000)
    assert plain == {("a",): 5_400_000}
    stated = read_key_intervals(file("i.csv", "key,interval_ms\na,90\n"), plain_ms=60_000)
    assert stated == {("a",): 90}


def test_a_key_has_the_column_key_or_one_per_variable(file):
    for header in ("key", "user"):
        path = file("i.csv", f"{header},interval_s\na,1\n")
        assert read_key_intervals(path, ["user"]) == {("a",): 1_000}
    path = file("i.csv", "item,interval,note,user\nx,1s,?,a\nx,2s,?,b\n")
    assert read_key_intervals(path, ["user", "item"]) == {("a", "x"): 1_000, ("b", "x"): 2_000}


def test_the_same_interval_may_be_stated_twice(file):
    assert read_intervals(file("i.csv", "key,interval_ms\na,1s\na,1000\n")) == {"a": 1_000}


@pytest.mark.parametrize("bad", ["0", "-5", "0.2", "0s", "nan", "inf", "1e300"])
def test_an_interval_is_positive(file, bad):
    path = file("i.csv", f"key,interval_ms\na,1\nb,{bad}\n")
    assert refusal(path) == (
        f"{path}, line 3: interval_ms = {bad!r} is no interval between two changes; it must be "
        "1 ms or more"
    )


@pytest.mark.parametrize("bad", ["often", "", "5 parsecs"])
@pytest.mark.parametrize("column", ["interval", "interval_s"])
def test_what_is_no_interval_is_named_with_its_line(file, bad, column):
    path = file("i.csv", f"key,{column}\na,{bad}\n")
    assert refusal(path).startswith(f"{path}, line 2: {column} = {bad!r} is not a duration; write")


def test_two_intervals_of_one_key(file):
    with pytest.raises(InputError, match="line 3: key 'a' has the interval 2000 ms here and 1000"):
        read_intervals(file("i.csv", "key,interval\na,1s\na,2s\n"))


def test_columns_that_are_missing_or_too_many(file):
    assert refusal(file("i.csv", "key,I\na,1\n")).endswith(
        "the file of change intervals has no column 'interval_ms' or 'interval_s' or 'interval' "
        "among its columns key, I: unknown column 'I'; known: interval, interval_ms, interval_s"
    )
    missing = refusal(file("i.csv", "name,interval\na,1s\n"), ["user"])
    assert "has no column 'key' or 'user' among its columns name, interval" in missing
    missing = refusal(file("i.csv", "key,interval\na,1s\n"), ["user", "item"])
    assert "has no column 'user' among its columns key, interval" in missing
    both = refusal(file("i.csv", "key,interval_s,interval\na,1,1s\n"))
    assert both.endswith("the columns interval_s and interval exclude each other; keep one of them")


def test_a_file_that_is_not_utf_8(file):
    path = file("i.csv", "key,interval\nJürgen,1s\n".encode("latin-1"))
    assert refusal(path) == f"{path}, line 2: byte 0xfc is not UTF-8; save the file as UTF-8"


def test_a_file_that_is_missing_or_empty(file, tmp_path):
    missing = tmp_path / "nope.csv"
    assert refusal(missing) == f"no such file: {missing} (the file of change intervals)"
    assert "has no rows; it needs the header key,interval_ms" in refusal(file("i.csv", "\n"))
