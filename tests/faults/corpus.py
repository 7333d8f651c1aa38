"""What is mutated: the queries, job files and stream lines of the documentation and the tests."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from tests.spark.conftest import query
from tests.spark.test_mapped_sources import CSV_JOB, HEADER, MAPPING

ROOT = Path(__file__).parents[2]
TEXTS = (
    query(),
    query("CONSTRUCT { ?user :has ?followers }"),
    query("ASK"),
    query(rest="FILTER(?followers IN (1, 2, 3) || !(?followers = -1))"),
    query("SELECT ?user (GROUP_CONCAT(?post; SEPARATOR=', ') AS ?posts)", rest="")
    + " GROUP BY ?user",
    query(window="?user :isMentionedIn/^:by* ?post", rest="BIND(STRLEN(STR(?user)) AS ?n)"),
    query(rest="OPTIONAL { VALUES (?user ?x) { (:u1 UNDEF) (:u2 '''long''') } }"),
)
JOBS = (
    """[query]
file = "q.rq"
trigger = "1s"
heartbeat = "2s"
lateness = "5s"
[streams.s]
path = "stream"
files_per_batch = 2
[services.bkg]
endpoint = "http://127.0.0.1:9/none"
timeout = "1500ms"
headers = { X-Team = "blue" }
[services.bkg.limits]
per_minute = 60
burst = 3
cost_per_request = "0.0005"
cost_per_day = 1.5
quiet = ["22:00-06:00 Europe/Rome"]
[budget]
refreshes = 3
start = 9
[policy]
name = "LRU.F+(alpha=0.2)"
[view]
capacity = 100
change_interval = "1h"
[qos]
freshness = 0.9
deadline = "2s"
[sink]
format = "json"
path = "answers"
""",
)
_TRIPLE = '<http://e/a> <http://e/p> "x\\ty"@en .'
_TURTLE = "@prefix : <http://e/> . :a :p [ :q 1.5, true, '''x''' ] ; a :T ."
_JSONLD = {"@id": "http://e/a", "http://e/p": [{"@value": "x", "@language": "en"}, 5]}
_ROW = ["1700000000000", "u1", "p1", "1.50", "hello"]


@dataclass(frozen=True)
class Layout:
    """A layout of stream files: the settings of its stream, a header if it needs one, and lines."""

    settings: dict
    lines: tuple
    head: tuple = ()


def _events(*documents):
    return tuple(json.dumps({"ts": 1_700_000_000_000, "data": one}) for one in documents)


LAYOUTS = {
    "ntriples": Layout({"payload": "ntriples"}, _events(_TRIPLE, _TRIPLE * 2)),
    "nquads": Layout({"payload": "nquads"}, _events(_TRIPLE, _TRIPLE.replace(" .", " <a:g> ."))),
    "turtle": Layout({"payload": "turtle"}, _events(_TURTLE, _TRIPLE)),
    "trig": Layout({"payload": "trig"}, _events(_TURTLE, f"<a:g> {{ {_TRIPLE} }}")),
    "jsonld": Layout({"payload": "jsonld"}, _events(_JSONLD, json.dumps(_JSONLD))),
    "tsv": Layout(
        {"format": "tsv"},
        ('1700000000000\t<http://e/a>\t<http://e/p>\t"x"@en', "5\t_:b\t<a:b>\t1"),
    ),
    "nquads lines": Layout(
        {"format": "nquads"},
        (f"1700000000000\t{_TRIPLE}", f"2023-11-14T22:13:20Z\t{_TRIPLE}"),
    ),
    "csv": Layout(
        {"format": "csv", **MAPPING},
        (",".join(_ROW), '5,u2,"a ""b""",007,"x, y"'),
        (HEADER,),
    ),
    "csv with seconds": Layout(
        CSV_JOB, ("1.5,u1,a", "1970-01-01T00:00:01Z,u2,b"), ("at,user,post",)
    ),
    "json": Layout(
        {"format": "json", **MAPPING},
        (json.dumps(dict(zip(HEADER.split(","), _ROW, strict=True))),),
    ),
}


def queries():
    """Queries of documents, golden plans and tests, as bytes."""
    found = [*TEXTS, *_blocks("sparql")]
    found += [file.read_text() for file in sorted(ROOT.glob("tests/golden/plans/*.rq"))]
    return [text.encode() for text in found]


def jobs():
    """Job files of documents and tests, as bytes; none that would have code run."""
    found = [*JOBS, *_blocks("toml")]
    return [text.encode() for text in found if "[query]" in text]


def _blocks(language):
    files = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    return [
        block
        for file in files
        for block in re.findall(rf"```{language}\n(.*?)```", file.read_text(), re.DOTALL)
    ]
