"""Events in lines of text: every format and payload with good, bad and hostile input."""

import json
from collections import Counter

import pyoxigraph as ox
import pytest

from bestbefore.engine import Engine
from bestbefore.errors import InputError
from bestbefore.job.streams import read_streams
from bestbefore.rdf.terms import IRI, XSD, Literal, encode
from bestbefore.spark.sources import SparkSource

from .conftest import EX, query, source_of

S, P = f"<{EX}s>", f"<{EX}p>"
MEGABYTE = 1_000_000


def event(document, ts=1_000):
    return json.dumps({"ts": ts, "data": document})


def triples(rows):
    return [(row["s"], row["p"], row["o"]) for row in rows]


def reasons(rows):
    return Counter(row["reason"] for row in rows)


def encoded(quads):
    """The triples of pyoxigraph's own parse; each blank node is `_:`."""

    def text(term):
        match term:
            case ox.NamedNode():
                return encode(IRI(term.value))
            case ox.Literal():
                return encode(Literal(term.value, term.datatype.value, term.language))
        return "_:"

    return sorted((text(each.subject), text(each.predicate), text(each.object)) for each in quads)


LINES = rf"""
{S} {P} "007"^^<{XSD}integer> .
{S} {P} "+1.50"^^<{XSD}decimal> .
{S} {P} "1.0e3"^^<{XSD}double> .
{S} {P} "Gr\u00FC\u00DFe \U0001F600 \"a\"\\b\n\t\u0000\u2028"@DE-at .
{S} {P} <{EX}\u00FC/%20?a=b&c#d> .
{S} {P} "plain"^^<{XSD}string> .
{S} {P} _:b .
_:b <{EX}q> _:c . # said twice
_:b <{EX}q> "" .
"""
TURTLE = rf"""@prefix : <{EX}> . @prefix xsd: <{XSD}> .
:s :p 007, +1.50, 1.0e3, <ü/%20?a=b&c#d>, "plain",
   '''Gr\u00FC\u00DFe 😀 "a"\\b
\t\u0000\u2028'''@de-AT, [ :q [], "" ] .
""".replace("<ü", f"<{EX}ü")
JSON_LD = {
    "@context": {"@vocab": EX, "xsd": XSD},
    "@id": f"{EX}s",
    "p": [
        {"@value": "007", "@type": "xsd:integer"},
        {"@value": "+1.50", "@type": "xsd:decimal"},
        {"@value": "1.0e3", "@type": "xsd:double"},
        {"@id": f"{EX}ü/%20?a=b&c#d"},
        "plain",
        {"@value": 'Grüße 😀 "a"\\b\n\t\0\u2028', "@language": "de-AT"},
        {"q": [{"@id": "_:c"}, ""]},
    ],
}
SAME_EVENT = {
    "ntriples": LINES,
    "nquads": LINES.replace(" .\n", f" <{EX}g> .\n").replace(" . #", " _:g . #"),
    "turtle": TURTLE,
    "trig": f"GRAPH <{EX}g> {{ }} " + TURTLE.replace(":s :p 007", "<urn:g> { :s :p 007") + "}",
    "json-ld": JSON_LD,
}


@pytest.mark.parametrize("payload", SAME_EVENT)
def test_the_five_payloads_give_the_same_triples_for_the_same_event(taken_in, payload):
    good, bad = taken_in([event(SAME_EVENT[payload])], payload=payload)
    assert bad == []
    expected = encoded(ox.parse(LINES, format=ox.RdfFormat.N_TRIPLES))
    found = [tuple("_:" if t.startswith("_:") else t for t in each) for each in triples(good)]
    assert sorted(found) == expected
    # The blank nodes hang together: one in the middle, one at its end.
    (middle,) = [o for s, p, o in triples(good) if p == P and o.startswith("_:")]
    assert sorted(s for s, _, _ in triples(good) if s.startswith("_:")) == [middle] * 2
    assert {row["time"] for row in good} == {1_000}
    assert len({row["event"] for row in good}) == 1


@pytest.mark.parametrize("payload", SAME_EVENT)
def test_blank_nodes_belong_to_their_event_and_keep_their_names_when_read_again(taken_in, payload):
    document = {
        "json-ld": {"@id": "_:x", f"{EX}p": 1},
        "trig": f"<{EX}g> {{ _:x {P} 1 }}",
        "turtle": f"_:x {P} 1 .",
    }.get(payload, f'_:x {P} "1" .')
    lines = [event(document), event(document, 2_000), event(document)]
    first, _ = taken_in(lines, payload=payload)
    names = [row["s"] for row in first]
    # The third event is the first one, sent again.
    assert names[0] == names[2] != names[1]
    assert [row["event"] for row in first][0::2] == [first[0]["event"]] * 2
    again, _ = taken_in(lines, payload=payload)
    assert [row["s"] for row in again] == names


