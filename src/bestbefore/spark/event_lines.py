"""Events in lines of text, and triples in columns: RDF that comes with its time.

A line is a JSON object with an RDF document in it, a triple in four tab-separated fields, or a
timestamp, a tab and an N-Quads statement.
"""

import json
import re
from dataclasses import dataclass
from typing import Literal, get_args

from pyspark.sql import DataFrame

from bestbefore.errors import InputError
from bestbefore.rdf.iris import CONTROLS
from bestbefore.spark.columns import TIME, TRIPLE
from bestbefore.spark.intake import (
    ARRIVAL,
    RAW,
    STAMP,
    WRONG,
    TimestampUnit,
    intake_of_statements,
    judged,
    timed,
)
from bestbefore.spark.ntriples import IRI, NODE, TERM, TERM_WITHOUT_TAB
from bestbefore.spark.payloads import DOCUMENT, SYNTAX, TRIPLES, Payload, triples_of, with_triples
from bestbefore.spark.sql import Cheap, aliased, all_of, call, has_form, let, name, quote

LineFormat = Literal["jsonl", "tsv", "nquads"]
LINE_FORMATS: tuple[LineFormat, ...] = get_args(LineFormat)

NOT_UTF8 = "the text is not UTF-8"
_NO_QUAD = quote("not a timestamp, a tab and an N-Quads statement")
_NOT_FOUR = quote("not four fields separated by tabs: ts, s, p, o")
_NO_SUBJECT = quote("the subject is no IRI or blank node")
_NO_PREDICATE = quote("the predicate is no IRI")
_NO_OBJECT = quote("the object is no RDF term")

_FIELD = r"[^\t]*+"
_FOUR_FIELDS = rf"{_FIELD}(?:\t{_FIELD}){{3}}"
_TRIPLE_FIELDS = rf"{_FIELD}\t{NODE}\t{IRI}\t{TERM_WITHOUT_TAB}"
_PLAIN = rf'[^"\\{CONTROLS}]*'
_STRING = rf'{_PLAIN}(?:\\["n]{_PLAIN}+)*+'


@dataclass(frozen=True)
class EventLines:
    """How the text in a column `value` becomes triples.

    Without a `time_field` the time is that of arrival, whatever a line says.
    """

    format: LineFormat = "jsonl"
    payload: Payload = "ntriples"
    time_field: str | None = "ts"
    data_field: str = "data"
    timestamp_unit: TimestampUnit = "ms"

    def intake(self, frame: DataFrame) -> DataFrame:
        """The intake rows of a frame with a column `value`."""
        lines = text_lines(frame)
        match self.format:
            case "tsv":
                return _from_tsv(lines, self.timestamp_unit, arrival=self.time_field is None)
            case "nquads":
                return _from_nquads(lines, self.timestamp_unit, arrival=self.time_field is None)
            case "jsonl":
                return self._from_json(lines)

    def _from_json(self, lines: DataFrame) -> DataFrame:
        unit, payload = self.timestamp_unit, self.payload
        if self.time_field is None:
            read = _documents(lines, self.data_field)
        else:
            read = _json_events(lines, self.time_field, self.data_field)
        events = with_triples(timed(read, RAW, unit=unit), payload)
        faults = (
            (f"{STAMP} IS NULL", quote(f"no field {self.time_field!r} in a JSON object")),
            (f"{DOCUMENT} IS NULL", quote(f"no field {self.data_field!r}")),
            (f"{TRIPLES} IS NULL", quote(f"{self.data_field!r} is not {SYNTAX[payload]}")),
        )
        return triples_of(judged(events, faults, unit), payload, scoped=True)


def text_lines(frame: DataFrame) -> DataFrame:
    """The column `value` as valid text `raw`, and what is wrong where it was not UTF-8."""
    if "value" not in frame.columns:
        raise InputError(f"no column 'value' to read lines from, only: {', '.join(frame.columns)}")
    text = "string(value)"
    return frame.selectExpr(f"make_valid_utf8({text}) AS {RAW}", f"{not_utf8(text)} AS {WRONG}")


def not_utf8(*texts: str) -> str:
    """What is wrong where one of some texts is not UTF-8."""
    valid = all_of(f"is_valid_utf8({text})" for text in texts)
    return f"CASE WHEN {call('not', valid)} THEN {quote(NOT_UTF8)} END"


def json_object(text: str, fields: tuple[str, ...]) -> str:
    """The fields of a JSON object as strings; null where the text is not one object.

    Spark's own reading of an object ends with its last brace and ignores what comes after it;
    as the only item of an array it is read to the end of the text.
    """
    kind = ", ".join(f"{name(field)}: STRING" for field in fields)
    items = f"from_json(concat('[', {text}, ']'), {quote(f'ARRAY<STRUCT<{kind}>>')})"
    return let(items, lambda read: f"CASE WHEN size({read}) = 1 THEN get({read}, 0) END")


