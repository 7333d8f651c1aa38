"""Generators: what one is, and all of them by name (`poisson`, `bipartite`, `DS75`, `MIX40`, …)."""

from collections.abc import Iterable, Mapping
from dataclasses import Field
from numbers import Integral
from typing import Any, ClassVar, Protocol

from bestbefore.errors import InputError, nearest
from bestbefore.generators.stores import store_generators
from bestbefore.parameters import Value, check_at_least, check_values, read_values
from bestbefore.registry import Registry
from bestbefore.traces import Traces

_MOST_ROWS = 100_000_000


class Generator(Protocol):
    """A workload's parameters, a frozen dataclass, with a method that draws traces from it."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def make(self, seed: int) -> Traces:
        """Traces with these parameters; the same seed gives the same ones."""
        ...


generators: Registry[type[Generator]] = Registry("generator")

_TRENDS = {"DEC": 0.0, "INC": 1.0, "MIX": 0.5}
PRESETS: Mapping[str, tuple[str, Mapping[str, Value]]] = {
    **{f"DS{share}": ("DS", {"share": share / 100}) for share in (*range(10, 100, 10), 75)},
    **{trend: ("DS", {"rise": rise}) for trend, rise in _TRENDS.items()},
    **{
        f"{trend}{share}": ("DS", {"rise": rise, "share": share / 100})
        for trend, rise in _TRENDS.items()
        for share in (40, 70)
    },
}
"""The papers' test cases: the generator behind each name and the parameters that it fixes."""


def make_traces(name: str, seed: int = 0, **parameters: Value) -> Traces:
    """The traces of a generator; the same name, seed and parameters give the same ones.

    >>> len(make_traces("bipartite", seed=7, edges=200).links)
    200
    """
    if isinstance(seed, bool) or not isinstance(seed, Integral):
        raise InputError(f"seed = {seed!r}: it must be a whole number, 0 or more")
    check_at_least(0, seed=seed)
    return resolve_generator(name, **parameters).make(seed)


def resolve_generator(name: str, **parameters: Value) -> Generator:
    """The generator behind a name; an unknown name is answered with the nearest ones."""
    family, kind, fixed = _find(name)
    if decided := [key for key in parameters if key in fixed]:
        raise InputError(
            f"{name!r} has {decided[0]} = {fixed[decided[0]]}; take {family!r} for another"
        )
    check_values(f"generator {name!r}", kind, parameters)
    return kind(**fixed, **parameters)


def read_parameters(name: str, texts: Iterable[str]) -> dict[str, Value]:
    """The parameters of a generator from texts `name=value`, such as those of a command line."""
    _, kind, _ = _find(name)
    return read_values(f"generator {name!r}", kind, texts)


def check_rows(expected: float, what: str) -> None:
    """A trace that would not fit into memory is refused before it is made."""
    if expected > _MOST_ROWS:
        raise InputError(
            f"these parameters make about {expected:.3g} {what}, more than {_MOST_ROWS:,}; take "
            "fewer keys, a shorter duration or longer intervals"
        )


def _find(name: str) -> tuple[str, type[Generator], Mapping[str, Value]]:
    """The family, the generator and the fixed parameters; the papers write `%` after a share."""
    family, fixed = PRESETS.get(name.removesuffix("%"), (name, {}))
    if family not in generators:
        known = {*generators, *PRESETS, *store_generators}
        raise InputError(f"unknown generator {name!r}; {nearest(name, known)}")
    return family, generators[family], fixed
