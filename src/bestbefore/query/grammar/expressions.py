"""Expressions: the productions [110] to [128] of SPARQL 1.1.

Operators are read by how strongly they bind, so that a pair of parentheses costs few stack frames.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import get_args

from bestbefore.errors import nearest
from bestbefore.query.algebra import Pattern
from bestbefore.query.expressions import (
    AGGREGATES,
    CASTS,
    FUNCTIONS,
    Aggregate,
    AggregateFunction,
    And,
    Arithmetic,
    ArithmeticOperator,
    Call,
    Cast,
    Compare,
    ComparisonOperator,
    Constant,
    Exists,
    Expression,
    In,
    Negate,
    Not,
    Or,
    Variable,
)
from bestbefore.query.grammar import terms
from bestbefore.query.grammar.prologue import string_value
from bestbefore.query.grammar.reader import Reader, first
from bestbefore.query.grammar.tokens import Kind, Token
from bestbefore.query.refusals import Refusal
from bestbefore.rdf.iris import is_absolute_iri
from bestbefore.rdf.terms import IRI, XSD, XSD_STRING, Literal

_COMPARISONS: dict[str, ComparisonOperator] = {op: op for op in get_args(ComparisonOperator)}
_ARITHMETIC: dict[str, ArithmeticOperator] = {op: op for op in get_args(ArithmeticOperator)}
_AGGREGATES: dict[str, AggregateFunction] = {name: name for name in AGGREGATES}
_SAME_FUNCTION = {"ISURI": "ISIRI", "URI": "IRI"}
_OR, _AND, _RELATION, _SUM, _PRODUCT = range(5)
_LEVELS = {
    "||": _OR,
    "&&": _AND,
    **dict.fromkeys((*_COMPARISONS, "IN", "NOT"), _RELATION),
    **dict.fromkeys(("+", "-"), _SUM),
    **dict.fromkeys(("*", "/"), _PRODUCT),
}
_NAMES = ("||", "&&", "a comparison", "an arithmetic operator", "an arithmetic operator")
_CALL_FIRST = first("a function", *FUNCTIONS, *_SAME_FUNCTION, *AGGREGATES, "EXISTS", "NOT")


@dataclass(slots=True)
class Aggregates:
    """The aggregates of one SELECT, each under the hidden variable of its result."""

    found: dict[Aggregate, Variable] = field(default_factory=dict)

    def variable(self, aggregate: Aggregate) -> Variable:
        """The variable that stands for an aggregate in expressions; equal ones share it."""
        return self.found.setdefault(aggregate, Variable(f".a{len(self.found) + 1}"))

    def named(self) -> tuple[tuple[Variable, Aggregate], ...]:
        """The aggregates with their variables, as `Group` has them."""
        return tuple((variable, aggregate) for aggregate, variable in self.found.items())


@dataclass(frozen=True, slots=True)
class Clause:
    """The clause that an expression stands in, by its name in messages.

    `group` reads the pattern of EXISTS; without `aggregates` none may stand in the clause.
    """

    name: str
    group: Callable[[Reader], Pattern]
    aggregates: Aggregates | None = None


def read_expression(reader: Reader, clause: Clause, weakest: int = _OR) -> Expression:
    """Read [110] Expression, of operators that bind at least as strongly as the weakest.

    A comparison is followed by no other one: `?a = ?b = ?c` is no expression.
    """
    start = reader.token
    left, strongest = _read_unary(reader, clause), _PRODUCT
    while (level := _operator_level(reader, weakest, strongest)) is not None:
        left = reader.note(_read_operation(reader, clause, left, level), start)
        strongest = _AND if level == _RELATION else level
    return left


def _operator_level(reader: Reader, weakest: int, strongest: int) -> int | None:
    """How strongly the operator at the cursor binds, if it is one of those that may stand here."""
    if reader.token.kind is Kind.IRI:
        reader.split_iri()
    level = _LEVELS.get(reader.token.terminal)
    if level is not None and weakest <= level <= strongest:
        return level
    reader.want(*_NAMES[weakest : strongest + 1])
    return None


def _read_operation(reader: Reader, clause: Clause, left: Expression, level: int) -> Expression:
    """Read an operator and what follows it, after its left side."""
    operator = reader.take().terminal
    if level in (_OR, _AND):
        operands = [left, read_expression(reader, clause, level + 1)]
        while reader.accept(operator):
            operands.append(read_expression(reader, clause, level + 1))
        return Or(tuple(operands)) if level == _OR else And(tuple(operands))
    if operator in ("IN", "NOT"):
        if operator == "NOT":
            reader.expect("IN")
        return In(left, read_list(reader, clause), negated=operator == "NOT")
    right = read_expression(reader, clause, level + 1)
    if level == _RELATION:
        return Compare(_COMPARISONS[operator], left, right)
    return Arithmetic(_ARITHMETIC[operator], left, right)


def _read_unary(reader: Reader, clause: Clause) -> Expression:
    """Read [118] UnaryExpression; a sign that touches a number is part of the number.

    A plus that is no sign changes no number, but is an error on what is none; so do two minuses.
    """
    token = reader.token
    match token.terminal:
        case "!":
            reader.take()
            return reader.note(Not(_read_primary(reader, clause)), token)
        case "+" | "-" if not terms.signed_number_follows(reader):
            reader.take()
            negative = reader.note(Negate(_read_primary(reader, clause)), token)
            return negative if token.text == "-" else reader.note(Negate(negative), token)
    return _read_primary(reader, clause)


def _read_primary(reader: Reader, clause: Clause) -> Expression:
    """Read [119] PrimaryExpression."""
    token = reader.token
    if reader.at(Kind.VARIABLE):
        return reader.note(terms.read_variable(reader), token)
    if reader.at(terms.IRI_FIRST):
        return _read_iri_or_function(reader, clause)
    if reader.at(terms.LITERAL_FIRST):
        return reader.note(Constant(terms.read_literal(reader)), token)
    if reader.at("("):
        return read_bracketted(reader, clause)
    return read_call(reader, clause)


def read_bracketted(reader: Reader, clause: Clause) -> Expression:
    """Read [120] BrackettedExpression."""
    reader.expect("(")
    expression = read_expression(reader, clause)
    reader.expect(")")
    return expression


def read_named(reader: Reader, clause: Clause) -> tuple[Expression, Token]:
    """Read `( Expression AS Var )`: the expression, and the token of its name."""
    reader.expect("(")
    expression = read_expression(reader, clause)
    reader.expect("AS")
    name = reader.expect(Kind.VARIABLE)
    reader.expect(")")
    return expression, name


def read_constraint(reader: Reader, clause: Clause) -> Expression:
    """Read [69] Constraint: parentheses, or a call of a function."""
    if reader.at(terms.IRI_FIRST):
        return _read_function(reader, clause)
    return read_bracketted(reader, clause) if reader.at("(") else read_call(reader, clause)


def constraint_follows(reader: Reader) -> bool:
    """Whether a [69] Constraint stands at the cursor."""
    return reader.at("(") or reader.at(terms.IRI_FIRST) or reader.at(_CALL_FIRST)


def read_list(reader: Reader, clause: Clause) -> tuple[Expression, ...]:
    """Read [71] ExpressionList."""
    reader.expect("(")
    if reader.accept(")"):
        return ()
    several = [read_expression(reader, clause)]
    while reader.accept(","):
        several.append(read_expression(reader, clause))
    reader.expect(")")
    return tuple(several)


def read_call(reader: Reader, clause: Clause) -> Expression:
    """Read [121] BuiltInCall."""
    if not reader.at(_CALL_FIRST):
        raise reader.unexpected()
    token = reader.take()
    name = token.terminal
    if name in ("EXISTS", "NOT"):
        if name == "NOT":
            reader.expect("EXISTS")
        return reader.note(Exists(clause.group(reader), negated=name == "NOT"), token)
    if name in _AGGREGATES:
        return reader.note(_read_aggregate(reader, clause, token), token)
    return reader.note(_read_built_in(reader, clause, _SAME_FUNCTION.get(name, name)), token)


def _read_built_in(reader: Reader, clause: Clause, function: str) -> Expression:
    """Read the arguments of a function, which takes as many as the grammar says."""
    fewest, most = FUNCTIONS[function]
    arguments: list[Expression] = []
    if most is None:
        return Call(function, read_list(reader, clause))
    reader.expect("(")
    if function == "BOUND":
        arguments.append(terms.read_variable(reader))
    while len(arguments) < most and (len(arguments) < fewest or _goes_on(reader, arguments)):
        if arguments:
            reader.expect(",")
        arguments.append(read_expression(reader, clause))
    reader.expect(")")
    if function == "IRI":
        return _iri(arguments[0], reader)
    return Call(function, tuple(arguments))


def _goes_on(reader: Reader, arguments: list[Expression]) -> bool:
    return reader.at(",") if arguments else not reader.at(")")


def _iri(argument: Expression, reader: Reader) -> Expression:
    """A call of IRI, which depends on the base of the query; of a constant it is a constant."""
    prologue = reader.prologue
    match argument:
        case Constant(IRI()):
            return argument
        case Constant(Literal(lexical, datatype)) if prologue.base and datatype == XSD_STRING:
            if is_absolute_iri(iri := prologue.absolute(lexical)):
                return Constant(IRI(iri))
    return Call("IRI", (argument,), prologue.base)


def _read_aggregate(reader: Reader, clause: Clause, token: Token) -> Expression:
    """Read what follows the name of an [127] Aggregate."""
    function = _AGGREGATES[token.terminal]
    if clause.aggregates is None:
        advice = "aggregates belong into SELECT, HAVING and ORDER BY"
        raise token.error(f"{function} cannot stand in {clause.name}; {advice}")
    inside = Clause(f"the aggregate {function}", clause.group)
    reader.expect("(")
    distinct = reader.accept("DISTINCT") is not None
    everything = function == "COUNT" and reader.accept("*") is not None
    argument = None if everything else read_expression(reader, inside)
    separator = " "
    if function == "GROUP_CONCAT" and reader.accept(";"):
        reader.expect("SEPARATOR")
        reader.expect("=")
        separator = string_value(reader.expect(Kind.STRING))
    reader.expect(")")
    return clause.aggregates.variable(Aggregate(function, argument, distinct, separator))


def _read_iri_or_function(reader: Reader, clause: Clause) -> Expression:
    """Read [128] iriOrFunction."""
    if reader.following.terminal == "(":
        return _read_function(reader, clause)
    token = reader.take()
    return reader.note(Constant(IRI(reader.prologue.resolve_absolute(token))), token)


def _read_function(reader: Reader, clause: Clause) -> Expression:
    """Read [70] FunctionCall: a cast, as no other function is called by its IRI."""
    token = reader.expect(terms.IRI_FIRST)
    name = reader.prologue.resolve(token)
    datatype = name.removeprefix(XSD)
    if reader.at("(") and (datatype == name or datatype not in CASTS):
        raise _unknown_function(name, token)
    reader.expect("(")
    if reader.at("DISTINCT") or reader.at(")"):
        raise _wrong_cast(token)
    operand = read_expression(reader, clause)
    if reader.at(","):
        raise _wrong_cast(token)
    reader.expect(")")
    return reader.note(Cast(datatype, operand), token)


def _wrong_cast(token: Token) -> Exception:
    return token.error(f"the cast {token} takes one value, and no DISTINCT")


def _unknown_function(name: str, token: Token) -> Exception:
    known = [f"xsd:{cast}" for cast in CASTS]
    hint = f" ({nearest(f'xsd:{name.removeprefix(XSD)}', known)})" if name.startswith(XSD) else ""
    return Refusal.FUNCTION_BY_IRI.at(token.place, f"the function <{name}>{hint}")
