"""xsd:dateTime and xsd:date as Spark SQL: their instants and their parts.

A time without a zone is taken for UTC where it is compared (the implicit time zone of XPath). The
24:00:00 of a day is the 00:00:00 of the next one.
"""

from bestbefore.rdf.lexical_forms import LEXICAL_FORMS
from bestbefore.rdf.terms import XSD
from bestbefore.spark.expressions import numbers
from bestbefore.spark.sql import Cheap, has_form, let, once, one_of, quote
from bestbefore.spark.terms import form, is_literal, suffix, type_suffix

DATE_TIME, DATE = type_suffix("dateTime"), type_suffix("date")
_DATE_TIME_FORM, _DATE_FORM = (LEXICAL_FORMS[XSD + kind].pattern for kind in ("dateTime", "date"))

# The parts of what has one of these forms.
_DAY, _CLOCK, _ZONE = r"(-?\d+)-(\d\d)-(\d\d)", r"T(\d\d):(\d\d):([\d.]+)", r"(Z|[+-]\d\d:\d\d)?"
_PARTS = quote(f"^{_DAY}(?:{_CLOCK})?{_ZONE}$")
NUMBER_PARTS = ("YEAR", "MONTH", "DAY", "HOURS", "MINUTES", "SECONDS")
_GROUPS = {part: number for number, part in enumerate((*NUMBER_PARTS, "TZ"), start=1)}


def instant(text: Cheap) -> str:
    """The microseconds since 1970 of a lexical dateTime, null if it is none."""
    return f"CASE WHEN {has_form(text, _DATE_TIME_FORM)} THEN {_micros(plain_form(text))} END"


def day(text: Cheap) -> str:
    """The microseconds since 1970 of the beginning of a lexical date, null if it is none."""
    midnight = f"regexp_replace({text}, {quote(f'^({_DAY}){_ZONE}$')}, '$1T00:00:00$5')"
    return f"CASE WHEN {has_form(text, _DATE_FORM)} THEN {_micros(midnight)} END"


def plain_form(text: Cheap) -> str:
    """A lexical dateTime with the hours that Spark knows: 24:00:00 as 00:00:00 of the next day."""
    today = f"substring_index({text}, 'T', 1)"
    # Spark writes a sign before a year of more than four digits.
    tomorrow = f"ltrim('+', string(date_add(date({today}), 1)))"
    zone_ = f"regexp_extract({text}, {_PARTS}, {_GROUPS['TZ']})"
    return f"IF(contains({text}, 'T24:'), concat({tomorrow}, 'T00:00:00', {zone_}), {text})"


def _micros(text: str) -> str:
    return f"unix_micros(timestamp({text}))"


def text_of_kinds(term: Cheap, suffixes: tuple[str, ...]) -> str:
    """The lexical form of a literal with one of some suffixes, null for other terms."""
    fits = f"{is_literal(term)} AND {one_of(suffix(term), suffixes)}"
    return f"CASE WHEN {fits} THEN {form(term, suffix(term))} END"


def number_part(name: str, term: Cheap) -> str:
    """YEAR, MONTH, DAY, HOURS, MINUTES or SECONDS of a dateTime; the first three of a date, too."""
    kinds = (DATE_TIME,) if name in NUMBER_PARTS[3:] else (DATE_TIME, DATE)
    kind = numbers.DECIMAL if name == "SECONDS" else numbers.INTEGER
    return numbers.exact(_part(name, term, kinds), kind)


def zone(term: Cheap) -> str:
    """TZ: the time zone as written, empty if there is none."""
    return _part("TZ", term, (DATE_TIME, DATE))


def zone_duration(term: Cheap) -> str:
    """TIMEZONE: the lexical form of the zone as a dayTimeDuration, null if there is none."""
    return _duration(f"nullif({zone(term)}, '')")


@once
def _duration(text: Cheap) -> str:
    hours, minutes = _count(f"substr({text}, 2, 2)", "H"), _count(f"substr({text}, 5, 2)", "M")
    return (
        f"CASE WHEN {text} IN ('Z', '+00:00', '-00:00') THEN 'PT0S' ELSE concat("
        f"IF(startswith({text}, '-'), '-', ''), 'PT', {hours}, {minutes}) END"
    )


def _count(digits: str, unit: str) -> str:
    return f"IF({digits} = '00', '', concat(int({digits}), '{unit}'))"


def _part(name: str, term: Cheap, kinds: tuple[str, ...]) -> str:
    return let(
        text_of_kinds(term, kinds),
        lambda text: (
            f"CASE WHEN coalesce({instant(text)}, {day(text)}) IS NOT NULL "
            f"THEN regexp_extract({plain_form(text)}, {_PARTS}, {_GROUPS[name]}) END"
        ),
    )
