"""Numeric literals: which terms are numbers, and which number each is."""

import re

from bestbefore.rdf.terms import XSD

_EXACT = ("integer", "decimal", "long", "int", "short", "byte", "nonNegativeInteger",
          "positiveInteger", "nonPositiveInteger", "negativeInteger", "unsignedLong",
          "unsignedInt", "unsignedShort", "unsignedByte")  # fmt: skip
EXACT_SUFFIXES = tuple(f"^^<{XSD}{name}>" for name in _EXACT)
DOUBLE_SUFFIXES = (f"^^<{XSD}double>", f"^^<{XSD}float>")

DECIMAL_FORM = r"^[+-]?(\d+(\.\d*)?|\.\d+)$"
DOUBLE_FORM = r"^([+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]?INF|NaN)$"

_FORMS = {
    **dict.fromkeys(EXACT_SUFFIXES, re.compile(DECIMAL_FORM, re.ASCII)),
    **dict.fromkeys(DOUBLE_SUFFIXES, re.compile(DOUBLE_FORM, re.ASCII)),
}


def number_of(encoded: str | None) -> float | None:
    """The number that an encoded term is, None for what is no number.

    >>> number_of('"5.5"^^<http://www.w3.org/2001/XMLSchema#decimal>'), number_of('"5.5"')
    (5.5, None)
    """
    if encoded is None or not encoded.startswith('"'):
        return None
    end = encoded.rfind('"')
    form, lexical = _FORMS.get(encoded[end + 1 :]), encoded[1:end]
    return float(lexical) if form and form.fullmatch(lexical) else None
