"""Whole numbers that only a SQL query will know, for window arithmetic that is written once."""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Symbol:
    """A whole number as SQL text, and a known one that is added to it.

    What is computed with it is the text of the computation, with few brackets: of nested ones
    Spark reads each by trying what else it could be.

    >>> str((Symbol("time") - 5) // 60)
    'div(time - 5L - pmod(time - 5L, 60L), 60L)'
    """

    sql: str
    plus: int = 0

    def __str__(self) -> str:
        if not self.plus:
            return self.sql
        return f"{self.sql} {'-' if self.plus < 0 else '+'} {abs(self.plus)}L"

    def __add__(self, other: "Symbol | int") -> "Symbol":
        if isinstance(other, int):
            return Symbol(self.sql, self.plus + other)
        return Symbol(f"{self.sql} + {other.sql}", self.plus + other.plus)

    def __radd__(self, other: int) -> "Symbol":
        return self + other

    def __sub__(self, other: "Symbol | int") -> "Symbol":
        if isinstance(other, int):
            return self + -other
        return Symbol(f"{self.sql} - {_single(other.sql)}", self.plus - other.plus)

    def __mul__(self, factor: int) -> "Symbol":
        sql = self.sql if factor == 1 else f"{_single(self.sql)} * {factor}L"
        return Symbol(sql, self.plus * factor)

    def __mod__(self, divisor: int) -> "Symbol":
        return Symbol(f"pmod({self}, {divisor}L)")

    def __floordiv__(self, divisor: int) -> "Symbol":
        # SQL cuts a quotient towards zero; and by way of doubles it would lose milliseconds.
        if divisor == 1:
            return self
        return Symbol(f"div({self} - {self % divisor}, {divisor}L)")


def _single(sql: str) -> str:
    """A text as one operand: a sum in brackets."""
    return f"({sql})" if " + " in sql or " - " in sql else sql


Number = TypeVar("Number", int, NDArray[np.int64], Symbol)
"""What windows are computed with: a number, many at once, or the text of a computation."""
