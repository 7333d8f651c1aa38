import pytest

from bestbefore.errors import QueryError, UnsupportedSparql
from bestbefore.query import CountWindow, OutputOperator, TimeWindow, parse_query
from bestbefore.query.algebra import Construct, TriplePattern, Variable

E = "http://example.org/"


def window_of(extent):
    text = f"REGISTER RSTREAM q AS SELECT * FROM NAMED WINDOW <w> ON <s> {extent} WHERE {{}}"
    return parse_query(text).windows[0]


def test_the_influencer_query(influencers):
    query = parse_query(influencers)
    assert query.output is OutputOperator.RSTREAM
    assert query.name == E + "influencers"
    (window,) = query.windows
    assert (window.name, window.streams) == (E + "w", (E + "mentions",))
    assert (window.width_ms, window.slide_ms) == (600_000, 60_000)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("<http://e/q>", "http://e/q"),
        (":q", E + "q"),
        ("<q>", "q"),
        ("q", "q"),
        ("select", "select"),
    ],
)
def test_names_of_a_query(name, expected):
    text = (
        f"REGISTER QUERY {name} AS PREFIX : <{E}> SELECT * "
        "FROM NAMED WINDOW <w> ON <s> [RANGE 1s] WHERE {}"
    )
    assert parse_query(text).name == expected
    assert parse_query(text).output is OutputOperator.RSTREAM


def test_prologue_before_and_after_register():
    text = (
        "PREFIX a: <http://a/> REGISTER RSTREAM b:q AS BASE <http://base/x/> PREFIX b: <b/> "
        "SELECT * FROM NAMED WINDOW <w> ON a:s [RANGE 1s] WHERE {}"
    )
    query = parse_query(text)
    assert query.name == "http://base/x/b/q"
    (window,) = query.windows
    assert (window.name, window.streams) == ("http://base/x/w", ("http://a/s",))


@pytest.mark.parametrize(
    ("written", "output"),
    [
        ("RSTREAM", OutputOperator.RSTREAM),
        ("istream", OutputOperator.ISTREAM),
        ("DSTREAM", OutputOperator.DSTREAM),
        ("STREAM", OutputOperator.RSTREAM),
        ("QUERY", OutputOperator.RSTREAM),
    ],
)
def test_output_operators(written, output):
    text = f"REGISTER {written} q AS ASK FROM NAMED WINDOW <w> ON <s> [RANGE 1s] {{}}"
    assert parse_query(text).output is output


@pytest.mark.parametrize(
    ("extent", "width_ms", "slide_ms"),
    [
        ("[RANGE PT10M STEP PT1M]", 600_000, 60_000),
        ("[RANGE 10m SLIDE 1m]", 600_000, 60_000),
        ("[RANGE 10m TUMBLING]", 600_000, 600_000),
        ("[RANGE 10 MINUTES STEP 1 minute]", 600_000, 60_000),
        ("[NOW - 10m TO NOW SLIDE 1m]", 600_000, 60_000),
        ("[FROM NOW - 10 MINUTES TO NOW STEP 30 S]", 600_000, 30_000),
        ("[NOW-PT10M STEP PT1M]", 600_000, 60_000),
        ("[RANGE 10m STEP 1m]", 600_000, 60_000),
        ("[range 10 m step 250ms]", 600_000, 250),
        ("[RANGE PT1M30.5S]", 90_500, 90_500),
        ("[RANGE 1h STEP PT1H]", 3_600_000, 3_600_000),
        ("[RANGE 1s STEP 1m]", 1_000, 60_000),
    ],
)
def test_extent_of_a_window(extent, width_ms, slide_ms):
    window = window_of(extent)
    assert window.extent == TimeWindow(width_ms, slide_ms)
    assert (window.width_ms, window.slide_ms) == (width_ms, slide_ms)


