"""Printing of terms and expressions, with no more parentheses than their meaning needs."""

import re
from typing import assert_never

from bestbefore.errors import InputError
from bestbefore.query.algebra import PatternTerm
from bestbefore.query.expressions import (
    And,
    Arithmetic,
    Call,
    Compare,
    Constant,
    Expression,
    In,
    Negate,
    Not,
    Or,
    Variable,
)
from bestbefore.query.text import BLANK_LABEL, VARIABLE_NAME
from bestbefore.rdf.terms import XSD, BlankNode, Literal, to_sparql

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
    Variable: _ATOM,
    Constant: _ATOM,
    Call: _ATOM,
}


def print_term(term: PatternTerm) -> str:
    """A term or a variable as SPARQL text; numbers and booleans as people write them."""
    match term:
        case Variable(name) if VARIABLE_NAME.fullmatch(name):
            return f"?{name}"
        case BlankNode(label) if BLANK_LABEL.fullmatch(label):
            return f"_:{label}"
        case Literal(lexical, datatype, None) if datatype in _PLAIN and _PLAIN[datatype].fullmatch(
            lexical
        ):
            return lexical
        case Variable(name):
            raise InputError(f"{name!r} cannot be the name of a variable in a SPARQL query")
    return to_sparql(term)


def print_expression(expression: Expression) -> str:
    """An expression as SPARQL text."""
    level = _level(expression)
    match expression:
        case Variable() | Constant():
            return print_term(expression.term if isinstance(expression, Constant) else expression)
        case Or(several) | And(several):
            sign = " || " if isinstance(expression, Or) else " && "
            return sign.join(_operand(each, level + 1) for each in several)
        case Compare(op, left, right) | Arithmetic(op, left, right):
            chains = isinstance(expression, Arithmetic)
            return f"{_operand(left, level + (not chains))} {op} {_operand(right, level + 1)}"
        case Not(one) | Negate(one):
            return f"{'!' if isinstance(expression, Not) else '- '}{_operand(one, _ATOM)}"
        case In(one, choices, negated):
            return f"{_operand(one, level + 1)} {'NOT IN' if negated else 'IN'} ({_list(choices)})"
        case Call(function, arguments):
            return f"{function}({_list(arguments)})"
    assert_never(expression)


def _list(expressions: tuple[Expression, ...]) -> str:
    return ", ".join(map(print_expression, expressions))


def _operand(expression: Expression, level: int) -> str:
    """An expression in its place, in parentheses if it binds less than the place needs."""
    text = print_expression(expression)
    return text if _level(expression) >= level else f"({text})"


def _level(expression: Expression) -> int:
    if isinstance(expression, Arithmetic):
        return _SUM if expression.op in "+-" else _PRODUCT
    return _LEVELS[type(expression)]
