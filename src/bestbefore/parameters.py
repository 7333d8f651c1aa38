"""Parameters: the fields of a plug-in's frozen dataclass, and the values that are given for them.

Those of a policy (`WBM.F(fdt=500)`) and of a generator (`--set keys=100`) are read and refused in
the same words. A message begins with its owner, such as `policy 'WBM.F'`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from itertools import pairwise
from math import isfinite
from numbers import Integral, Real
from typing import Any, Literal, get_args, get_origin, get_type_hints

from bestbefore.errors import InputError
from bestbefore.time import Milliseconds, format_duration, parse_duration_ms

Value = bool | int | float | str

_BOOLEANS = {"true": True, "false": False}
_WANTED: Mapping[object, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    Milliseconds: "a duration such as 90s or 10m",
}


@dataclass(frozen=True)
class Parameter:
    """A parameter that a plug-in takes; `default` is MISSING where a value must be given."""

    name: str
    kind: object
    default: object
    example: object

    @property
    def required(self) -> bool:
        """Whether a value must be given."""
        return self.default is MISSING

    @property
    def assignment(self) -> str:
        """An example of how it is written."""
        return f"{self.name}={self.example}"

    @property
    def wanted(self) -> str:
        """What its value must be, for people."""
        if get_origin(self.kind) is Literal:
            return " or ".join(repr(word) for word in get_args(self.kind))
        if self._is_duration:
            return "a whole number of milliseconds or, as text, a duration such as 5m"
        return _WANTED.get(self.kind, f"of the type {self.kind}, which no text states")

    def read(self, text: str) -> Value:
        """The value that a text states; a ValueError if it states none."""
        if get_origin(self.kind) is Literal and text in get_args(self.kind):
            return text
        if self.kind is bool and text.lower() in _BOOLEANS:
            return _BOOLEANS[text.lower()]
        if self.kind is Milliseconds:
            return parse_duration_ms(text)
        if self._is_duration and not text.lstrip("+-").isdecimal():
            return parse_duration_ms(text)
        if self.kind is int or self.kind is float or self.kind is str:
            return self.kind(text)
        raise ValueError(text)

    def accepts(self, value: object) -> bool:
        """Whether a value has the right type; NumPy's numbers are numbers too."""
        if get_origin(self.kind) is Literal:
            return value in get_args(self.kind)
        if isinstance(value, bool):
            return self.kind is bool
        kinds: Mapping[object, type] = {
            int: Integral,
            Milliseconds: Integral,
            float: Real,
            str: str,
        }
        return self.kind in kinds and isinstance(value, kinds[self.kind])

    @property
    def _is_duration(self) -> bool:
        return self.kind is int and self.name.endswith("_ms")


def parameters_of(plug_in: type) -> dict[str, Parameter]:
    """The parameters of a plug-in by name, in the order of their definition."""
    types = get_type_hints(plug_in)
    found = {}
    for field in fields(plug_in):
        default: object = field.default
        if field.default_factory is not MISSING:
            default = field.default_factory()
        name, kind = field.name, types[field.name]
        example = "…" if default is MISSING else _written(default, kind)
        found[name] = Parameter(name, kind, default, field.metadata.get("example", example))
    return found


def read_values(owner: str, kind: type, texts: Iterable[str]) -> dict[str, Value]:
    """The values of a plug-in's parameters from texts `name=value`."""
    accepted, values = parameters_of(kind), dict[str, Value]()
    for text in texts:
        name, equals, stated = (part.strip() for part in text.partition("="))
        if accepted and not (name and equals):
            example = accepted.get(name, next(iter(accepted.values()))).assignment
            raise InputError(f"{owner}: {text!r} is not name=value; write for example {example}")
        parameter = _find(owner, accepted, name)
        if name in values:
            raise InputError(f"{owner}: {name} is given twice; keep one of the values")
        try:
            values[name] = parameter.read(stated)
        except (ValueError, InputError):
            raise _refusal(owner, parameter, stated) from None
    for parameter in accepted.values():
        if parameter.required and parameter.name not in values:
            example = parameter.assignment
            raise InputError(f"{owner} needs {parameter.name}, for example {example}")
    return values


def check_values(owner: str, kind: type, given: Mapping[str, object]) -> None:
    """Refuse parameters that do not exist and values of another type."""
    accepted = parameters_of(kind)
    for name, value in given.items():
        parameter = _find(owner, accepted, name)
        if not parameter.accepts(value):
            raise _refusal(owner, parameter, value)


def _find(owner: str, accepted: Mapping[str, Parameter], name: str) -> Parameter:
    if name not in accepted:
        known = ", ".join(accepted) or "none"
        raise InputError(f"{owner} has no parameter {name!r}; it takes: {known}")
    return accepted[name]


def _refusal(owner: str, parameter: Parameter, value: object) -> InputError:
    return InputError(f"{owner}: {parameter.name} = {value!r}; it must be {parameter.wanted}")


def _written(value: Any, kind: object) -> str:  # noqa: ANN401 - a default of any type
    if kind is Milliseconds:
        return format_duration(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def check_at_least(least: float, **parameters: float) -> None:
    """Every parameter is a finite number that is not below `least`."""
    for name, value in parameters.items():
        if not (isfinite(value) and value >= least):
            raise InputError(f"{name} = {value}: it must be {least} or more")


def check_above(bound: float, **parameters: float) -> None:
    """Every parameter is a finite number above `bound`."""
    for name, value in parameters.items():
        if not (isfinite(value) and value > bound):
            raise InputError(f"{name} = {value}: it must be above {bound}")


def check_within(low: float, high: float, **parameters: float) -> None:
    """Every parameter lies between two numbers or is one of them."""
    for name, value in parameters.items():
        if not low <= value <= high:
            raise InputError(f"{name} = {value}: it must lie between {low} and {high}")


def check_order(**parameters: float) -> None:
    """No parameter is above the one that is named after it."""
    for lower, upper in pairwise(parameters):
        if not parameters[lower] <= parameters[upper]:
            raise InputError(
                f"{lower} = {parameters[lower]} is above {upper} = {parameters[upper]}; "
                "exchange or change them"
            )
