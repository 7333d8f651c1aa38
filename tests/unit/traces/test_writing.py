import numpy as np
import pytest

from bestbefore.errors import InputError, WorkError
from bestbefore.traces import (
    BackgroundTrace,
    Links,
    StreamTrace,
    Traces,
    read_traces,
    write_traces,
)


def texts(*values):
    return np.array(values, dtype=np.object_)


def traces(event=None, **more):
    stream = StreamTrace(np.array([1, 2]), texts("a", "007"), event)
    background = BackgroundTrace(
        np.array([0, 0, 3]), texts("a", "007", "a"), texts("1", 'x,"y"', "")
    )
    return Traces(stream, background, **more)


def test_the_folder_is_made_and_holds_what_there_is(tmp_path):
    paths = write_traces(traces(), tmp_path / "new" / "folder")
    assert [path.name for path in paths] == ["stream.csv", "background.csv"]
    assert paths[0].read_text() == "ts_ms,key\n1,a\n2,007\n"
    assert paths[1].read_text() == 'ts_ms,key,value\n0,a,1\n0,007,"x,""y"""\n3,a,\n'


@pytest.mark.parametrize(
    ("event", "header"),
    [
        (("e1", "two\nlines"), "event"),
        (("en\x1fhi", "de\x1f"), "event_1,event_2"),
        (("en\x1fhi", "alone"), "event"),
    ],
)
def test_what_is_written_is_read_back(tmp_path, event, header):
    links = Links(texts("a", "007"), texts("u1", "ü"))
    before = traces(texts(*event), links=links, interval_ms={"a": 5, "007": 70})
    stream, background, link, intervals = write_traces(before, tmp_path)
    after = read_traces(stream, background, links=link, intervals=intervals)
    assert stream.read_text().startswith(f"ts_ms,key,{header}\n")
    assert after.interval_ms == {"a": 5, "007": 70}
    for part, columns in {
        "stream": ("ts_ms", "key", "event"),
        "background": ("ts_ms", "key", "value"),
        "links": ("join_key", "unit"),
    }.items():
        for column in columns:
            was, now = (getattr(getattr(each, part), column) for each in (before, after))
            assert was.tolist() == now.tolist()


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(WorkError, match="cannot be written to .*file.*: "):
        write_traces(traces(), tmp_path / "file" / "folder")


def test_columns_of_different_lengths_are_no_trace():
    with pytest.raises(InputError, match="ts_ms has 2, key has 1"):
        StreamTrace(np.array([1, 2]), texts("a"))