BAD = {
    "ntriples": [
        f"<{EX}a b> {P} {S} .",
        f"<{EX}>x> {P} {S} .",
        rf"<{EX}\u003Ex> {P} {S} .",
        rf"<{EX}\U0000003e1> {P} {S} .",
        rf"<{EX}\u0020x> {P} {S} .",
        f"<relative> {P} {S} .",
        rf'{S} {P} "\uD83D\uDE00" .',
        rf'{S} {P} "\U00110000" .',
        rf'{S} {P} "\q" .',
        f'{S} {P} "a"b" .',
        f'{S} {P} "x"@verylonglanguage .',
        f'{S} {P} "x"@en--ltr .',
        f'{S} "p" {S} .',
        f"{S} {P} {S}",
        f"{S} {P} {S} <{EX}g> .",
        f"{S} {P} {S} .\nnonsense",
        '"' * MEGABYTE,
    ],
    "nquads": [f'{S} {P} {S} "g" .', f"{S} {P} {S} <g> .", f"{S} {P} {S} <{EX}g> <{EX}h> ."],
    "turtle": [
        f"{S} {P} <relative> .",
        f"{S} {P} <{EX}a b> .",
        f"{S} {P} x:y .",
        f'{S} {P} "x"@en--ltr .',
        f"{S} {P} <<( {S} {P} {S} )>> .",
        f"{S} {P} " + f"<<( {S} {P} " * 20_000 + S + " )>>" * 20_000 + " .",
    ],
    "trig": [f"<{EX}g> {{ {S} {P} {S} ", f"<g> {{ {S} {P} {S} }}"],
    "json-ld": [
        {"@context": "http://127.0.0.1:9/context", "@id": f"{EX}s", "p": "x"},
        "{",
        "5",
        '{"http://e/p":' * 20_000 + "1" + "}" * 20_000,
    ],
}


@pytest.mark.parametrize("payload", BAD)
def test_documents_that_are_no_rdf_are_quarantined_with_their_text(taken_in, payload):
    lines = [event(each) for each in BAD[payload]]
    good, bad = taken_in([*lines, event(SAME_EVENT[payload])], payload=payload)
    assert len(good) == 9
    names = {"ntriples": "N-Triples", "nquads": "N-Quads", "turtle": "Turtle", "trig": "TriG"}
    assert reasons(bad) == {f"'data' is not {names.get(payload, 'JSON-LD')}": len(lines)}
    assert sorted(row["raw"] for row in bad) == sorted(lines)