@pytest.mark.parametrize(
    ("extent", "size", "step"),
    [
        ("[ELEMENTS 10 STEP 5]", 10, 5),
        ("[ELEMENTS 10]", 10, 10),
        ("[RANGE TRIPLES 10]", 10, 10),
        ("[TRIPLES 10 SLIDE 1]", 10, 1),
        ("[ELEMENTS 10 TUMBLING]", 10, 10),
    ],
)
def test_a_window_that_counts(extent, size, step):
    window = window_of(extent)
    assert window.extent == CountWindow(size, step)
    with pytest.raises(UnsupportedSparql, match="the window <w> counts elements"):
        _ = window.width_ms


def test_several_windows_among_the_clauses():
    text = (
        "REGISTER RSTREAM q AS CONSTRUCT { ?a ?b ?c } FROM NAMED WINDOW <v> ON <s> [RANGE 1s] "
        "FROM NAMED WINDOW <w> ON <s> [RANGE 2s] WHERE {}"
    )
    query = parse_query(text)
    assert [window.name for window in query.windows] == ["v", "w"]
    assert query.form == Construct((TriplePattern(*map(Variable, "abc")),))


def test_clauses_in_strings_and_comments_are_not_read():
    text = """# REGISTER ISTREAM no AS
    REGISTER RSTREAM q AS SELECT * # FROM NAMED WINDOW <x> ON <s> [RANGE 0s]
    FROM NAMED WINDOW <FROM#WINDOW> ON <s> [RANGE 1s]
    WHERE { WINDOW <FROM#WINDOW> { ?x <http://e/p> "FROM NAMED WINDOW <x> ON <s> [RANGE 0s]}" } }"""
    query = parse_query(text)
    assert [window.name for window in query.windows] == ["FROM#WINDOW"]
    (triple,) = query.pattern.pattern.pattern.patterns
    assert triple.object.lexical.endswith("[RANGE 0s]}")


PLAIN = "SELECT ?x WHERE { ?x ?p ?o }"
START = "REGISTER RSTREAM q AS SELECT *\nFROM NAMED WINDOW <w> ON <s> "


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("", 1, 1, "the query is empty; expected REGISTER RSTREAM"),
        (PLAIN, 1, 1, "expected REGISTER, found 'SELECT'; a query has the shape REGISTER"),
        ("PREFIX : <http://e/>\n" + PLAIN, 2, 1, "expected REGISTER, found 'SELECT'"),
        ("REGISTER RSTREAM q AS\n" + PLAIN, 2, 1, "the query declares no window"),
        ("REGISTER q AS " + PLAIN, 1, 10, "expected one of RSTREAM, ISTREAM"),
        ("REGISTER RSTREAM AS SELECT", 1, 21, "expected AS after the name AS, found 'SELECT'"),
        ("REGISTER RSTREAM q", 1, 19, "expected AS after the name q, found the end"),
        ("REGISTER RSTREAM q AS INSERT", 1, 23, "expected SELECT, CONSTRUCT, ASK"),
        ("PREFIX e <http://e/>", 1, 8, "a prefix that ends with ':' after PREFIX, found 'e'"),
        ("PREFIX e:x <http://e/>", 1, 8, "write PREFIX e: <http://e/>"),
        ("PREFIX e: f:x", 1, 11, "expected the IRI of the prefix e:"),
        ("BASE <x>", 1, 6, "the IRI <x> is relative"),
        ("REGISTER RSTREAM a:q AS " + START[22:] + "[RANGE 1s] {}", 1, 18, "prefix 'a:' is not"),
        (START + "{}", 2, 30, "expected [RANGE … STEP …] after the stream, found '{'"),
        (START + "[STEP 1s] {}", 2, 31, "expected RANGE and a duration"),
        (START + "[RANGE ten STEP 1s] {}", 2, 37, "RANGE: 'ten' is not a duration"),
        (START + "[RANGE -5s] {}", 2, 37, "RANGE: '-5s' is not a duration"),
        (START + "[RANGE 0s] {}", 2, 37, "RANGE 0s is too short"),
        (START + "[RANGE 1s STEP PT0S] {}", 2, 45, "STEP PT0S is too short"),
        (START + f"[RANGE P{'9' * 400}D] {{}}", 2, 37, "is too long"),
        (START + "[RANGE 9s HOP 1s] {}", 2, 40, "expected STEP or ']' after the duration"),
        (START + "[RANGE 9s STEP 1s TUMBLING] {}", 2, 48, "expected STEP or ']'"),
        (START + "[NOW] {}", 2, 34, "expected - and a duration after NOW, found ']'"),
        (START + "[NOW - 9s] {}", 2, 39, "expected SLIDE and a duration"),
        (START + "[ELEMENTS 0] {}", 2, 40, "ELEMENTS takes a whole number above 0, not '0'"),
        (START + "[ELEMENTS 1.5] {}", 2, 40, "takes a whole number"),
        (START + f"[RANGE TRIPLES {'9' * 30}] {{}}", 2, 45, "takes a whole number"),
        (START + "[ELEMENTS STEP 5] {}", 2, 40, "expected a number after ELEMENTS"),
        (START + "[RANGE 9s]\nFROM NAMED WINDOW <w> ON <t> [RANGE 9s] {}", 3, 1, "declared twice"),
        ("REGISTER RSTREAM q AS SELECT * FROM NAMED WINDOW ?w ON <s>", 1, 50, "IRI of the window"),
        ("REGISTER RSTREAM q AS SELECT * FROM NAMED WINDOW <w> [", 1, 54, "never closed"),
        ("REGISTER RSTREAM q AS SELECT * FROM NAMED WINDOW <w> {}", 1, 54, "ON and a stream"),
    ],
)
def test_what_is_missing_is_said_with_its_place(text, line, column, message):
    with pytest.raises(QueryError) as caught:
        parse_query(text)
    assert message in str(caught.value)
    assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.parametrize(
    ("text", "line", "column", "construct"),
    [
        ("REGISTER RSTREAM q AS DESCRIBE ?x", 1, 23, "DESCRIBE"),
    ],
)
def test_what_is_not_supported_is_named_with_its_place(text, line, column, construct):
    with pytest.raises(UnsupportedSparql) as caught:
        parse_query(text)
    assert f"{construct} is not supported" in str(caught.value)
    assert (caught.value.line, caught.value.column) == (line, column)


