"""The FILTER of a simulated query: a comparison of the background's value with a threshold."""

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bestbefore.errors import InputError

_FORM = re.compile(r"\s*(?:\?\w+\s*)?(?P<sign><=|>=|<|>)\s*(?P<threshold>\S+)\s*")
_SIGNS: dict[str, Callable[..., NDArray[np.bool_]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True)
class Condition:
    """`?x > FT` or `?x < FT`; what is no number never passes.

    >>> Condition.parse(">100").passes(np.array([99.0, 101.0, np.nan])).tolist()
    [False, True, False]
    """

    sign: str
    threshold: float

    @classmethod
    def parse(cls, text: str) -> "Condition":
        """Read a condition such as `>100000`."""
        form = _FORM.fullmatch(text)
        try:
            threshold = float(form["threshold"]) if form else np.nan
        except ValueError:
            threshold = np.nan
        if form is None or not np.isfinite(threshold):
            raise InputError(f"the filter {text!r} is no comparison; write for example '>100000'")
        return cls(form["sign"], threshold)

    def passes(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which values fulfil the condition."""
        return _SIGNS[self.sign](values, self.threshold)