def _json_events(lines: DataFrame, time_field: str, data_field: str) -> DataFrame:
    """The `stamp` and the `document` of JSON objects.

    Most objects hold just these two fields, and strings with no escapes but those of quotes and
    line breaks: what they hold is cut out, the others are parsed.
    """
    time, data = (re.escape(json.dumps(field)) for field in (time_field, data_field))
    stamp = rf'(?:"{_PLAIN}"|0|[1-9][0-9]{{0,17}})'
    simple = quote(rf'^\{{{time}: ?{stamp}, ?{data}: ?"({_STRING})"\}}\z')
    found, parsed = Cheap("found"), Cheap("parsed")
    cut_out = f"regexp_extract({RAW}, {simple}, 1)"
    whole = json_object(RAW, (time_field, data_field))
    read = lines.selectExpr(
        "*",
        f"{cut_out} AS {found}",
        f"CASE WHEN {cut_out} <> '' THEN NULL ELSE {whole} END AS {parsed}",
    )
    stamp_of = quote(rf'^\{{{time}: ?"?([^",]*)')
    unescaped = rf"""replace(replace({found}, '\\"', '"'), '\\n', '\n')"""
    columns: dict[str, str] = {
        STAMP: f"regexp_extract({RAW}, {stamp_of}, 1) ELSE {parsed}.{name(time_field)}",
        DOCUMENT: f"CASE WHEN contains({found}, '\\\\') THEN {unescaped} ELSE {found} END "
        f"ELSE {parsed}.{name(data_field)}",
    }
    cases = {column: f"CASE WHEN {found} <> '' THEN {sql} END" for column, sql in columns.items()}
    return read.selectExpr(RAW, WRONG, *aliased(cases))


def _documents(lines: DataFrame, data_field: str) -> DataFrame:
    """The `document` of JSON objects, with their arrival as `stamp`."""
    document = f"{json_object(RAW, (data_field,))}.{name(data_field)}"
    columns: dict[str, str] = {STAMP: ARRIVAL, DOCUMENT: document}
    return lines.selectExpr(RAW, WRONG, *aliased(columns))


def elements_of(stream: DataFrame, *, arrival: bool = False) -> DataFrame:
    """The intake rows of a DataFrame that the caller hands over, with `time` (or `ts`), s, p, o.

    By `arrival` they get the time at which they are taken in.
    """
    if arrival:
        stream = stream.drop("ts", TIME).selectExpr("*", f"{ARRIVAL} AS {TIME}")
    renamed = stream.withColumnRenamed("ts", TIME)
    missing = [column for column in (TIME, *TRIPLE) if column not in renamed.columns]
    if missing:
        raise InputError(
            f"the stream lacks the column {missing[0]!r}; it needs ts, s, p and o, with terms "
            f"written as in N-Triples, and has: {', '.join(stream.columns)}"
        )
    is_instant = renamed.schema[TIME].dataType.simpleString() == "timestamp"
    stamp = f"unix_millis({TIME})" if is_instant else TIME
    texts = {part: f"string({part})" for part in TRIPLE}
    columns = {STAMP: f"string({stamp})", **texts, WRONG: not_utf8(*texts.values())}
    events = timed(renamed.selectExpr(*aliased(columns)), *TRIPLE)
    forms = zip(TRIPLE, (NODE, IRI, TERM), (_NO_SUBJECT, _NO_PREDICATE, _NO_OBJECT), strict=True)
    faults = [(f"({has_form(part, form)}) IS NOT TRUE", said) for part, form, said in forms]
    statement = Cheap("statement")
    rows = judged(events, faults).selectExpr("*", f"concat_ws(' ', s, p, o) AS {statement}")
    shown = ", ".join(f"make_valid_utf8({part}) AS {part}" for part in TRIPLE)
    raw = f"to_json(struct({STAMP} AS {TIME}, {shown}))"
    return intake_of_statements(rows, statement, raw=raw)


def _from_tsv(lines: DataFrame, unit: TimestampUnit, *, arrival: bool) -> DataFrame:
    stamp = ARRIVAL if arrival else rf"substring_index({RAW}, '\t', 1)"
    stamped = lines.selectExpr("*", f"{stamp} AS {STAMP}")
    subject, predicate = rf"^{_FIELD}\t{NODE}\t", rf"^{_FIELD}\t{_FIELD}\t{IRI}\t"
    fault = (
        f"CASE WHEN ({has_form(RAW, _FOUR_FIELDS)}) IS NOT TRUE THEN {_NOT_FOUR} "
        f"WHEN NOT {RAW} RLIKE {quote(subject)} THEN {_NO_SUBJECT} "
        f"WHEN NOT {RAW} RLIKE {quote(predicate)} THEN {_NO_PREDICATE} ELSE {_NO_OBJECT} END"
    )
    faults = [(f"({has_form(RAW, _TRIPLE_FIELDS)}) IS NOT TRUE", fault)]
    events = judged(timed(stamped, RAW, unit=unit), faults, unit)
    # An escape in the timestamp is no matter: it makes no time.
    return intake_of_statements(events, RAW, gap="\t", first=1)


def _from_nquads(lines: DataFrame, unit: TimestampUnit, *, arrival: bool) -> DataFrame:
    fields = rf"split({RAW}, '\t', 2)"
    stamp = ARRIVAL if arrival else f"get({fields}, 0)"
    columns: dict[str, str] = {STAMP: stamp, DOCUMENT: f"get({fields}, 1)"}
    read = lines.selectExpr("*", *aliased(columns))
    events = with_triples(timed(read, RAW, unit=unit), "nquads")
    faults = [(f"{TRIPLES} IS NULL", _NO_QUAD)]
    return triples_of(judged(events, faults, unit), "nquads", scoped=False)
