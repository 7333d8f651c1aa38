"""Parameters of plug-ins, as somebody's own plug-in declares them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import pytest

from bestbefore.errors import InputError
from bestbefore.parameters import check_values, parameters_of, read_values
from bestbefore.time import Milliseconds

AGE = Milliseconds(90_000)


@dataclass(frozen=True)
class Plugin:
    """A plug-in with a parameter of every kind; its annotations are texts, as in many a module."""

    weight: float = field(metadata={"example": 0.5})
    keys: int = 3
    pause_ms: int = 1_000
    age: Milliseconds = AGE
    often: bool = False
    label: str = "none"
    kind: Literal["one", "two"] = "one"
    odd: tuple[int, ...] = field(default_factory=tuple)
    needs: ClassVar[int] = 0


def refusal(*texts):
    with pytest.raises(InputError) as caught:
        read_values("plug-in 'P'", Plugin, texts)
    return str(caught.value)


def test_every_kind_is_read():
    texts = ("weight=1", "keys = 7", "pause_ms=2s", "age=1.5m", "often=True", "label=a=b")
    assert read_values("P", Plugin, texts) == {
        "weight": 1.0,
        "keys": 7,
        "pause_ms": 2_000,
        "age": 90_000,
        "often": True,
        "label": "a=b",
    }
    assert read_values("P", Plugin, ["weight=1", "kind=two"])["kind"] == "two"
    assert read_values("P", Plugin, ["weight=1", "pause_ms=250"])["pause_ms"] == 250


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("keys=1.5", "keys = '1.5'; it must be a whole number"),
        ("pause_ms=soon", "pause_ms = 'soon'; it must be a whole number of milliseconds or"),
        ("age=90", "age = '90'; it must be a duration such as 90s or 10m"),
        ("age=-5s", "age = '-5s'; it must be a duration"),
        ("often=1", "often = '1'; it must be true or false"),
        ("kind=three", "kind = 'three'; it must be 'one' or 'two'"),
        ("odd=1", "odd = '1'; it must be of the type tuple[int, ...], which no text states"),
        ("often", "'often' is not name=value; write for example often=false"),
        ("=1", "'=1' is not name=value; write for example weight=0.5"),
    ],
)
def test_what_states_no_value_is_refused_with_the_way_out(text, message):
    assert refusal("weight=1", text).startswith(f"plug-in 'P': {message}")


def test_a_name_that_is_unknown_missing_or_repeated():
    assert refusal("weigth=1") == (
        "plug-in 'P' has no parameter 'weigth'; it takes: weight, keys, pause_ms, age, often, "
        "label, kind, odd"
    )
    assert refusal("keys=1") == "plug-in 'P' needs weight, for example weight=0.5"
    twice = refusal("weight=1", "weight=2")
    assert twice == "plug-in 'P': weight is given twice; keep one of the values"


def test_values_are_checked_as_texts_are():
    check_values("P", Plugin, {"weight": 1, "keys": 2, "age": 5, "label": "x"})
    with pytest.raises(InputError, match="P: keys = True; it must be a whole number"):
        check_values("P", Plugin, {"keys": True})
    with pytest.raises(InputError, match="P: age = '5s'; it must be a duration such as"):
        check_values("P", Plugin, {"age": "5s"})
    with pytest.raises(InputError, match="P: label = 5; it must be a text"):
        check_values("P", Plugin, {"label": 5})


def test_defaults_are_shown_as_they_are_written():
    shown = [parameter.assignment for parameter in parameters_of(Plugin).values()]
    assert shown[:4] == ["weight=0.5", "keys=3", "pause_ms=1000", "age=PT1M30S"]
    assert shown[4:6] == ["often=false", "label=none"]
