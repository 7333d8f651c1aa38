from dataclasses import fields, is_dataclass
from itertools import pairwise

import numpy as np
import pytest

from bestbefore.errors import InputError
from bestbefore.generators import (
    PRESETS,
    PoissonTraces,
    generators,
    make_traces,
    read_parameters,
    resolve_generator,
)
from bestbefore.traces import read_traces, write_traces

from .columns import rows, series

FAMILIES = ["poisson", "bipartite", "twitter-like", "DS"]


def refusal(name, **parameters):
    with pytest.raises(InputError) as caught:
        resolve_generator(name, **parameters)
    return str(caught.value)


def test_the_names():
    assert sorted(generators) == sorted(FAMILIES)
    shares = ("10", "20", "30", "40", "50", "60", "70", "75", "80", "90")
    trends = [trend + share for trend in ("DEC", "INC", "MIX") for share in ("", "40", "70")]
    assert set(PRESETS) == {*(f"DS{share}" for share in shares), *trends}


@pytest.mark.parametrize("name", FAMILIES)
class TestEveryGenerator:
    def test_it_is_a_frozen_dataclass_that_says_what_it_is(self, name):
        kind = generators[name]
        assert is_dataclass(kind)
        assert kind.__dataclass_params__.frozen
        assert kind.__doc__.splitlines()[0].endswith(".")
        assert len(fields(kind)) > 3

    def test_the_same_seed_gives_the_same_traces(self, name):
        assert rows(make_traces(name, 5)) == rows(make_traces(name, seed=5))
        assert rows(make_traces(name, 5)) != rows(make_traces(name, 6))

    def test_times_are_in_order_and_every_unit_has_a_value_from_the_start(self, name):
        traces = make_traces(name, 5)
        stream, background = traces.stream, traces.background
        assert np.all(np.diff(stream.ts_ms) >= 0)
        assert stream.ts_ms[0] >= 1
        assert np.all(np.diff(background.ts_ms) >= 0)
        units = series(traces)
        assert set(units) == set(traces.interval_ms)
        assert all(each[0][0] == 0 for each in units.values())
        reached = set(stream.key) if traces.links is None else set(traces.links.unit)
        assert reached <= set(units)

    def test_every_row_of_a_unit_is_later_and_different(self, name):
        for each in series(make_traces(name, 5)).values():
            for (earlier, old), (later, new) in pairwise(each):
                assert earlier < later
                assert old != new

    def test_intervals_are_whole_and_positive(self, name):
        intervals = make_traces(name, 5).interval_ms
        assert all(type(each) is int and each >= 1 for each in intervals.values())

    def test_it_survives_files(self, name, tmp_path):
        traces = make_traces(name, 5)
        paths = {path.stem: path for path in write_traces(traces, tmp_path)}
        notices = []
        again = read_traces(
            paths["stream"],
            paths["background"],
            links=paths.get("links"),
            intervals=paths["intervals"],
            notice=notices.append,
        )
        assert rows(again) == rows(traces)
        assert notices == []


def test_names_with_a_share_fix_it():
    assert resolve_generator("DS75") == resolve_generator("DS", share=0.75)
    assert resolve_generator("MIX40%") == resolve_generator("MIX", share=0.4)
    assert resolve_generator("DEC70", keys=300).keys == 300
    assert refusal("DS75", share=0.2) == "'DS75' has share = 0.75; take 'DS' for another"


def test_unknown_names_list_the_nearest():
    assert refusal("poison") == "unknown generator 'poison'; did you mean 'poisson'?"
    assert "'DS75'" in refusal("DS 75")
    assert "known: DEC, DEC40" in refusal("flights")


def test_unknown_parameters_list_the_accepted_ones():
    assert refusal("DS", skew=1.0) == (
        "generator 'DS' has no parameter 'skew'; it takes: share, rise, threshold, keys, active, "
        "minutes"
    )


@pytest.mark.parametrize(
    ("parameters", "wanted"),
    [
        ({"keys": "many"}, "keys = 'many'; it must be a whole number"),
        ({"keys": 2.5}, "keys = 2.5; it must be a whole number"),
        ({"keys": True}, "keys = True; it must be a whole number"),
        ({"skew": "0.5"}, "skew = '0.5'; it must be a number"),
        ({"duration_ms": "5m"}, "duration_ms = '5m'; it must be a whole number of milliseconds"),
        ({"changes": "often"}, "changes = 'often'; it must be 'periodic' or 'poisson'"),
    ],
)
def test_wrong_types_say_so(parameters, wanted):
    assert refusal("poisson", **parameters).startswith(f"generator 'poisson': {wanted}")


def test_a_truth_value_is_no_number():
    assert refusal("twitter-like", regular=1).endswith("regular = 1; it must be true or false")


def test_numbers_of_numpy_are_numbers():
    expected = PoissonTraces(keys=7, skew=0.5)
    assert resolve_generator("poisson", keys=np.int64(7), skew=np.float64(0.5)) == expected
    assert rows(make_traces("bipartite", np.int64(3))) == rows(make_traces("bipartite", 3))


@pytest.mark.parametrize("seed", [-1, 1.5, "7", True])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(InputError, match="seed = "):
        make_traces("poisson", seed)


def test_parameters_are_read_from_texts():
    texts = ["keys=7", "duration_ms = 5m", "skew=0.5", "changes=poisson"]
    assert read_parameters("poisson", texts) == {
        "keys": 7,
        "duration_ms": 300_000,
        "skew": 0.5,
        "changes": "poisson",
    }
    assert read_parameters("twitter-like", ["regular=True"]) == {"regular": True}
    assert read_parameters("DS75", ["keys=300"]) == {"keys": 300}


@pytest.mark.parametrize(
    ("name", "key", "text"),
    [
        ("poisson", "keys", "5m"),
        ("poisson", "keys", "1.5"),
        ("poisson", "duration_ms", "long"),
        ("poisson", "skew", "a lot"),
        ("twitter-like", "regular", "maybe"),
    ],
)
def test_texts_that_state_no_value(name, key, text):
    with pytest.raises(InputError, match=f"{name!r}: {key} = '{text}'; it must be "):
        read_parameters(name, [f"{key}={text}"])
    with pytest.raises(InputError, match=f"{name!r} has no parameter 'x'; it takes: keys"):
        read_parameters(name, ["x=1"])
