import re

import pytest

from bestbefore.errors import InputError
from bestbefore.traces import read_background, read_links, read_stream


def refusal(read, path):
    with pytest.raises(InputError) as caught:
        read(path)
    return str(caught.value)


@pytest.mark.parametrize("bad", ["noon", "1.5", "", "1e3", "99999999999999999999", "+ 1"])
def test_a_bad_time_is_named_with_its_line(file, bad):
    path = file("s.csv", f"ts_ms,key\n1,a\n\n{bad},b\n3,c\n")
    message = refusal(read_stream, path)
    assert message.startswith(f"{path}, line 4: ts_ms = {bad!r} is ")


def test_lines_are_counted_past_line_breaks_in_quotes(file):
    text = 'ts_ms,key,event\n1,a,"two\nlines"\nx,b,e\n'
    assert ", line 4: ts_ms = 'x'" in refusal(read_stream, file("s.csv", text))


def test_a_negative_time(file):
    path = file("b.csv", "ts_ms,key,value\n0,a,1\n-3,a,2\n")
    assert refusal(read_background, path) == (
        f"{path}, line 3: ts_ms = -3 is negative; times count from 0 on"
    )


def test_an_empty_key(file):
    assert "line 3: 'key' is empty" in refusal(read_stream, file("s.csv", "ts_ms,key\n1,a\n2,\n"))
    assert "line 2: 'unit' is empty" in refusal(read_links, file("l.csv", "join_key,unit\na,\n"))


def test_a_line_with_too_few_or_too_many_values(file):
    message = refusal(read_background, file("b.csv", "ts_ms,key,value\n0,a,1\n1,a\n"))
    assert message.endswith("b.csv, line 3: 2 values for the 3 columns ts_ms, key, value")
    message = refusal(read_background, file("b.csv", "ts_ms,key,value\n0,a,1,2\n"))
    assert "line 2: 4 values" in message


def test_the_first_mistake_is_the_one_that_is_named(file):
    text = "ts_ms,key,value\n0,a,1\nx,a,2\n1,a\n"
    assert ", line 3: ts_ms = 'x'" in refusal(read_background, file("b.csv", text))


def test_a_missing_column_is_named_with_those_found(file):
    path = file("s.csv", "time,key\n1,a\n")
    assert refusal(read_stream, path) == (
        f"{path}: the stream trace has no column 'ts_ms' among its columns time, key: "
        "unknown column 'time'; known: ts_ms"
    )
    path = file("b.csv", "ts_ms,key,values\n1,a,2\n")
    assert refusal(read_background, path).endswith(
        "no column 'value' among its columns ts_ms, key, values: "
        "unknown column 'values'; did you mean 'value'?"
    )
    assert refusal(read_background, file("b.csv", "ts_ms,key\n1,a\n")).endswith(
        "no column 'value' among its columns ts_ms, key"
    )


@pytest.mark.parametrize(
    ("read", "text", "column"),
    [
        (read_background, "ts_ms,key,value,note\n1,a,2,x\n", "note"),
        (read_links, "join_key,unit,weight\na,u,1\n", "weight"),
    ],
)
def test_columns_that_would_be_ignored_are_refused(file, read, text, column):
    assert re.search(f"unknown column '{column}'; known: ", refusal(read, file("x.csv", text)))


def test_a_column_that_occurs_twice(file):
    message = refusal(read_stream, file("s.csv", "ts_ms,key,key\n1,a,b\n"))
    assert message.endswith("column 'key' occurs twice in the header")
