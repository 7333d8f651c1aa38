"""What is cut out of a line in its usual layout is what reading it in full gives."""

import json
import re

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bestbefore.rdf.terms import XSD
from bestbefore.spark.event_lines import EventLines

IRIS = ["<http://e/a>", "<urn:x:1>", "<http://e/é>", r"<http://e/\u00FC>", r"<a:\U0001F600>"]
NO_IRIS = ["<rel>", "<http://e/a b>", r"<http://e/\u0020>", r"<http://e/\uD800>", "<http://e/x", ""]
BLANK_NODES = ["_:b", "_:b.c", "_:é", "_:1", "_:b.", "_:-b", "_:"]
STRINGS = [
    '""',
    '"a b"',
    r'"\t\b\n\r\f\"\'\\"',
    r'"\\n"',
    r'"\u0041\U0001F600"',
    '"é😀\u2028\ufffd"',
]
STRINGS += ['"<a:b> <a:b> . # no"', '"_:b"', '"\x01"', r'"\q"', r'"\uD83D\uDE00"', '"a"b"', '"x']
ENDINGS = ["", "@en", "@EN-gb", "@en--ltr", "@verylonglanguage", f"^^<{XSD}string>", "^^<rel>"]
ENDINGS += [f"^^<{XSD}integer>", r"^^<http://e/\u00FC>", "^^", "@"]
STAMPS = ["0", "007", "-5", "1e3", "1.5", "9" * 15, "9" * 16, "9" * 40, "", " 1", "soon", r"\u0031"]
STAMPS += ["1970-01-01T00:00:01Z", "1970-01-01 00:00", "1970-02-30T00:00:00Z", "٥"]

literal = st.builds("".join, st.tuples(st.sampled_from(STRINGS), st.sampled_from(ENDINGS)))
blank_node = st.sampled_from(BLANK_NODES)
iri = st.sampled_from(IRIS)
term = iri | iri | blank_node | literal | st.sampled_from(NO_IRIS)
statement = st.tuples(iri | iri | blank_node | term, iri | iri | iri | term, term)
stamp = st.integers(0, 10**14).map(str) | st.sampled_from(STAMPS)
event = st.tuples(stamp, st.lists(statement, max_size=3))

SPARINGLY = settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def read(spark, lines, **how):
    """For each line its time, triples and reason; blank nodes without the event's name."""
    frame = spark.createDataFrame([(bytearray(each),) for each in lines], "value binary")
    found = {}
    for row in EventLines(**how).intake(frame).collect():
        terms = tuple(re.sub(r"^(_:.*)x[0-9A-F]{1,16}$", r"\1", row[part] or "") for part in "spo")
        found.setdefault(row["event"], []).append((row["time"], terms, row["reason"]))
    return sorted((sorted(rows, key=repr) for rows in found.values()), key=repr)


def document(statements, *, usual):
    if usual:
        return "\n".join(f"{s} {p} {o} ." for s, p, o in statements)
    lines = (f" {s}\t{p}  {o}.# {o}" for s, p, o in statements)
    return "# all\r\n" + "\r\n\r\n".join(lines)


def in_json(number, event, *, usual):
    """The event as an object, made unlike all others by a number in its document."""
    stamp, statements = event
    data = document([*statements, ("<urn:n>", "<urn:n>", f'"{number}"')], usual=usual)
    fields = {"ts": stamp, "data": data}
    if not usual:
        fields = {"more": [{}], **dict(reversed(fields.items()))}
    return json.dumps(fields, ensure_ascii=not usual).encode()


@SPARINGLY
@given(st.lists(event, min_size=1, max_size=25))
def test_an_event_is_the_same_however_it_is_laid_out(spark, events):
    usual, other = (
        [in_json(number, each, usual=usual) for number, each in enumerate(events)]
        for usual in (True, False)
    )
    for payload in ("ntriples", "nquads"):
        assert read(spark, usual, payload=payload) == read(spark, other, payload=payload)


@SPARINGLY
@given(st.lists(st.tuples(stamp, statement), min_size=1, max_size=40))
def test_fields_and_statements_of_the_same_terms_are_the_same_triples(spark, events):
    events = [(f"{stamp}{number}", terms) for number, (stamp, terms) in enumerate(events)]
    fields = ["\t".join((stamp, *terms)).encode() for stamp, terms in events]
    lines = [f"{stamp}\t{document([terms], usual=True)}".encode() for stamp, terms in events]

    def good(rows):
        return sorted(row for rows_of_event in rows for row in rows_of_event if row[2] is None)

    found = good(read(spark, fields, format="tsv"))
    assert found == good(read(spark, lines, format="nquads"))


BREAKS = [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf4\x90\x80\x80"]


@SPARINGLY
@given(
    st.lists(st.tuples(event, st.sampled_from(BREAKS), st.floats(0, 1)), min_size=1, max_size=25)
)
def test_a_line_that_is_broken_anywhere_is_not_utf_8(spark, events):
    lines = []
    for number, (each, broken, place) in enumerate(events):
        line = in_json(number, each, usual=True)
        # Not inside a character, whose rest would be broken as well.
        at = len(line[: int(place * len(line))].decode(errors="ignore").encode())
        lines.append(line[:at] + broken + line[at:])
    for how in ("jsonl", "tsv", "nquads"):
        rows = [row for rows in read(spark, lines, format=how) for row in rows]
        assert {reason for _, _, reason in rows} == {"the text is not UTF-8"}
        assert len(rows) == len(lines)
