"""Comparison of values (SPARQL 1.1 sections 11.2 and 17.3) and the order of terms (15.1).

What is compared is a struct: `f`, the family a term belongs to, and its value: `n`, a number, for
the families in which values are ordered as numbers, `x`, a text, for the others.
"""

from bestbefore.spark import terms
from bestbefore.spark.expressions import dates, numbers
from bestbefore.spark.sql import Cheap, both_once, field, if_known, let, once, one_of, quote
from bestbefore.spark.terms import form, is_literal, suffix

NUMBER, DATE_TIME, DATE, BOOLEAN, STRING, TAGGED, UNKNOWN, IRI, BLANK = range(1, 10)
BOOLEAN_SUFFIX = terms.type_suffix("boolean")


def member(family: int, *, number: str = numbers.NO_NUMBER, value: str) -> str:
    """What is compared of a value."""
    return f"named_struct('f', {family}, 'n', {number}, 'x', {value})"


@once
def comparable(term: Cheap) -> str:
    """What is compared of a term, null for an error."""
    return (
        f"CASE WHEN {terms.is_iri(term)} THEN {member(IRI, value=term)} "
        f"WHEN {terms.is_blank(term)} THEN {member(BLANK, value=term)} "
        f"WHEN {is_literal(term)} THEN {_literal(term)} END"
    )


def _literal(term: Cheap) -> str:
    """What is compared of a literal; one whose form is wrong for its type is of no known family."""
    ending = suffix(term)
    lexical, unknown = form(term, ending), member(UNKNOWN, value=term)

    def valued(family: int, number: str) -> str:
        found = let(number, lambda one: if_known(one, member(family, number=one, value=term)))
        return f"coalesce({found}, {unknown})"

    cases = " ".join(
        f"WHEN {ending} = {quote(datatype)} "
        f"THEN {valued(family, numbers.exact(value, numbers.INTEGER))}"
        for datatype, (family, value) in _whole_numbers(lexical).items()
    )
    return (
        f"CASE WHEN {ending} = '' THEN {member(STRING, value=lexical)} "
        f"WHEN startswith({ending}, '@') THEN {member(TAGGED, value=term)} "
        f"WHEN {one_of(ending, numbers.SUFFIXES)} "
        f"THEN {valued(NUMBER, numbers.of_literal(lexical, ending))} {cases} ELSE {unknown} END"
    )


def _whole_numbers(lexical: Cheap) -> dict[str, tuple[int, str]]:
    """The types whose values are ordered as whole numbers: their family, and the value of a form.

    It is null where the form is wrong.
    """
    truth = (
        f"CASE WHEN {lexical} IN ('true', '1') THEN 1 WHEN {lexical} IN ('false', '0') THEN 0 END"
    )
    return {
        BOOLEAN_SUFFIX: (BOOLEAN, truth),
        dates.DATE_TIME: (DATE_TIME, dates.instant(lexical)),
        dates.DATE: (DATE, dates.day(lexical)),
    }


@both_once
def equal(one: Cheap, other: Cheap) -> str:
    """Whether two comparable values are equal; null where that cannot be known."""
    # A literal of an unknown type may have the value of any other literal without a language.
    open_literals = (
        f"({one}.f = {UNKNOWN} OR {other}.f = {UNKNOWN}) AND {one}.f <= {UNKNOWN} "
        f"AND {other}.f <= {UNKNOWN} AND {one}.f != {TAGGED} AND {other}.f != {TAGGED}"
    )
    same = f"{one}.f = {other}.f AND {one}.x = {other}.x"
    return (
        f"CASE WHEN {one}.f = {other}.f AND {one}.f <= {BOOLEAN} "
        f"THEN {numbers.compare(field(one, 'n'), field(other, 'n'), '=')} "
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
        f"CASE WHEN {term} = {terms.literal(characters)} THEN TRUE "
        f"WHEN {is_literal(term)} AND {is_open} THEN NULL "
        f"WHEN {term} IS NOT NULL AND {characters} IS NOT NULL THEN FALSE END"
    )


def _is_open(lexical: Cheap, ending: Cheap) -> str:
    """Whether the type of a literal that is no number is not known, or its form wrong for it."""
    cases = " ".join(
        f"WHEN {ending} = {quote(datatype)} THEN {value} IS NULL"
        for datatype, (_, value) in _whole_numbers(lexical).items()
    )
    return f"CASE WHEN NOT startswith({ending}, '^') THEN FALSE {cases} ELSE TRUE END"


def number_ordered(op: str, term: Cheap, number: Cheap, kind: int) -> str:
    """Whether a term and a number that a query wrote are in an order; null for other terms."""
    ending = suffix(term)
    cases = numbers.compare_literal(op, (form(term, ending), ending), number, kind)
    return f"CASE WHEN {is_literal(term)} THEN CASE {cases} END END"


@both_once
def ordered(one: Cheap, other: Cheap, op: str) -> str:
    """Whether two comparable values are in an order; null where their families have none."""
    return (
        f"CASE WHEN {one}.f = {other}.f THEN CASE WHEN {one}.f <= {BOOLEAN} "
        f"THEN {numbers.compare(field(one, 'n'), field(other, 'n'), op)} "
        f"WHEN {one}.f = {STRING} THEN {one}.x {op} {other}.x END END"
    )


@once
def sort_key(term: Cheap) -> str:
    """What ORDER BY sorts a term by: null, blank nodes, IRIs, literals; literals by their value."""
    return let(
        comparable(term),
        lambda one: if_known(
            one,
            "named_struct("
            f"'kind', CASE {one}.f WHEN {BLANK} THEN 0 WHEN {IRI} THEN 1 ELSE 2 END, "
            f"'family', {one}.f, 'double', {numbers.double_of(field(one, 'n'))}, "
            f"'exact', {one}.n.e, 'text', {terms.text(term)}, 'term', {term})",
        ),
    )
