"""Trace files that grow row by row, and are put in order in the end."""

import pytest

from bestbefore.errors import WorkError
from bestbefore.traces import add_rows, begin_traces, order_traces, read_traces

HOSTILE = [
    "a,b",
    'the "best"',
    "two\nlines",
    "carriage\rreturn",
    "both\r\n",
    " ",
    "ü\x1f\u2028",
    "#",
]


def test_hostile_texts_survive(tmp_path):
    begin_traces(tmp_path, events=True, links=True)
    for place, text in enumerate(HOSTILE):
        add_rows(tmp_path / "stream.csv", [(place, text, text)])
        add_rows(tmp_path / "background.csv", [(place, text, text)])
        add_rows(tmp_path / "links.csv", [(text, text)])
    for found in (
        order_traces(tmp_path, links=True),
        read_traces(*(tmp_path / f"{name}.csv" for name in ("stream", "background")),
                    links=tmp_path / "links.csv"),
    ):  # fmt: skip
        assert found.stream.key.tolist() == found.stream.event.tolist() == HOSTILE
        assert found.background.key.tolist() == found.background.value.tolist() == HOSTILE
        assert found.links.join_key.tolist() == found.links.unit.tolist() == HOSTILE


def test_rows_are_put_in_order_and_nothing_is_left_beside_them(tmp_path):
    begin_traces(tmp_path, events=False, links=False)
    add_rows(tmp_path / "stream.csv", [(5, "a"), (7, "b")])
    add_rows(tmp_path / "background.csv", [(1, "a", "x"), (5, "a", "y")])
    add_rows(tmp_path / "background.csv", [(1, "b", "")])
    order_traces(tmp_path, links=False)
    assert (tmp_path / "stream.csv").read_text() == "ts_ms,key\n5,a\n7,b\n"
    assert (tmp_path / "background.csv").read_text() == "ts_ms,key,value\n1,a,x\n1,b,\n5,a,y\n"
    assert {path.name for path in tmp_path.iterdir()} == {"stream.csv", "background.csv"}


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "stream.csv").mkdir()
    with pytest.raises(WorkError, match=r"cannot be written to .*stream\.csv: Is a directory"):
        add_rows(tmp_path / "stream.csv", [(1, "a")])
