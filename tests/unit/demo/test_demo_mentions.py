import json
import re

import pytest

from bestbefore.demo.mentions import MentionWriter, mentions

START_MS = 1_700_000_000_000


@pytest.fixture(scope="module")
def stream():
    return mentions(users=400, per_second=1400, from_ms=-6000, to_ms=10_000, seed=7)


def test_the_stream_is_long_and_in_order(stream):
    assert len(stream) > 20_000
    assert (stream.offset_ms[1:] >= stream.offset_ms[:-1]).all()
    assert stream.offset_ms[0] > -6000
    assert stream.user.min() >= 1
    assert stream.user.max() <= 400


def test_a_window_holds_some_of_the_users_and_not_always_the_same(stream):
    windows = [
        set(stream.user[stream.before(close - 5999) : stream.before(close + 1)].tolist())
        for close in range(0, 10_001, 1000)
    ]
    assert all(40 < len(window) < 200 for window in windows)
    assert len(windows[0] & windows[-1]) < len(windows[0]) / 2


def test_the_same_seed_gives_the_same_stream(stream):
    again = mentions(users=400, per_second=1400, from_ms=-6000, to_ms=10_000, seed=7)
    assert (again.user == stream.user).all()
    assert (again.offset_ms == stream.offset_ms).all()


def test_a_longer_stream_begins_with_the_shorter_one(stream):
    longer = mentions(users=400, per_second=1400, from_ms=-6000, to_ms=20_000, seed=7)
    assert (longer.user[: len(stream)] == stream.user).all()
    assert (longer.offset_ms[: len(stream)] == stream.offset_ms).all()


def test_lines_are_json_with_one_triple_each(stream):
    lines = stream.lines(100, 103, start_ms=START_MS).splitlines()
    assert len(lines) == 3
    event = json.loads(lines[0])
    assert event["ts"] == START_MS + stream.offset_ms[100]
    assert re.fullmatch(
        rf"<http://example\.org/demo/user/{stream.user[100]}> "
        r"<http://example\.org/demo/isMentionedIn> <http://example\.org/demo/post/100> \.",
        event["data"],
    )


def test_the_writer_writes_what_has_happened_and_nothing_of_the_future(stream, tmp_path):
    moments = iter([START_MS - 1000, START_MS - 1000, START_MS, START_MS, START_MS + 60_000])
    writer = MentionWriter(
        stream, tmp_path, start_ms=START_MS, clock=lambda: next(moments, START_MS + 60_000)
    )
    writer.start()
    writer.join(20)
    files = sorted(tmp_path.iterdir())
    times = [[json.loads(line)["ts"] for line in file.open()] for file in files]
    assert [file.name for file in files] == ["000000.jsonl", "000001.jsonl", "000002.jsonl"]
    assert max(times[0]) < START_MS - 1000 <= min(times[1])
    assert max(times[1]) < START_MS <= min(times[2])
    assert sum(map(len, times)) == len(stream)


def test_the_writer_stops_when_it_is_told_to(stream, tmp_path):
    writer = MentionWriter(stream, tmp_path, start_ms=START_MS, clock=lambda: START_MS)
    with writer:
        assert writer.is_alive()
    assert not writer.is_alive()
