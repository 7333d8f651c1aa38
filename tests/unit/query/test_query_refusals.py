"""What is refused on purpose: one list in the code, the same in the documentation."""

import re
from pathlib import Path

import pytest

from bestbefore.errors import QueryError
from bestbefore.query import parse_query, plan
from bestbefore.query.refusals import Refusal

ROOT = Path(__file__).parents[3]
WINDOW = "WINDOW :w { ?a :p ?b }"
SERVICE = "SERVICE :s { ?a :q ?c }"
HEAD = "PREFIX : <http://e/> REGISTER QUERY :q"
FROM = "FROM NAMED WINDOW :w ON :s [RANGE 10m STEP 1m]"


def over_window(where, form="ASK"):
    return f"{HEAD} AS {form} {FROM} {{ {where} }}"


EXAMPLES = {
    Refusal.DESCRIBE: over_window(WINDOW, "DESCRIBE ?a"),
    Refusal.FUNCTION_BY_IRI: over_window(f"{WINDOW} FILTER(:double(?b) > 1)"),
    Refusal.WINDOW_VARIABLE: over_window("WINDOW ?w { ?a :p ?b }"),
    Refusal.SERVICE_VARIABLE: over_window(f"{WINDOW} SERVICE ?s {{ ?a :q ?c }}"),
    Refusal.SERVICE_IN_EXISTS: over_window(f"{WINDOW} FILTER EXISTS {{ {SERVICE} }}"),
    Refusal.GRAPH_IN_WINDOW: over_window("WINDOW :w { GRAPH :g { ?a :p ?b } }"),
    Refusal.OUTSIDE_CLAUSES: over_window(f"{WINDOW} ?a :q ?c"),
    Refusal.OUTER_VARIABLE: over_window(
        f"{WINDOW} FILTER EXISTS {{ WINDOW :w {{ ?a :p ?x FILTER(?x = ?b) }} }}"
    ),
    Refusal.MIXED_GRAPH: f"{HEAD} AS ASK FROM STREAM :s [RANGE 1m] FROM :g {{ ?a :p ?b }}",
    Refusal.COMPUTED_EVERY: (
        f"{HEAD} COMPUTED EVERY 5m AS ASK FROM STREAM :s [RANGE 10m STEP 1m] {{ ?a :p ?b }}"
    ),
    Refusal.NAMED_STREAM: f"{HEAD} AS ASK FROM NAMED STREAM :s {{ ?a :p ?b }}",
    Refusal.DIFFERENT_EXTENTS: (
        f"{HEAD} AS ASK FROM STREAM :s [RANGE 1m] FROM STREAM :t [RANGE 2m] {{ ?a :p ?b }}"
    ),
    Refusal.ESCAPED_NAME: over_window("WINDOW :w { ?a :\\u0070 ?b }"),
    Refusal.TOO_DEEP: over_window("{" * 100 + "}" * 100),
    Refusal.NESTED_CLAUSES: over_window(f"WINDOW :w {{ ?a :p ?b {SERVICE} }}"),
    Refusal.NO_JOIN_KEY: over_window(f"{WINDOW} SERVICE :s {{ ?c :q ?d }}"),
    Refusal.UNBOUND_ANSWER: over_window(WINDOW, "SELECT ?c"),
    Refusal.UNUSED_WINDOW: over_window("VALUES ?a { 1 }"),
}


@pytest.mark.parametrize("refusal", Refusal, ids=lambda refusal: refusal.name)
def test_every_refusal_happens_and_tells_the_way_out(refusal):
    with pytest.raises(QueryError) as caught:
        plan(parse_query(EXAMPLES[refusal]))
    assert refusal.instead in str(caught.value).replace("Name what", "name what")
    assert caught.value.line == 1


def test_the_documentation_lists_the_same():
    text = (ROOT / "docs" / "queries.md").read_text(encoding="utf-8")
    section = text[text.index("## What is refused") :].split("\n## ")[0]
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", section, re.MULTILINE)
    listed = [tuple(cell.replace("`", "") for cell in row) for row in rows[1:]]
    assert listed == [(refusal.construct, refusal.instead) for refusal in Refusal]


def test_nothing_else_in_the_package_refuses_what_is_legal():
    package = ROOT / "src" / "bestbefore" / "query"
    raising = [
        path.name for path in package.rglob("*.py") if "UnsupportedSparql(" in path.read_text()
    ]
    assert sorted(raising) == ["continuous.py", "refusals.py"]
