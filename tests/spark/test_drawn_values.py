"""Functions whose value is drawn anew: NOW, RAND, UUID, STRUUID and BNODE."""

import re
from datetime import UTC, datetime

import pytest

from bestbefore.spark.session import tune
from tests.conformance.evaluation import dataset_of, evaluate

PAIRS = [(f"<a:s{number}>", "<a:p>", f'"{number % 2}"') for number in range(4)]


@pytest.fixture(scope="module")
def rows(spark):
    """What one query over four mappings draws."""
    session = tune(spark.newSession(), rows=0)
    query = """SELECT ?o ?now1 ?now2 ?rand ?uuid ?other ?text ?blank ?same ?label WHERE {
        ?s <a:p> ?o BIND(NOW() AS ?now1) BIND(RAND() AS ?rand) BIND(UUID() AS ?uuid)
        BIND(UUID() AS ?other) BIND(STRUUID() AS ?text) BIND(BNODE() AS ?blank)
        BIND(BNODE(?o) AS ?same) BIND(BNODE(STR(?o)) AS ?label) BIND(NOW() AS ?now2) }"""
    found, _ = evaluate(session, query, dataset_of(session, PAIRS))
    return [dict(row) for row in found.rows]


def test_now_is_one_instant(rows):
    (now,) = {row[name] for row in rows for name in ("now1", "now2")}
    written = datetime.fromisoformat(now[1 : now.rindex('"')])
    assert abs((datetime.now(UTC) - written).total_seconds()) < 60


def test_each_mapping_draws_for_itself(rows):
    for name in ("rand", "uuid", "other", "text", "blank"):
        assert len({row[name] for row in rows}) == 4, name
    assert not {row["uuid"] for row in rows} & {row["other"] for row in rows}
    assert all(re.fullmatch(r"<urn:uuid:[0-9a-f-]{36}>", row["uuid"]) for row in rows)
    assert all(re.fullmatch(r'"[0-9a-f-]{36}"', row["text"]) for row in rows)
    assert all(0 <= float(row["rand"][1 : row["rand"].rindex('"')]) < 1 for row in rows)


def test_a_label_names_one_blank_node_in_a_mapping_and_another_one_in_the_next(rows):
    assert all(row["same"] == row["label"] for row in rows)
    assert len({row["same"] for row in rows}) == 4
    assert all(row["same"].startswith("_:") for row in rows)
