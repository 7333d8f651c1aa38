"""Compiled expressions: SQL text together with what is known of its value.

Knowing that a value is a number, a truth or a string saves writing it as a term and reading that
again. Null is the SPARQL error, or an unbound variable.
"""

from dataclasses import dataclass
from typing import assert_never

from bestbefore.rdf.terms import IRI, XSD, Literal, encode
from bestbefore.spark.expressions import comparison, numbers
from bestbefore.spark.sql import NO_TERM, Cheap, call, if_known, let, once, one_of, quote
from bestbefore.spark.terms import form, is_literal, literal, suffix, text, type_suffix


@dataclass(frozen=True)
class Terms:
    """Encoded RDF terms; one that a query wrote may be `alone`: nothing else equals it."""

    sql: str
    alone: bool = False


@dataclass(frozen=True)
class Booleans:
    """Truth values."""

    sql: str


@dataclass(frozen=True)
class Numbers:
    """Numbers, as the structs of `numbers`; `written` is the term that a query wrote, if it did."""

    sql: str
    written: Literal | None = None

    @property
    def kind(self) -> int | None:
        """The rank of a written number in the order of promotion."""
        return None if self.written is None else numbers.kind_of(self.written.datatype)


@dataclass(frozen=True)
class Strings:
    """The characters of plain strings."""

    sql: str


Value = Terms | Booleans | Numbers | Strings

ERROR = Terms(NO_TERM)


def constant(term: IRI | Literal) -> Value:
    """A term as written in a query."""
    if isinstance(term, Literal) and term.language is None:
        number = numbers.constant(term.lexical, term.datatype)
        if number is not None:
            return Numbers(number, term)
        if encode(term) == f'"{term.lexical}"':
            return Strings(quote(term.lexical))
        if term.datatype == f"{XSD}boolean" and term.lexical in ("true", "false"):
            return Booleans(Cheap(term.lexical.upper()))
    alone = isinstance(term, IRI) or term.language is not None
    return Terms(quote(encode(term)), alone)


def term_of(value: Value) -> str:
    """A value as an encoded term."""
    match value:
        case Terms(sql):
            return sql
        case Booleans(sql):
            return literal(f"string({sql})", quote(type_suffix("boolean")))
        case Numbers(sql, written):
            return numbers.to_term(sql) if written is None else quote(encode(written))
        case Strings(sql):
            return literal(sql)
    assert_never(value)


def truth_of(value: Value) -> str:
    """The effective boolean value (SPARQL 1.1 section 17.2.2)."""
    match value:
        case Booleans(sql):
            return sql
        case Strings(sql):
            return call("not", f"{sql} = ''")
        case Numbers(sql):
            return numbers.truth(sql)
        case Terms(sql):
            return _truth_of_term(sql)
    assert_never(value)


@once
def _truth_of_term(term: Cheap) -> str:
    ending = suffix(term)
    lexical = form(term, ending)
    number = numbers.truth(numbers.of_literal(lexical, ending))
    return (
        f"CASE WHEN {is_literal(term)} THEN "
        f"CASE WHEN {ending} = '' OR startswith({ending}, '@') THEN {lexical} != '' "
        f"WHEN {ending} = {quote(type_suffix('boolean'))} THEN {lexical} IN ('true', '1') "
        # A form that is wrong for its type is no error here, but false.
        f"WHEN {one_of(ending, numbers.SUFFIXES)} THEN coalesce({number}, FALSE) END END"
    )


def number_of(value: Value) -> str:
    """A value as a number, null if it is none."""
    match value:
        case Numbers(sql):
            return sql
        case Terms(sql):
            return numbers.of_term(sql)
        case Booleans() | Strings():
            return numbers.NO_NUMBER
    assert_never(value)


def text_of(value: Value) -> str:
    """The result of STR, null for a blank node."""
    match value:
        case Strings(sql):
            return sql
        case Numbers(sql, written):
            return numbers.canonical(sql) if written is None else quote(written.lexical)
        case Booleans(sql):
            return f"string({sql})"
        case Terms(sql):
            return text(sql)
    assert_never(value)


def string_of(value: Value) -> str:
    """The characters of a plain string, null for anything else."""
    return _characters(value, "{} = ''")


def characters_of(value: Value) -> str:
    """The characters of a plain or language-tagged string, null for anything else."""
    return _characters(value, _NO_DATATYPE)


def _characters(value: Value, ending: str) -> str:
    match value:
        case Strings(sql):
            return sql
        case Terms(sql):
            return let(sql, lambda term: _if_string(term, form(term, suffix(term)), ending))
        case Booleans() | Numbers():
            return NO_TERM
    assert_never(value)


def tagged_string_of(value: Value) -> str:
    """A plain or language-tagged string as a term, null for anything else."""
    if isinstance(value, Terms):
        return let(value.sql, lambda term: _if_string(term, term, _NO_DATATYPE))
    return literal(value.sql) if isinstance(value, Strings) else NO_TERM


_NO_DATATYPE = "NOT startswith({}, '^')"


def _if_string(term: Cheap, then: str, ending: str) -> str:
    """Something made of a literal whose suffix satisfies a condition."""
    return f"CASE WHEN {is_literal(term)} AND {ending.format(suffix(term))} THEN {then} END"


def comparable(value: Value) -> str:
    """What is compared of a value."""
    match value:
        case Terms(sql):
            return comparison.comparable(sql)
        case Numbers(sql):
            return _family(comparison.NUMBER, sql)
        case Booleans(sql):
            number = numbers.exact(f"int({sql})", numbers.INTEGER)
            return _family(comparison.BOOLEAN, number)
        case Strings(sql):
            return _string_family(sql)
    assert_never(value)


def _family(family: int, number: str) -> str:
    if isinstance(number, Cheap):
        return Cheap(comparison.member(family, number=number, value=NO_TERM))
    return let(
        number,
        lambda one: if_known(one, comparison.member(family, number=one, value=NO_TERM)),
    )


@once
def _string_family(characters: Cheap) -> str:
    return if_known(characters, comparison.member(comparison.STRING, value=characters))
