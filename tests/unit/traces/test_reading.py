import pytest

from bestbefore.errors import InputError
from bestbefore.traces import read_background, read_links, read_stream, read_traces

STREAM = "ts_ms,key\n5,a\n10,007\n"
BACKGROUND = "ts_ms,key,value\n0,a,1\n0,007,2\n7,a,\n"
LINKS = "join_key,unit\na,u1\na,u2\n007,u1\n"


def rows(*columns):
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_a_stream_and_a_background_are_read_as_they_are(file, notices):
    traces = read_traces(
        file("s.csv", STREAM),
        file("b.csv", BACKGROUND),
        links=file("l.csv", LINKS),
        notice=notices.append,
    )
    stream, background, links = traces.stream, traces.background, traces.links
    assert rows(stream.ts_ms, stream.key) == [(5, "a"), (10, "007")]
    assert stream.event is None
    assert rows(background.ts_ms, background.key, background.value) == [
        (0, "a", "1"),
        (0, "007", "2"),
        (7, "a", ""),
    ]
    assert rows(links.join_key, links.unit) == [("a", "u1"), ("a", "u2"), ("007", "u1")]
    assert traces.interval_ms is None
    assert notices == []


def test_intervals_can_come_with_the_traces(file):
    intervals = file("i.csv", "key,interval\na,5m\n")
    traces = read_traces(file("s.csv", STREAM), file("b.csv", BACKGROUND), intervals=intervals)
    assert traces.interval_ms == {"a": 300_000}


def test_keys_and_values_stay_text(file):
    background = read_background(file("b.csv", "ts_ms,key,value\n1,007,1.50\n2,NA,null\n3,1e3,\n"))
    assert background.key.tolist() == ["007", "NA", "1e3"]
    assert background.value.tolist() == ["1.50", "null", ""]
    assert all(type(each) is str for each in (*background.key, *background.value))


def test_columns_may_stand_in_any_order(file):
    background = read_background(file("b.csv", "value,ts_ms,key\nx,1,a\n"))
    assert rows(background.ts_ms, background.key, background.value) == [(1, "a", "x")]


def test_further_columns_of_the_stream_become_the_event(file):
    one = read_stream(file("one.csv", "ts_ms,key,event\n1,a,e1\n"))
    two = read_stream(file("two.csv", "lang,ts_ms,key,text\nen,1,a,hi\nde,2,b,\n"))
    assert one.event.tolist() == ["e1"]
    assert two.event.tolist() == ["en\x1fhi", "de\x1f"]


def test_spreadsheet_files_are_read(file):
    text = '\ufeffts_ms,key,event\r\n\r\n1,"a,b","two\r\nlines"\r\n2,ä,"say ""hi"""\r\n'
    stream = read_stream(file("s.csv", text))
    assert stream.key.tolist() == ["a,b", "ä"]
    assert stream.event.tolist() == ["two\r\nlines", 'say "hi"']


def test_unordered_rows_are_sorted_stably_and_noticed_once(file, notices):
    text = "ts_ms,key,event\n5,a,1\n3,b,2\n9,c,3\n3,d,4\n4,e,5\n"
    stream = read_stream(path := file("s.csv", text), notice=notices.append)
    assert rows(stream.ts_ms, stream.key, stream.event) == [
        (3, "b", "2"),
        (3, "d", "4"),
        (4, "e", "5"),
        (5, "a", "1"),
        (9, "c", "3"),
    ]
    assert notices == [f"{path}: 3 rows out of order were sorted"]


def test_a_single_row_out_of_order(file, notices):
    read_stream(file("s.csv", "ts_ms,key\n2,a\n1,b\n"), notice=notices.append)
    assert notices[0].endswith("1 row out of order was sorted")


def test_of_two_values_at_one_time_the_later_line_wins(file, notices):
    text = "ts_ms,key,value\n5,a,late\n0,a,first\n0,b,other\n0,a,second\n5,b,x\n0,a,third\n"
    background = read_background(path := file("b.csv", text), notice=notices.append)
    assert rows(background.ts_ms, background.key, background.value) == [
        (0, "b", "other"),
        (0, "a", "third"),
        (5, "a", "late"),
        (5, "b", "x"),
    ]
    assert notices[-1] == (
        f"{path}: 2 rows were dropped, because a later line has the same key and time"
    )


def test_duplicate_links_collapse(file, notices):
    links = read_links(path := file("l.csv", LINKS + "a,u2\n"), notice=notices.append)
    assert rows(links.join_key, links.unit) == [("a", "u1"), ("a", "u2"), ("007", "u1")]
    assert notices == [f"{path}: 1 row was dropped, because an earlier line has the same link"]


@pytest.mark.parametrize(
    ("read", "what"),
    [
        (read_stream, "the stream trace"),
        (read_background, "the background trace"),
        (read_links, "the file of links"),
    ],
)
class TestEveryKindOfFile:
    def test_missing(self, tmp_path, read, what):
        with pytest.raises(InputError, match=rf"no such file: .*nope\.csv \({what}\)"):
            read(tmp_path / "nope.csv")

    def test_a_folder(self, tmp_path, read, what):
        with pytest.raises(InputError, match=f"{what}.* cannot be read: Is a directory"):
            read(tmp_path)

    @pytest.mark.parametrize("content", ["", " \n\n", "\ufeff"])
    def test_empty(self, file, read, what, content):
        with pytest.raises(InputError, match=f"{what} .*x.csv has no rows"):
            read(file("x.csv", content))

    def test_header_only(self, file, read, what):
        header = {read_stream: STREAM, read_background: BACKGROUND, read_links: LINKS}[read]
        with pytest.raises(InputError, match=f"{what} .*x.csv has no rows; it needs the header"):
            read(file("x.csv", header.split("\n")[0] + "\n"))

    def test_not_utf_8(self, file, read, what):
        text = {read_stream: STREAM, read_background: BACKGROUND, read_links: LINKS}[read]
        header, rest = text.encode().split(b"\n", 1)
        latin = header + b"\n" + rest.replace(b"007", b"J\xfcrgen")
        with pytest.raises(InputError, match=r"line \d: byte 0xfc is not UTF-8; save the file"):
            read(file("x.csv", latin))
        with pytest.raises(InputError, match="line 1: byte 0xff is not UTF-8"):
            read(file("x.csv", b"\xff\xfe" + text.encode("utf-16-le")))
