"""Printing of terms, expressions and paths, with no more parentheses than their meaning needs."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from bestbefore.errors import InputError
from bestbefore.query import paths
from bestbefore.query.algebra import Pattern, PatternTerm
from bestbefore.query.expressions import (
    Aggregate,
    And,
    Arithmetic,
    Call,
    Cast,
    Compare,
    Constant,
    Exists,
    Expression,
    In,
    Negate,
    Not,
    Or,
    Variable,
)
from bestbefore.query.grammar.prologue import spell_name
from bestbefore.query.grammar.tokens import BLANK_LABEL, NUMBERS, VARIABLE_NAME
from bestbefore.query.paths import Path
from bestbefore.rdf.terms import IRI, XSD, BlankNode, Literal, to_sparql

_PLAIN = {
    XSD + "boolean": re.compile(r"true|false"),
    **{XSD + kind: re.compile(f"-?(?:{form.pattern})") for kind, form in NUMBERS.items()},
}
_OR, _AND, _RELATION, _SUM, _PRODUCT, _SIGN, _ATOM = range(7)
_ALTERNATIVE, _SEQUENCE, _INVERSE, _REPEATED, _PRIMARY = range(5)
_SIGNS: dict[type[Path], str] = {paths.ZeroOrMore: "*", paths.OneOrMore: "+", paths.ZeroOrOne: "?"}


def print_term(term: PatternTerm) -> str:
    """A term or a variable as SPARQL text; numbers and booleans as people write them."""
    match term:
        case Variable(name) if VARIABLE_NAME.fullmatch(spell_name(name)):
            return f"?{spell_name(name)}"
        case BlankNode(label) if BLANK_LABEL.fullmatch(label):
            return f"_:{label}"
        case Literal(lexical, datatype, None) if datatype in _PLAIN and _PLAIN[datatype].fullmatch(
            lexical
        ):
            return lexical
        case Variable(name):
            raise InputError(f"{name!r} cannot be the name of a variable in a SPARQL query")
    return to_sparql(term)


@dataclass(frozen=True, slots=True)
class Wording:
    """The words for what an expression takes from around it: aggregates, and patterns of EXISTS."""

    group: Callable[[Pattern], str]
    aggregates: Mapping[Variable, Aggregate] = field(default_factory=dict)

    def expression(self, expression: Expression) -> str:
        """An expression as SPARQL text."""
        _, text = self._worded(expression)
        return text

    def _worded(self, expression: Expression) -> tuple[int, str]:
        """How strongly an expression binds, and its text."""
        match expression:
            case Or(several) | And(several):
                level, sign = (_OR, " || ") if isinstance(expression, Or) else (_AND, " && ")
                return level, sign.join(self._operand(part, level + 1) for part in several)
            case Compare(op, left, right):
                first, second = self._operand(left, _SUM), self._operand(right, _SUM)
                return _RELATION, f"{first} {op} {second}"
            case In(one, choices, negated):
                operator = "NOT IN" if negated else "IN"
                return _RELATION, f"{self._operand(one, _SUM)} {operator} ({self._list(choices)})"
            case Arithmetic(op, left, right):
                level = _SUM if op in "+-" else _PRODUCT
                return level, f"{self._operand(left, level)} {op} {self._operand(right, level + 1)}"
            case Not(one) | Negate(one):
                sign = "!" if isinstance(expression, Not) else "- "
                return _SIGN, f"{sign}{self._operand(one, _ATOM)}"
        return _ATOM, self._atom(expression)

    def _atom(self, expression: Variable | Constant | Call | Cast | Exists) -> str:
        match expression:
            case Variable():
                aggregate = self.aggregates.get(expression)
                return print_term(expression) if aggregate is None else self.aggregate(aggregate)
            case Constant(term):
                return print_term(term)
            case Call(function, arguments):
                return f"{function}({self._list(arguments)})"
            case Cast(datatype, operand):
                return f"{to_sparql(IRI(XSD + datatype))}({self.expression(operand)})"
            case Exists(pattern, negated):
                return f"{'NOT ' if negated else ''}EXISTS {self.group(pattern)}"
        assert_never(expression)

    def aggregate(self, aggregate: Aggregate) -> str:
        """An aggregate as SPARQL text."""
        argument = "*" if aggregate.argument is None else self.expression(aggregate.argument)
        distinct = "DISTINCT " if aggregate.distinct else ""
        separator = aggregate.separator
        ending = "" if separator == " " else f" ; SEPARATOR={to_sparql(Literal(separator))}"
        return f"{aggregate.function}({distinct}{argument}{ending})"

    def _list(self, expressions: tuple[Expression, ...]) -> str:
        return ", ".join(map(self.expression, expressions))

    def _operand(self, expression: Expression, level: int) -> str:
        """An expression in its place, in parentheses if it binds less than the place needs."""
        own_level, text = self._worded(expression)
        return text if own_level >= level else f"({text})"


def print_path(path: Path) -> str:
    """A property path as SPARQL text."""
    _, text = _worded_path(path)
    return text


def _worded_path(path: Path) -> tuple[int, str]:
    """How strongly a path binds, and its text."""
    match path:
        case paths.Link(predicate):
            return _PRIMARY, to_sparql(predicate)
        case paths.Alternative(left, right):
            return _ALTERNATIVE, f"{_part(left, _ALTERNATIVE)}|{_part(right, _SEQUENCE)}"
        case paths.Sequence(left, right):
            return _SEQUENCE, f"{_part(left, _SEQUENCE)}/{_part(right, _INVERSE)}"
        case paths.Inverse(inner):
            return _INVERSE, f"^{_part(inner, _REPEATED)}"
        case paths.ZeroOrMore(inner) | paths.OneOrMore(inner) | paths.ZeroOrOne(inner):
            return _REPEATED, f"{_part(inner, _PRIMARY)}{_SIGNS[type(path)]}"
        case paths.NegatedSet(forward, backward):
            steps = (*map(to_sparql, forward), *(f"^{to_sparql(iri)}" for iri in backward))
            return _PRIMARY, f"!({'|'.join(steps)})"
    assert_never(path)


def _part(path: Path, level: int) -> str:
    """A path in its place, in parentheses if it binds less than the place needs."""
    own_level, text = _worded_path(path)
    return text if own_level >= level else f"({text})"
