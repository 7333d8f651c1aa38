import json

import pytest

from bestbefore.demo.truth import ChangeLog, read_answer


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "changes.csv"
    path.write_text("ts_ms,key,value\n100,http://e/a,5\n100,http://e/b,7\n200,http://e/a,6\n")
    return ChangeLog(path)


def test_a_value_holds_until_the_next_one(log):
    log.read()
    values = [log.value("http://e/a", at_ms) for at_ms in (99, 100, 199, 200, 9999)]
    assert values == [None, "5", "5", "6", "6"]
    assert log.value("http://e/unknown", 100) is None


def test_freshness_is_the_share_of_true_rows(log):
    log.read()
    rows = [("http://e/a", "5"), ("http://e/b", "7")]
    assert log.freshness(rows, 150) == 1.0
    assert log.freshness(rows, 250) == 0.5
    assert log.freshness([], 250) is None


def test_half_a_line_is_read_when_it_is_whole(log):
    with log.path.open("a") as file:
        file.write("300,http://e/b,")
        file.flush()
        log.read()
        assert log.value("http://e/b", 400) == "7"
        file.write("8\n")
    log.read()
    assert log.value("http://e/b", 400) == "8"
    assert log.latest_ms == 300


def test_catching_up_ends_although_the_log_does_not_go_on(log):
    log.catch_up(10_000, patience_s=0.1)
    assert log.latest_ms == 200


def test_the_rows_of_an_evaluation_are_found_among_those_of_its_batch(tmp_path):
    folder = tmp_path / "batch=000000000003"
    folder.mkdir()
    row = {
        "user": {"type": "uri", "value": "http://e/a"},
        "followers": {"type": "literal", "value": "5", "datatype": "http://e/integer"},
    }
    answers = [{"evaluation": 1, "rows": []}, {"evaluation": 2, "rows": [row]}]
    (folder / "part-0.json").write_text("\n".join(json.dumps(each) for each in answers))
    assert read_answer(tmp_path, batch=3, evaluation=2) == [("http://e/a", "5")]
    assert read_answer(tmp_path, batch=3, evaluation=1) == []
    assert read_answer(tmp_path, batch=4, evaluation=2) == []
