"""Printing of terms and expressions, with no more parentheses than their meaning needs."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from bestbefore.errors import InputError
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
from bestbefore.query.hidden import spell_name
from bestbefore.query.text import BLANK_LABEL, VARIABLE_NAME
from bestbefore.rdf.terms import IRI, XSD, BlankNode, Literal, to_sparql

_PLAIN = {
    XSD + "integer": re.compile(r"-?[0-9]+"),
    XSD + "decimal": re.compile(r"-?[0-9]*\.[0-9]+"),
    XSD + "double": re.compile(r"-?(?:[0-9]+\.[0-9]*|\.?[0-9]+)[eE][+\-]?[0-9]+"),
    XSD + "boolean": re.compile(r"true|false"),
}
_OR, _AND, _RELATION, _SUM, _PRODUCT, _SIGN, _ATOM = range(7)
_LEVELS: dict[type[Expression], int] = {
    Or: _OR,
    And: _AND,
    Compare: _RELATION,
    In: _RELATION,
    Not: _SIGN,
    Negate: _SIGN,
}


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

    def expression(self, expression: Expression) -> str:  # noqa: PLR0911 - one case per node
        """An expression as SPARQL text."""
        level = _level(expression)
        match expression:
            case Variable():
                aggregate = self.aggregates.get(expression)
                return print_term(expression) if aggregate is None else self.aggregate(aggregate)
            case Constant(term):
                return print_term(term)
            case Or(several) | And(several):
                sign = " || " if isinstance(expression, Or) else " && "
                return sign.join(self._operand(each, level + 1) for each in several)
            case Compare(op, left, right) | Arithmetic(op, left, right):
                first = level if isinstance(expression, Arithmetic) else level + 1
                return f"{self._operand(left, first)} {op} {self._operand(right, level + 1)}"
            case Not(one) | Negate(one):
                return f"{'!' if isinstance(expression, Not) else '- '}{self._operand(one, _ATOM)}"
            case In(one, choices, negated):
                operator = "NOT IN" if negated else "IN"
                return f"{self._operand(one, level + 1)} {operator} ({self._list(choices)})"
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
        text = self.expression(expression)
        return text if _level(expression) >= level else f"({text})"


def _level(expression: Expression) -> int:
    if isinstance(expression, Arithmetic):
        return _SUM if expression.op in "+-" else _PRODUCT
    return _LEVELS.get(type(expression), _ATOM)
