"""How the session of a query is set up."""

import pytest

from bestbefore.spark.session import tune


@pytest.mark.parametrize(
    ("rows", "tasks"), [(0, 1), (49_999, 1), (60_000, 2), (1_000_000, 2), (5_000_000, 6), (None, 2)]
)
def test_as_many_tasks_share_rows_as_have_enough_to_do(spark, rows, tasks):
    session = tune(spark.newSession(), rows=rows)
    assert session.range(10).repartition("id").rdd.getNumPartitions() == tasks
