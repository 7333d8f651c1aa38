"""xsd:dateTime and xsd:date as Spark SQL: their instants and their parts.

A time without a zone is taken for UTC where it is compared (the implicit time zone of XPath).
"""

from bestbefore.spark.expressions import numbers
from bestbefore.spark.sql import Cheap, let, one_of, quote
from bestbefore.spark.terms import form, is_literal, suffix, type_suffix

DATE_TIME, DATE = type_suffix("dateTime"), type_suffix("date")
_ZONE = r"(Z|[+-]\d\d:\d\d)?"
_DAY = r"(-?\d{4,})-(\d\d)-(\d\d)"
_CLOCK = r"T(\d\d):(\d\d):(\d\d(?:\.\d+)?)"
_FORM = quote(f"^{_DAY}(?:{_CLOCK})?{_ZONE}$")
DATE_TIME_FORM = quote(f"^{_DAY}{_CLOCK}{_ZONE}$")
DATE_FORM = quote(f"^{_DAY}{_ZONE}$")

_GROUPS = {"YEAR": 1, "MONTH": 2, "DAY": 3, "HOURS": 4, "MINUTES": 5, "SECONDS": 6, "TZ": 7}
_OF_CLOCK = ("HOURS", "MINUTES", "SECONDS")


def instant(text: Cheap) -> str:
    """The microseconds since 1970 of a lexical dateTime, null if it is none."""
    return f"CASE WHEN {text} RLIKE {DATE_TIME_FORM} THEN {_micros(text)} END"


def day(text: Cheap) -> str:
    """The microseconds since 1970 of the beginning of a lexical date, null if it is none."""
    midnight = f"regexp_replace({text}, {quote(f'^({_DAY}){_ZONE}$')}, '$1T00:00:00$5')"
    return f"CASE WHEN {text} RLIKE {DATE_FORM} THEN {_micros(midnight)} END"


def _micros(text: str) -> str:
    return f"unix_micros(CAST({text} AS TIMESTAMP))"


def number_part(name: str, term: Cheap) -> str:
    """YEAR, MONTH, DAY, HOURS, MINUTES or SECONDS of a dateTime; the first three of a date, too."""
    kinds = (DATE_TIME,) if name in _OF_CLOCK else (DATE_TIME, DATE)
    kind = numbers.DECIMAL if name == "SECONDS" else numbers.INTEGER
    return numbers.exact(_part(name, term, kinds), kind)


def zone(term: Cheap) -> str:
    """TZ: the time zone as written, empty if there is none."""
    return _part("TZ", term, (DATE_TIME, DATE))


def zone_duration(term: Cheap) -> str:
    """TIMEZONE: the lexical form of the zone as a dayTimeDuration, null if there is none."""
    return let(
        f"nullif({zone(term)}, '')",
        lambda text: (
            f"CASE WHEN {text} IN ('Z', '+00:00', '-00:00') THEN 'PT0S' ELSE concat("
            f"IF(startswith({text}, '-'), '-', ''), 'PT', "
            + _count(f"substr({text}, 2, 2)", "H")
            + ", "
            + _count(f"substr({text}, 5, 2)", "M")
            + ") END"
        ),
    )


def _count(digits: str, unit: str) -> str:
    return f"IF({digits} = '00', '', concat(CAST({digits} AS INT), '{unit}'))"


def _part(name: str, term: Cheap, kinds: tuple[str, ...]) -> str:
    return let(
        f"CASE WHEN {is_literal(term)} AND {one_of(suffix(term), kinds)} "
        f"THEN {form(term, suffix(term))} END",
        lambda text: (
            f"CASE WHEN coalesce({instant(text)}, {day(text)}) IS NOT NULL "
            f"THEN regexp_extract({text}, {_FORM}, {_GROUPS[name]}) END"
        ),
    )
