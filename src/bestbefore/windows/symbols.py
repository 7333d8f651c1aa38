"""Whole numbers that only a SQL query will know, for window arithmetic that is written once."""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Symbol:
    """A whole number as SQL text: what is computed with it is the text of the computation.

    >>> str((Symbol("time") - 5) // 60)
    '(((time - 5L) - pmod((time - 5L), 60L)) div 60L)'
    """

    sql: str

    def __str__(self) -> str:
        return self.sql

    def __neg__(self) -> "Symbol":
        return Symbol(f"(-{self})")

    def __add__(self, other: "Symbol | int") -> "Symbol":
        return Symbol(f"({self} + {_text(other)})")

    def __radd__(self, other: int) -> "Symbol":
        return self + other

    def __sub__(self, other: "Symbol | int") -> "Symbol":
        return Symbol(f"({self} - {_text(other)})")

    def __mul__(self, factor: int) -> "Symbol":
        return Symbol(f"({self} * {factor}L)")

    def __mod__(self, divisor: int) -> "Symbol":
        return Symbol(f"pmod({self}, {divisor}L)")

    def __floordiv__(self, divisor: int) -> "Symbol":
        # SQL cuts a quotient towards zero; and by way of doubles it would lose milliseconds.
        return self if divisor == 1 else Symbol(f"({self - self % divisor} div {divisor}L)")


def _text(number: Symbol | int) -> str:
    return str(number) if isinstance(number, Symbol) else f"{number}L"


Number = TypeVar("Number", int, NDArray[np.int64], Symbol)
"""What windows are computed with: a number, many at once, or the text of a computation."""
