"""Checks of parameters: what a number must be, said in one line."""

from itertools import pairwise
from math import isfinite

from bestbefore.errors import InputError

_MOST_ROWS = 100_000_000


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


def check_rows(expected: float, what: str) -> None:
    """A trace that would not fit into memory is refused before it is made."""
    if expected > _MOST_ROWS:
        raise InputError(
            f"these parameters make about {expected:.3g} {what}, more than {_MOST_ROWS:,}; take "
            "fewer keys, a shorter duration or longer intervals"
        )
