"""Typical queries, each with its text and its algebra after rewriting in a file beside it.

After a change that is meant, `BESTBEFORE_WRITE_GOLDEN=1 pytest tests/golden` writes the files anew.
"""

import os
from pathlib import Path

import pytest

from bestbefore.query import describe_algebra, parse_query, plan, print_query

QUERIES = sorted((Path(__file__).parent / "plans").glob("*.rq"))


def names(variables):
    return " ".join(f"?{each.name}" for each in variables) or "nothing"


def described(query):
    found = plan(query)
    lines = [print_query(query), describe_algebra(found.around), ""]
    lines += [f"window <{each.window.name}> gives {names(each.outputs)}" for each in found.windows]
    for service in found.services:
        windows = ", ".join(f"<{each.name}>" for each in service.windows)
        lines.append(f"service <{service.iri}> joins on {names(service.join_key)} of {windows}")
    lines += [f"threshold {each}" for each in found.thresholds]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.stem)
def test_the_plan_of_a_query(path):
    text = described(parse_query(path.read_text()))
    golden = path.with_suffix(".txt")
    if os.environ.get("BESTBEFORE_WRITE_GOLDEN"):
        golden.write_text(text)
    assert text == golden.read_text()


def test_ten_queries_are_here():
    assert len(QUERIES) == 10