def computed(every, extent):
    return f"REGISTER QUERY q\n {every} AS ASK FROM STREAM <s> {extent} {{ ?a ?b ?c }}"


@pytest.mark.parametrize(
    "every", ["COMPUTED EVERY 60s", "COMPUTE EVERY PT1M", "computed every 1 m"]
)
def test_computed_every_step_is_what_is_done_anyway(every):
    text = computed(every, "[RANGE 10m STEP 1m]")
    assert parse_query(text) == parse_query(text.replace(every, ""))


@pytest.mark.parametrize(
    ("every", "extent", "both"),
    [
        ("COMPUTED EVERY 5m", "[RANGE 10m STEP 1m]", ("PT5M", "PT1M")),
        ("COMPUTED EVERY 5m", "[RANGE 10m TUMBLING]", ("PT5M", "PT10M")),
        ("COMPUTE EVERY 5m", "[ELEMENTS 10 STEP 3]", ("PT5M", "3 elements")),
    ],
)
def test_computed_every_something_else_is_refused_with_both(every, extent, both):
    with pytest.raises(UnsupportedSparql) as caught:
        parse_query(computed(every, extent))
    assert all(each in str(caught.value) for each in both)
    assert (caught.value.line, caught.value.column) == (2, 2)


@pytest.mark.parametrize("stream", ["<http://e/s>", "<http://e/s> [RANGE 10m STEP 1m]"])
def test_a_named_stream_says_that_its_window_is_missing(stream):
    text = f"REGISTER QUERY q AS\nSELECT * FROM NAMED STREAM {stream} WHERE {{ ?a ?b ?c }}"
    with pytest.raises(QueryError, match="a stream needs a window: FROM NAMED WINDOW") as caught:
        parse_query(text)
    assert (caught.value.line, caught.value.column) == (2, 10)


@pytest.mark.parametrize("every", ["COMPUTED EVERY", "COMPUTED EVERY 5", "COMPUTED EVERY five"])
def test_computed_every_needs_a_duration(every):
    with pytest.raises(QueryError, match="EVERY: .* is not a duration"):
        parse_query(f"REGISTER QUERY q {every}")
