"""Tables that are the content of a file: what comes out of them, and at what price."""

import re

import pyarrow as pa
import pytest

from bestbefore.spark.inbox import Inbox, is_reusable, json_columns
from bestbefore.spark.session import tune
from bestbefore.storage import LocalStorage

COLUMNS = {"time": "BIGINT", "?user": "STRING"}


def inbox_view(spark, folder):
    session = tune(spark.newSession(), rows=0)
    inbox = Inbox(LocalStorage(str(folder)))
    inbox.register(session, "elements", COLUMNS)
    return inbox, session.table("elements")


def test_a_table_has_the_rows_that_were_put_last(spark, tmp_path):
    inbox, table = inbox_view(spark, tmp_path)
    assert table.collect() == []
    parts = [
        json_columns(pa.table({"time": [105, 107], "?user": ['"é\n"', None]})),
        json_columns(pa.table({"time": [102], "?user": ["<u:2>"]})),
    ]
    inbox.put("elements", parts, base=100)
    assert [tuple(row) for row in table.collect()] == [(5, '"é\n"'), (7, None), (2, "<u:2>")]
    inbox.put("elements", [])
    assert table.collect() == []


def test_a_row_does_not_carry_the_whole_file(spark, tmp_path):
    _, table = inbox_view(spark, tmp_path)
    plan = table._jdf.queryExecution().executedPlan().toString()
    # Beside what is exploded, a row keeps the base of its time; with all of the file the time to
    # read it would grow with its square. Nor is the text parsed more than once.
    (carried,) = re.findall(r"Generate inline\(.*\), \[([^\]]*)\], false", plan)
    assert re.fullmatch(r"base#\d+L", carried)
    assert plan.count("from_json(") == 1


@pytest.mark.parametrize(
    ("text", "reusable"),
    [
        ("SELECT * FROM elements WHERE time > 1", True),
        ("SELECT DISTINCT * FROM elements", False),
        ("SELECT * FROM elements UNION ALL SELECT * FROM elements", True),
        ("SELECT /*+ REPARTITION(2) */ * FROM elements", False),
        (
            "SELECT /*+ BROADCAST(b) */ a.* FROM elements AS a JOIN elements AS b USING (time)",
            False,
        ),
        ("SELECT * FROM elements WHERE time < (SELECT max(time) + 1 FROM elements)", False),
        ("SELECT * FROM elements WHERE time IN (SELECT time FROM kept)", False),
        ("SELECT time FROM elements UNION ALL SELECT time FROM kept", False),
    ],
)
def test_a_plan_is_used_again_unless_it_keeps_results(spark, tmp_path, text, reusable):
    inbox, table = inbox_view(spark, tmp_path)
    session = table.sparkSession
    kept = session.range(3).selectExpr("id AS time").persist()
    kept.createOrReplaceTempView("kept")
    frame = session.sql(text)
    assert is_reusable(frame) == reusable
    if reusable:
        inbox.put("elements", [json_columns(pa.table({"time": [7], "?user": ["<u:1>"]}))])
        assert {row["time"] for row in frame.collect()} == {7}
        inbox.put("elements", [])
        assert frame.collect() == []
    kept.unpersist()
