"""Parameters of generators: their names, kinds and defaults, and values given for them."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Literal, get_args, get_origin

from bestbefore.errors import InputError
from bestbefore.generators.generator import Generator
from bestbefore.time import parse_duration_ms

Value = bool | int | float | str

_BOOLEANS = {"true": True, "false": False}


@dataclass(frozen=True)
class Parameter:
    """A parameter that a generator takes."""

    name: str
    kind: object
    default: object

    @property
    def wanted(self) -> str:
        """What its value must be, for people."""
        if get_origin(self.kind) is Literal:
            return " or ".join(repr(each) for each in get_args(self.kind))
        if self.kind is int and self.name.endswith("_ms"):
            return "a whole number of milliseconds or, as text, a duration such as 5m"
        names = {bool: "true or false", int: "a whole number", float: "a number"}
        return names[self.kind]  # type: ignore[index]


def parameters_of(kind: type[Generator]) -> dict[str, Parameter]:
    """The parameters of a generator by name, in the order of their definition."""
    return {each.name: Parameter(each.name, each.type, each.default) for each in fields(kind)}


def check_parameters(name: str, kind: type[Generator], given: Mapping[str, object]) -> None:
    """Every given parameter exists and has the right type."""
    for key, value in given.items():
        parameter = find_parameter(name, kind, key)
        if not _fits(parameter.kind, value):
            raise InputError(f"{name}: {key} = {value!r}; it must be {parameter.wanted}")


def find_parameter(name: str, kind: type[Generator], key: str) -> Parameter:
    """The parameter with a name; an unknown one is answered with all that there are."""
    accepted = parameters_of(kind)
    if key not in accepted:
        raise InputError(
            f"generator {name!r} has no parameter {key!r}; it takes: {', '.join(accepted)}"
        )
    return accepted[key]


def read_value(name: str, parameter: Parameter, text: str) -> Value:
    """The value that a text states for a parameter."""
    try:
        if get_origin(parameter.kind) is Literal:
            return text
        if parameter.kind is bool:
            return _BOOLEANS[text.lower()]
        if parameter.kind is float:
            return float(text)
        return _whole(text, duration=parameter.name.endswith("_ms"))
    except (KeyError, ValueError, InputError):
        message = f"{name}: {parameter.name} = {text!r}; it must be {parameter.wanted}"
        raise InputError(message) from None


def _whole(text: str, *, duration: bool) -> int:
    try:
        return int(text)
    except ValueError:
        if duration:
            return parse_duration_ms(text)
        raise


def _fits(kind: object, value: object) -> bool:
    if get_origin(kind) is Literal:
        return value in get_args(kind)
    if isinstance(value, bool):
        return kind is bool
    # NumPy's numbers are numbers too.
    return (kind is int and isinstance(value, Integral)) or (
        kind is float and isinstance(value, Real)
    )
