"""What `explain` says of typical queries, each in a file beside its text.

After a change that is meant, `BESTBEFORE_WRITE_GOLDEN=1 pytest tests/golden` writes the files anew.
"""

import os
from pathlib import Path

import pytest

from bestbefore.job.explanation import describe_query
from bestbefore.query import parse_query, plan

QUERIES = sorted((Path(__file__).parent / "plans").glob("*.rq"))


def explained(text):
    query = parse_query(text)
    sections = describe_query(query, plan(query))
    return "\n".join(f"── {title}\n{body.strip()}\n" for title, body in sections)


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.stem)
def test_the_plan_of_a_query(path):
    text = explained(path.read_text())
    golden = path.with_suffix(".txt")
    if os.environ.get("BESTBEFORE_WRITE_GOLDEN"):
        golden.write_text(text)
    assert text == golden.read_text()


def test_ten_queries_are_here():
    assert len(QUERIES) == 10
