"""Units that the window needs and the view lacks."""

import pytest

from .conftest import EX, integer, user


def test_a_missing_key_is_fetched_and_then_held(rig):
    run = rig("CWSJ-LRU", rows=[(user(1), integer(1))])
    run.run([(1_000, user(1)), (2_000, user(9))], batches=[[1]])
    first = run.outcomes[0]
    assert first["answered"] == ((user(9),), (user(1),))
    # The service has no rows of it: known to be absent, it no longer counts as missing.
    assert run.held() == {(user(1),), (user(9),)}
    assert (first["sets"].g, first["sets"].completeness) == (0, 1.0)
    assert run.slices["?user"].to_pylist() == [user(1)]


def test_keys_that_stay_missing_are_forgotten_after_each_batch(rig):
    run = rig("FWSJ-WBM", budget=0)
    events = [(1_000 + number, f"<{EX}stranger{number}>") for number in range(50)]
    run.run([*events, (2_000, user(1))], batches=[[1], [2]])
    assert len(run.view) == 8
    assert [outcome["sets"].g for outcome in run.outcomes] == [50, 50]
    assert run.outcomes[0]["sets"].completeness == pytest.approx(1 / 51)


def test_a_key_whose_fetch_fails_stays_missing(rig):
    run = rig("CWSJ-LRU", rows=[], budget=5)
    run.service.down.add((user(3),))
    run.run([(1_000, user(3)), (1_500, user(4))], batches=[[1]])
    assert run.held() == {(user(4),)}
    assert run.outcomes[0]["sets"].g == 1


def test_a_unit_that_enters_has_the_interval_of_the_file(rig, tmp_path):
    file = tmp_path / "intervals.csv"
    file.write_text(f"key,interval_s\n{EX}u9,3\n")
    run = rig("CWSJ-WBM", interval_file=str(file), change_interval="1m")
    events = [(1_000, user(9)), (1_000, user(10))]
    run.run(events, batches=[[1]])
    again = run.run(events, batches=[[1]])
    numbers = again.view.numbers([(user(9),), (user(10),)])
    assert again.view.units.interval_ms[numbers].tolist() == [3_000, 60_000]
    assert again.view.units.best_before_ms[numbers].tolist() == [8_000, 65_000]
