"""Comparison of values (SPARQL 1.1 sections 11.2 and 17.3) and the order of terms (15.1).

What is compared is a struct: `f`, the family a term belongs to, and its value: `n`, a number, for
the families in which values are ordered as numbers, `x`, a text, for the others.
"""

from bestbefore.spark.expressions import dates, numbers
from bestbefore.spark.sql import Cheap, field, let, let_both, one_of, quote
from bestbefore.spark.terms import (
    form,
    is_blank,
    is_iri,
    is_literal,
    literal,
    suffix,
    text,
    type_suffix,
)

NUMBER, DATE_TIME, DATE, BOOLEAN, STRING, TAGGED, UNKNOWN, IRI, BLANK = range(1, 10)
BOOLEAN_SUFFIX = type_suffix("boolean")


def member(family: int, *, number: str = numbers.NO_NUMBER, value: str) -> str:
    """What is compared of a value."""
    return f"named_struct('f', {family}, 'n', {number}, 'x', {value})"


def comparable(term: Cheap) -> str:
    """What is compared of a term, null for an error."""
    of_literal = let(
        suffix(term),
        lambda ending: let(form(term, ending), lambda lexical: _literal(term, lexical, ending)),
    )
    return (
        f"CASE WHEN {is_iri(term)} THEN {member(IRI, value=term)} "
        f"WHEN {is_blank(term)} THEN {member(BLANK, value=term)} "
        f"WHEN {is_literal(term)} THEN {of_literal} END"
    )


def _literal(term: Cheap, lexical: Cheap, ending: Cheap) -> str:
    """What is compared of a literal; one whose form is wrong for its type is of no known family."""

    def valued(family: int, number: str) -> str:
        found = let(
            number,
            lambda one: (
                f"CASE WHEN {one} IS NOT NULL THEN {member(family, number=one, value=term)} END"
            ),
        )
        return f"coalesce({found}, {member(UNKNOWN, value=term)})"

    truth = (
        f"CASE WHEN {lexical} IN ('true', '1') THEN 1 WHEN {lexical} IN ('false', '0') THEN 0 END"
    )
    whole = numbers.INTEGER
    return (
        f"CASE WHEN {ending} = '' THEN {member(STRING, value=lexical)} "
        f"WHEN startswith({ending}, '@') THEN {member(TAGGED, value=term)} "
        f"WHEN {one_of(ending, numbers.SUFFIXES)} "
        f"THEN {valued(NUMBER, numbers.of_literal(lexical, ending))} "
        f"WHEN {ending} = {quote(BOOLEAN_SUFFIX)} "
        f"THEN {valued(BOOLEAN, numbers.exact(truth, whole))} "
        f"WHEN {ending} = {quote(dates.DATE_TIME)} "
        f"THEN {valued(DATE_TIME, numbers.exact(dates.instant(lexical), whole))} "
        f"WHEN {ending} = {quote(dates.DATE)} "
        f"THEN {valued(DATE, numbers.exact(dates.day(lexical), whole))} "
        f"ELSE {member(UNKNOWN, value=term)} END"
    )


def equal(left: str, right: str) -> str:
    """Whether two comparable values are equal; null where that cannot be known."""
    return let_both(left, right, _equal)


def _equal(one: Cheap, other: Cheap) -> str:
    # A literal of an unknown type may have the value of any other literal without a language.
    open_literals = (
        f"({one}.f = {UNKNOWN} OR {other}.f = {UNKNOWN}) AND {one}.f <= {UNKNOWN} "
        f"AND {other}.f <= {UNKNOWN} AND {one}.f != {TAGGED} AND {other}.f != {TAGGED}"
    )
    same = f"{one}.f = {other}.f AND {one}.x = {other}.x"
    return (
        f"CASE WHEN {one}.f = {other}.f AND {one}.f <= {BOOLEAN} "
        f"THEN {numbers.compare('=', field(one, 'n'), field(other, 'n'))} "
        f"WHEN {one} IS NULL OR {other} IS NULL THEN NULL "
        f"WHEN {open_literals} THEN nullif({same}, FALSE) ELSE {same} END"
    )


def equals_number(term: Cheap, number: Cheap, kind: int) -> str:
    """Whether a term has the value of a number that a query wrote."""
    ending = suffix(term)
    lexical = form(term, ending)
    return (
        f"CASE WHEN {is_literal(term)} THEN CASE "
        f"{numbers.compare_literal('=', (lexical, ending), number, kind)} "
        f"WHEN {_is_open(lexical, ending)} THEN NULL ELSE FALSE END "
        f"WHEN {term} IS NOT NULL THEN FALSE END"
    )


def equals_string(term: Cheap, characters: Cheap) -> str:
    """Whether a term is a plain string."""
    ending = suffix(term)
    lexical = form(term, ending)
    is_open = f"{_is_open(lexical, ending)} AND NOT {numbers.is_number(lexical, ending)}"
    return (
        f"CASE WHEN {term} = {literal(characters)} THEN TRUE "
        f"WHEN {is_literal(term)} AND {is_open} THEN NULL "
        f"WHEN {term} IS NOT NULL AND {characters} IS NOT NULL THEN FALSE END"
    )


def _is_open(lexical: Cheap, ending: Cheap) -> str:
    """Whether the value of a literal that is no number is not known.

    Its type is not, or its form is wrong for it.
    """
    known = {
        dates.DATE_TIME: f"{dates.instant(lexical)} IS NULL",
        dates.DATE: f"{dates.day(lexical)} IS NULL",
        BOOLEAN_SUFFIX: f"{lexical} NOT IN ('true', 'false', '1', '0')",
    }
    cases = (f"WHEN {ending} = {quote(datatype)} THEN {test}" for datatype, test in known.items())
    return f"CASE WHEN NOT startswith({ending}, '^') THEN FALSE {' '.join(cases)} ELSE TRUE END"


def number_ordered(op: str, term: Cheap, number: Cheap, kind: int) -> str:
    """Whether a term and a number that a query wrote are in an order; null for other terms."""
    ending = suffix(term)
    cases = numbers.compare_literal(op, (form(term, ending), ending), number, kind)
    return f"CASE WHEN {is_literal(term)} THEN CASE {cases} END END"


def ordered(op: str, left: str, right: str) -> str:
    """Whether two comparable values are in an order; null where their families have none."""
    return let_both(
        left,
        right,
        lambda one, other: (
            f"CASE WHEN {one}.f = {other}.f THEN CASE WHEN {one}.f <= {BOOLEAN} "
            f"THEN {numbers.compare(op, field(one, 'n'), field(other, 'n'))} "
            f"WHEN {one}.f = {STRING} THEN {one}.x {op} {other}.x END END"
        ),
    )


def sort_key(term: Cheap) -> str:
    """What ORDER BY sorts a term by: null, blank nodes, IRIs, literals; literals by their value."""
    return let(
        comparable(term),
        lambda one: (
            f"CASE WHEN {one} IS NOT NULL THEN named_struct("
            f"'kind', CASE {one}.f WHEN {BLANK} THEN 0 WHEN {IRI} THEN 1 ELSE 2 END, "
            f"'family', {one}.f, 'double', {numbers.double_of(field(one, 'n'))}, "
            f"'exact', {one}.n.e, 'text', {text(term)}, 'term', {term}) END"
        ),
    )
