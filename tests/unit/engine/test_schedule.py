"""How far streams have come: by their elements, by advances, and when they end."""

from dataclasses import replace

from bestbefore.checkpoint.state import State
from bestbefore.engine.schedule import advanced, end_of, is_worth, watermark_of
from bestbefore.job import read_job
from bestbefore.spark.buffer import Segment
from bestbefore.windows import Instants, SlidingWindow

A, B = "http://example.org/a", "http://example.org/b"
QUERY = """PREFIX : <http://example.org/> REGISTER RSTREAM :out AS SELECT ?s
FROM NAMED WINDOW :v ON :a [RANGE PT4S STEP PT2S] FROM NAMED WINDOW :w ON :b [RANGE PT9S STEP PT3S]
WHERE { WINDOW :v { ?s :p ?o } WINDOW :w { ?s :q ?r } }"""
JOB = read_job(
    {
        "query": {"text": QUERY},
        "streams": {"a": {"path": ".", "allowed_lateness": "1s"}, "b": {"path": "."}},
    }
)
STATE = State("q", t0_ms=(0, 0), latest={A: 7_000}, segments=(Segment("batch-0", 7_000, 1),))


def test_a_stream_that_is_silent_from_the_start_holds_up_the_others_until_it_is_advanced():
    assert watermark_of(JOB, STATE) is None
    silent = advanced(STATE, {B: 5_500})
    assert watermark_of(JOB, silent) == 4_500
    assert is_worth(JOB, STATE, silent)
    assert not is_worth(JOB, STATE, advanced(STATE, {B: 2_900}))


def test_streams_never_go_back():
    assert advanced(STATE, {A: 6_000, B: 1_000}).latest == {A: 7_000, B: 1_000}


def test_the_end_is_past_the_last_evaluation_that_sees_the_last_element():
    # An element at 7 s is in (6, 15]; windows at 16 s and 17 s see that one too, at 18 s not.
    assert end_of(JOB, STATE) == 17_000 + 1 + 1_000
    ended = advanced(STATE, dict.fromkeys((A, B), 18_001))
    assert end_of(JOB, ended) is None
    assert end_of(JOB, replace(STATE, segments=())) is None


def test_the_last_evaluation_with_an_element():
    assert Instants((SlidingWindow(10, 5),)).last_with(6) == 3
    assert Instants((SlidingWindow(10, 5),)).last_with(5) == 2