@pytest.mark.parametrize("payload", SAME_EVENT)
def test_a_megabyte_in_one_literal(taken_in, payload):
    text = '\\"<<( é' * (MEGABYTE // 8)
    literal = json.dumps(text, ensure_ascii=False)
    document = {
        "json-ld": {"@id": f"{EX}s", f"{EX}p": text},
        "trig": f"<{EX}g> {{ {S} {P} {literal} }}".replace("<<(", "<<"),
        "turtle": f"{S} {P} {literal} .".replace("<<(", "<<"),
    }.get(payload, f"{S} {P} {literal} .")
    (row,), _ = taken_in([event(document)], payload=payload)
    assert row["o"].replace("<<(", "<<") == f'"{text}"'.replace("<<(", "<<")


def test_many_brackets_side_by_side_are_not_deep(taken_in):
    document = {"@id": f"{EX}s", f"{EX}p": [{"@id": f"{EX}{n}"} for n in range(2_000)]}
    assert len(taken_in([event(document)], payload="json-ld")[0]) == 2_000


def test_json_lines_that_are_no_events(taken_in):
    statement = f"{S} {P} {S} ."
    lines = [
        event(statement),
        event(statement) + event(statement),
        event(statement) + " and more",
        f"[{event(statement)}]",
        "null",
        "",
        '{"ts": 1000, "data": ' + "[" * 5_000,
        json.dumps({"data": statement}),
        json.dumps({"ts": 1_000}),
        event(statement, "yesterday"),
        event(statement, "1000\n"),
        event(statement, -5),
    ]
    good, bad = taken_in(lines)
    assert len(good) == 1
    assert reasons(bad) == {
        "no field 'ts' in a JSON object": 7,
        "no field 'data'": 1,
        "the timestamp is neither milliseconds nor ISO 8601: yesterday": 1,
        "the timestamp is neither milliseconds nor ISO 8601: 1000\n": 1,
        "the timestamp is neither milliseconds nor ISO 8601: -5": 1,
    }
    assert {row["raw"] for row in bad} == set(lines[1:])


def test_text_that_is_not_utf_8_is_quarantined(taken_in):
    good_line = event(f'{S} {P} "ü" .').encode()
    wrong = b'{"ts": 1000, "data": "<http://e/s> <http://e/p> \\"a\xffb\\" ."}'
    for payload in ("ntriples", "turtle"):
        good, bad = taken_in(good_line + b"\n" + wrong, payload=payload)
        assert [row["o"] for row in good] == ['"ü"']
        assert [(row["reason"], "a\ufffdb" in row["raw"]) for row in bad] == [
            ("the text is not UTF-8", True)
        ]


@pytest.mark.parametrize(
    ("unit", "stamps"),
    [
        ("ms", {"1500": 1_500, "1970-01-01T00:00:01.5Z": 1_500, "1970-01-01T01:00:00+01:00": 0}),
        ("ms", {"1970-01-01 00:00:01": 1_000, "1970-01-01T00:01": 60_000, "1500.5": None}),
        ("ms", {"1970-02-30T00:00:00Z": None, "1970-01-01": None, "9" * 16: None}),
        ("s", {"1500": 1_500_000, "1.5": 1_500, "1.2345678": 1_234, "1e30": None, "-1": None}),
        ("s", {1700000000.123: 1_700_000_000_123, 1700000000: 1_700_000_000_000}),
        ("us", {"1500": 1, "1700000000000000": 1_700_000_000_000}),
        ("ns", {"1700000000000000001": 1_700_000_000_000, "1970-01-01T00:00:01Z": 1_000}),
    ],
)
def test_timestamps_in_their_units_and_in_iso_8601_without_a_zone_in_utc(
    taken_in, taking_in, unit, stamps
):
    zone = taking_in.conf.get("spark.sql.session.timeZone")
    taking_in.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        lines = [event(f'{S} {P} "{stamp}" .', stamp) for stamp in stamps]
        good, bad = taken_in(lines, timestamp_unit=unit)
    finally:
        taking_in.conf.set("spark.sql.session.timeZone", zone)
    assert {row["o"].strip('"'): row["time"] for row in good} == {
        str(stamp): time for stamp, time in stamps.items() if time is not None
    }
    assert len(good) + len(bad) == len(stamps)


def test_n_quads_behind_a_timestamp_and_a_tab(taken_in):
    statements = [
        f'{S} {P} "a\\tb"@EN <{EX}g> .',
        f"{S}\t{P}\t_:x . # a triple is a quad without a graph",
        "# nothing",
    ]
    wrong = [f"{S} {P} {S} .", "", f"1000 {S} {P} {S} .", f"1000\t{S} {P} {S} <{EX}a b> ."]
    wrong += [f"soon\t{S} {P} {S} .", f"1000\t{S} {P} {S} .\t{S} {P} {S} ."]
    lines = [f"{1_000 + n}\t{each}" for n, each in enumerate(statements)]
    good, bad = taken_in([*lines, *wrong], format="nquads")
    assert [(row["time"], row["o"]) for row in good] == [(1_000, '"a\tb"@en'), (1_001, "_:x")]
    assert reasons(bad) == {
        "not a timestamp, a tab and an N-Quads statement": 5,
        "the timestamp is neither milliseconds nor ISO 8601: soon": 1,
    }


def test_tab_separated_triples(taken_in):
    rows = [
        f'1000\t{S}\t{P}\t"x"^^<{XSD}string>',
        f"1000\t_:b\t{P}\t_:b",
        f"1000\t{S}\t{P}",
        f'1000\t"s"\t{P}\t{S}',
        f"1000\t{S}\t_:p\t{S}",
        f"1000\t{S}\t{P}\t<{EX}a>b>",
        f"1000\t{S}\t{P}\tplain",
    ]
    good, bad = taken_in(rows, format="tsv")
    # A label means the same node in every line: there is nothing else to tell nodes by.
    assert triples(good) == [(S, P, '"x"'), ("_:b", P, "_:b")]
    assert reasons(bad) == {
        "not four fields separated by tabs: ts, s, p, o": 1,
        "the subject is no IRI or blank node": 1,
        "the predicate is no IRI": 1,
        "the object is no RDF term": 2,
    }


class Reader:
    """What notes how a stream of Spark is asked for, and gives a frame."""

    def __init__(self, frame):
        self.frame, self.options_given, self.asked = frame, {}, []

    @property
    def readStream(self):
        return self

    def format(self, name):
        self.asked.append(name)
        return self

    def options(self, **options):
        self.options_given |= options
        return self

    def schema(self, text):
        self.asked.append(text)
        return self

    def load(self):
        return self.frame


def test_kafka_values_are_lines_and_its_options_arrive(spark, tmp_path, monkeypatch):
    monkeypatch.setenv("JAAS", "s3cret")
    options = {"kafka.bootstrap.servers": "broker:9092", "subscribe": "mentions"}
    stream = {"source": "spark", "format": "kafka", "options": options}
    stream |= {"value_format": "jsonl", "options_env": {"kafka.sasl.jaas.config": "JAAS"}}
    (job,) = read_streams({"streams": {"s": stream}}, ["urn:s"], base=tmp_path)
    values = [(bytearray(event(f"{S} {P} {S} .").encode()),), (bytearray(b"\xff"),), (None,)]
    reader = Reader(spark.createDataFrame(values, "value binary"))
    rows = job.source.stream(reader).collect()
    assert [row["s"] for row in rows] == [S, None, None]
    assert reasons(rows)["the text is not UTF-8"] == 1
    assert reader.asked == ["kafka"]
    assert reader.options_given == {**options, "kafka.sasl.jaas.config": "s3cret"}
    assert "s3cret" not in repr(job)


def test_without_the_kafka_package_the_error_names_it(spark, tmp_path):
    source = SparkSource("kafka", source_of(tmp_path).reading, {"subscribe": "x"})
    with pytest.raises(InputError) as caught:
        source.stream(spark)
    package = f"org.apache.spark:spark-sql-kafka-0-10_2.13:{spark.version}"
    assert str(caught.value) == (
        "the stream of format 'kafka': Spark has no Kafka source; start with its package, "
        f"bestbefore run … --conf spark.jars.packages={package}"
    )


def test_other_mistakes_with_spark_s_sources_take_one_line(spark, tmp_path):
    lines = source_of(tmp_path).reading
    with pytest.raises(InputError, match=r"'nonsense': \[DATA_SOURCE_NOT_FOUND\] [^\n]*\Z"):
        SparkSource("nonsense", lines).stream(spark)
    options = {"path": str(tmp_path)}
    with pytest.raises(
        InputError, match="'parquet': no column 'value' to read lines from, only: a, b"
    ):
        SparkSource("parquet", lines, options, schema="a string, b long").stream(spark)
    with pytest.raises(InputError, match="^the stream of format 'orc': "):
        SparkSource("orc", lines, schema="not a schema").stream(spark)


def test_the_intake_of_several_streams_says_which_one_each_row_is_of(bench):
    for name in ("a", "b"):
        (bench.folder / name).mkdir()
        (bench.folder / name / "x.tsv").write_text(f"1000\t<{EX}{name}>\t{P}\t{S}\nwrong\n")
    tables = {name: {"iri": f"urn:{name}", "path": name, "format": "tsv"} for name in ("b", "a")}
    streams = read_streams({"streams": tables}, ["urn:a", "urn:b"], base=bench.folder)
    assert [each.name for each in streams] == ["a", "b"]
    rows = Engine(bench.spark)._intake(streams, {})
    assert rows.isStreaming
    found = []
    writer = rows.writeStream.foreachBatch(lambda batch, _: found.extend(batch.collect()))
    writer.trigger(availableNow=True).start().awaitTermination(60)
    assert sorted((row["stream"], row["s"] or row["raw"]) for row in found) == [
        ("urn:a", f"<{EX}a>"),
        ("urn:a", "wrong"),
        ("urn:b", f"<{EX}b>"),
        ("urn:b", "wrong"),
    ]
    assert len({row["event"] for row in found}) == 3


def test_stream_and_event_stay_with_the_elements_in_the_buffer(bench, service):
    document = f"<{EX}u1> <{EX}isMentionedIn> <{EX}p> .\n<{EX}u2> <{EX}isMentionedIn> <{EX}p> ."
    bench.feed([(1_000, document), (2_000, document), "wrong"])
    bench.feed([(6_000, document)])
    bench.run(bench.job(query()), service)
    buffer = bench.spark.read.parquet(f"{bench.folder}/checkpoint/buffer/*").collect()
    elements = [row for row in buffer if row.asDict().get("reason") is None]
    assert {row["stream"] for row in buffer} == {f"{EX}s"}
    assert Counter(row["event"] for row in elements).most_common()[0][1] == 2
    assert len({row["event"] for row in elements}) == 3
    assert [(each["stream"], each["raw"]) for each in bench.quarantine()] == [(f"{EX}s", "wrong")]
