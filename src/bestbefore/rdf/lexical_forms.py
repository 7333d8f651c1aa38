"""The lexical forms of XML Schema's datatypes: which texts are values of which type.

The patterns are written for Java's regular expressions and for Python's; they are of a whole text.
"""

import re
from calendar import monthrange
from dataclasses import dataclass
from functools import cache

from bestbefore.errors import InputError, nearest
from bestbefore.rdf.iris import is_absolute_iri
from bestbefore.rdf.terms import RDF_LANG_STRING, XSD

_ZONE = r"(?:Z|[+-](?:(?:0[0-9]|1[0-3]):[0-5][0-9]|14:00))"
_YEAR = r"-?(?:[1-9][0-9]{3,}|0[0-9]{3})"
_MONTH = r"(?:0[1-9]|1[0-2])"
_DAY = r"(?:0[1-9]|[12][0-9]|3[01])"
_CLOCK = r"(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?|24:00:00(?:\.0+)?)"
_INTEGER = r"[+-]?[0-9]+"
_DECIMAL = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_DOUBLE = rf"(?:{_DECIMAL}(?:[eE][+-]?[0-9]+)?|[+-]?INF|NaN)"
_DAYS = r"(?:[0-9]+D)?(?:T(?=[0-9.])(?:[0-9]+H)?(?:[0-9]+M)?(?:[0-9]+(?:\.[0-9]+)?S)?)?"
_MONTHS = r"(?:[0-9]+Y)?(?:[0-9]+M)?"


@dataclass(frozen=True, slots=True)
class LexicalForm:
    """What a text must look like: a pattern for all of it, a range, a day that exists."""

    pattern: str
    low: int | None = None
    high: int | None = None
    starts_with_date: bool = False


_BITS = {"long": 64, "int": 32, "short": 16, "byte": 8}
_INTEGERS = {
    "integer": LexicalForm(_INTEGER),
    "nonNegativeInteger": LexicalForm(r"\+?[0-9]+|-0+"),
    "positiveInteger": LexicalForm(r"\+?0*[1-9][0-9]*"),
    "nonPositiveInteger": LexicalForm(r"-[0-9]+|\+?0+"),
    "negativeInteger": LexicalForm(r"-0*[1-9][0-9]*"),
    **{
        name: LexicalForm(_INTEGER, -(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        for name, bits in _BITS.items()
    },
    **{
        f"unsigned{name.capitalize()}": LexicalForm(_INTEGER, 0, 2**bits - 1)
        for name, bits in _BITS.items()
    },
}
LEXICAL_FORMS = {
    f"{XSD}{name}": form
    for name, form in {
        "boolean": LexicalForm("true|false|1|0"),
        "decimal": LexicalForm(_DECIMAL),
        **_INTEGERS,
        "double": LexicalForm(_DOUBLE),
        "float": LexicalForm(_DOUBLE),
        "date": LexicalForm(f"{_YEAR}-{_MONTH}-{_DAY}{_ZONE}?", starts_with_date=True),
        "time": LexicalForm(f"{_CLOCK}{_ZONE}?"),
        "dateTime": LexicalForm(f"{_YEAR}-{_MONTH}-{_DAY}T{_CLOCK}{_ZONE}?", starts_with_date=True),
        "dateTimeStamp": LexicalForm(
            f"{_YEAR}-{_MONTH}-{_DAY}T{_CLOCK}{_ZONE}", starts_with_date=True
        ),
        "gYear": LexicalForm(f"{_YEAR}{_ZONE}?"),
        "gYearMonth": LexicalForm(f"{_YEAR}-{_MONTH}{_ZONE}?"),
        "gMonth": LexicalForm(f"--{_MONTH}{_ZONE}?"),
        "gMonthDay": LexicalForm(f"--{_MONTH}-{_DAY}{_ZONE}?"),
        "gDay": LexicalForm(f"---{_DAY}{_ZONE}?"),
        "duration": LexicalForm(f"-?P(?=[0-9T]){_MONTHS}{_DAYS}"),
        "yearMonthDuration": LexicalForm(f"-?P(?=[0-9]){_MONTHS}"),
        "dayTimeDuration": LexicalForm(f"-?P(?=[0-9T]){_DAYS}"),
        "hexBinary": LexicalForm("(?:[0-9A-Fa-f]{2})*"),
    }.items()
}

INTEGER_TYPES = tuple(f"{XSD}{name}" for name in _INTEGERS)
# The form of a number by its type; whether it is in the range of its type is not asked.
NUMBER_FORMS = {
    **dict.fromkeys(INTEGER_TYPES, _INTEGER),
    f"{XSD}decimal": _DECIMAL,
    f"{XSD}float": _DOUBLE,
    f"{XSD}double": _DOUBLE,
}
_BY_SUFFIX = {f"^^<{datatype}>": re.compile(form) for datatype, form in NUMBER_FORMS.items()}

# More digits than any type with a range has.
_LONGEST = 100
_ANY_TEXT = ("string", "anyURI", "base64Binary", "language", "normalizedString", "token")
_KNOWN = (*LEXICAL_FORMS, *(f"{XSD}{name}" for name in _ANY_TEXT))


def datatype_iri(text: str) -> str:
    """The IRI of a datatype that is written `xsd:decimal` or in full.

    >>> datatype_iri("xsd:decimal")
    'http://www.w3.org/2001/XMLSchema#decimal'
    """
    iri = XSD + text.removeprefix("xsd:") if text.startswith("xsd:") else text
    if iri == RDF_LANG_STRING:
        raise InputError(f"{text!r} needs a language: write language = 'en' and no datatype")
    if iri.startswith(XSD) and iri not in _KNOWN:
        names = [f"xsd:{known.removeprefix(XSD)}" for known in _KNOWN]
        raise InputError(f"{text!r} is no datatype of XML Schema; {nearest(text, names)}")
    if not is_absolute_iri(iri):
        raise InputError(f"{text!r} is no datatype; write xsd:decimal, say, or an IRI in full")
    return iri


def has_lexical_form(text: str, datatype: str) -> bool:
    """Whether a text is a value of a datatype; of types that are not known here any text is.

    >>> has_lexical_form("2026-02-30", XSD + "date"), has_lexical_form("300", XSD + "byte")
    (False, False)
    """
    if (form := LEXICAL_FORMS.get(datatype)) is None:
        return True
    if not _compiled(form.pattern).fullmatch(text):
        return False
    if form.low is not None and form.high is not None:
        return len(text) < _LONGEST and form.low <= int(text) <= form.high
    return not form.starts_with_date or _is_day(text)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _is_day(text: str) -> bool:
    """Whether the day exists that a text begins with."""
    year, month, day = text.lstrip("-").split("-")[:3]
    # The calendar repeats every 400 years, and Python's has no year 0.
    return int(day[:2]) <= monthrange(int(year[-4:]) % 400 + 400, int(month))[1]


def number_of(encoded: str | None) -> float | None:
    """The number that an encoded term is, None for what is no number.

    >>> number_of('"5.5"^^<http://www.w3.org/2001/XMLSchema#decimal>'), number_of('"5.5"')
    (5.5, None)
    """
    if encoded is None or not encoded.startswith('"'):
        return None
    end = encoded.rfind('"')
    form, lexical = _BY_SUFFIX.get(encoded[end + 1 :]), encoded[1:end]
    return float(lexical) if form and form.fullmatch(lexical) else None
