import numpy as np
import pytest

from bestbefore.errors import InputError
from bestbefore.generators import PRESETS, make_traces, resolve_generator

from .columns import series


def sides(values, threshold):
    return {np.sign(value - threshold) for value in values}


def crossing_keys(traces, threshold=100_000):
    """The keys with values below and above the threshold; the others are on one side of it."""
    crossing = set()
    for key, rows in series(traces).items():
        found = sides([value for _, value in rows], threshold)
        if {-1, 1} <= found:
            crossing.add(key)
        else:
            assert len(found) == 1
            assert 0 not in found
    return crossing


@pytest.mark.parametrize("name", [name for name in PRESETS if name[-1].isdigit()])
@pytest.mark.parametrize("seed", [1, 2])
def test_exactly_the_share_of_the_series_crosses(name, seed):
    share = int(name[-2:]) / 100
    assert len(crossing_keys(make_traces(name, seed))) == round(share * 400)


@pytest.mark.parametrize("name", ["DS", "DEC", "INC", "MIX"])
@pytest.mark.parametrize("share", [0.0, 0.333, 1.0])
@pytest.mark.parametrize("threshold", [0, 7, -50, 10**9])
def test_any_share_and_threshold(name, share, threshold):
    parameters = {"share": share, "threshold": threshold, "keys": 70, "active": 40, "minutes": 20}
    traces = make_traces(name, 3, **parameters)
    assert len(crossing_keys(traces, threshold)) == round(share * 70)


def test_the_others_stand_on_either_side():
    traces = make_traces("DS10", 1)
    crossing = crossing_keys(traces)
    above = [rows[0][1] > 100_000 for key, rows in series(traces).items() if key not in crossing]
    assert np.mean(above) == pytest.approx(0.5, abs=0.1)


def test_another_seed_chooses_other_series():
    assert crossing_keys(make_traces("DS50", 1)) != crossing_keys(make_traces("DS50", 2))


@pytest.mark.parametrize(("name", "directions"), [("DEC40", {-1}), ("INC70", {1})])
def test_series_that_only_go_one_way(name, directions):
    for rows in series(make_traces(name, 1)).values():
        assert set(np.sign(np.diff([value for _, value in rows]))) == directions


@pytest.mark.parametrize(("name", "rising"), [("MIX40", 0.5), ("DS50", 0.75)])
def test_series_that_go_either_way(name, rising):
    steps = np.concatenate(
        [np.diff([value for _, value in rows]) for rows in series(make_traces(name, 1)).values()]
    )
    assert (steps > 0).mean() == pytest.approx(rising, abs=0.03)


def test_a_snapshot_a_minute_and_the_stream_of_the_crowd():
    traces = make_traces("MIX70", 1)
    assert np.all(traces.background.ts_ms % 60_000 == 0)
    assert len(set(traces.stream.key)) == 283
    assert traces.stream.ts_ms.max() > 157 * 60_000


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"share": 1.1}, "share = 1.1: it must lie between 0 and 1"),
        ({"share": -0.1}, "share = -0.1"),
        ({"share": float("nan")}, "share = nan"),
        ({"threshold": 10**16}, "threshold = 10000000000000000: it must lie between"),
        ({"keys": 100}, "active = 283 is above keys = 100"),
        ({"minutes": 1}, "minutes = 1"),
    ],
)
@pytest.mark.parametrize("name", ["DS", "DEC", "INC", "MIX"])
def test_bad_parameters(name, parameters, message):
    with pytest.raises(InputError, match=message):
        resolve_generator(name, **parameters)
