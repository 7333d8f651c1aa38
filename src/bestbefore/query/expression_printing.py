"""Printing of terms, expressions and paths, with no more parentheses than their meaning needs."""

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
from bestbefore.query.grammar.prologue import spell_name
from bestbefore.query.grammar.tokens import BLANK_LABEL, NUMBERS, VARIABLE_NAME
from bestbefore.query.paths import (
    Alternative,
    Inverse,
    Link,
    NegatedSet,
    OneOrMore,
    Path,
    Sequence,
    ZeroOrMore,
    ZeroOrOne,
)
from bestbefore.rdf.terms import IRI, XSD, BlankNode, Literal, to_sparql

_PLAIN = {
    XSD + "boolean": re.compile(r"true|false"),
    **{XSD + kind: re.compile(f"-?(?:{form.pattern})") for kind, form in NUMBERS.items()},
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
_ALTERNATIVE, _SEQUENCE, _INVERSE, _REPEATED, _PRIMARY = range(5)
_PATH_LEVELS: dict[type[Path], int] = {
    Alternative: _ALTERNATIVE,
    Sequence: _SEQUENCE,
    Inverse: _INVERSE,
    ZeroOrMore: _REPEATED,
    OneOrMore: _REPEATED,
    ZeroOrOne: _REPEATED,
    Link: _PRIMARY,
    NegatedSet: _PRIMARY,
}
_SIGNS: dict[type[Path], str] = {ZeroOrMore: "*", OneOrMore: "+", ZeroOrOne: "?"}


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
                return sign.join(self._operand(part, level + 1) for part in several)
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


def print_path(path: Path) -> str:
    """A property path as SPARQL text."""
    match path:
        case Link(predicate):
            return to_sparql(predicate)
        case Alternative(left, right):
            return f"{_part(left, _ALTERNATIVE)}|{_part(right, _SEQUENCE)}"
        case Sequence(left, right):
            return f"{_part(left, _SEQUENCE)}/{_part(right, _INVERSE)}"
        case Inverse(inner):
            return f"^{_part(inner, _REPEATED)}"
        case ZeroOrMore(inner) | OneOrMore(inner) | ZeroOrOne(inner):
            return f"{_part(inner, _PRIMARY)}{_SIGNS[type(path)]}"
        case NegatedSet(forward, backward):
            steps = (*map(to_sparql, forward), *(f"^{to_sparql(iri)}" for iri in backward))
            return f"!({'|'.join(steps)})"
    assert_never(path)


def _part(path: Path, level: int) -> str:
    """A path in its place, in parentheses if it binds less than the place needs."""
    text = print_path(path)
    return text if _PATH_LEVELS[type(path)] >= level else f"({text})"
