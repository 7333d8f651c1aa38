"""Expressions of FILTER: typed, frozen nodes, one for each operator of SPARQL.

`&&` and `||` take any number of operands, so that a long chain is no deeper than a short one.
"""

from dataclasses import dataclass
from typing import Literal as OneOf
from typing import assert_never

from bestbefore.rdf.terms import IRI, Literal

ComparisonOperator = OneOf["=", "!=", "<", "<=", ">", ">="]
ArithmeticOperator = OneOf["+", "-", "*", "/"]

# fmt: off
FUNCTIONS = frozenset({
    "ABS", "BOUND", "COALESCE", "CONTAINS", "DATATYPE", "IF", "ISBLANK", "ISIRI",
    "ISLITERAL", "ISNUMERIC", "LANG", "LANGMATCHES", "LCASE", "REGEX", "SAMETERM",
    "STR", "STRENDS", "STRLEN", "STRSTARTS", "UCASE",
})
# fmt: on


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable, by its name without the question mark."""

    name: str


@dataclass(frozen=True, slots=True)
class Constant:
    """An RDF term in an expression."""

    term: IRI | Literal


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison of two values: `=`, `!=`, `<`, `<=`, `>` or `>=`."""

    op: ComparisonOperator
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """A sum, difference, product or quotient."""

    op: ArithmeticOperator
    left: "Expression"
    right: "Expression"


@dataclass(frozen=True, slots=True)
class And:
    """A conjunction of two or more conditions, in the order they are written."""

    operands: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class Or:
    """A disjunction of two or more conditions, in the order they are written."""

    operands: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite of a condition."""

    operand: "Expression"


@dataclass(frozen=True, slots=True)
class Negate:
    """A number with its sign changed."""

    operand: "Expression"


@dataclass(frozen=True, slots=True)
class In:
    """`operand IN (choices)`, or `NOT IN` when negated."""

    operand: "Expression"
    choices: tuple["Expression", ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a built-in function, one of `FUNCTIONS`."""

    function: str
    arguments: tuple["Expression", ...]


Expression = Variable | Constant | Compare | Arithmetic | And | Or | Not | Negate | In | Call


def operands(expression: Expression) -> tuple[Expression, ...]:
    """The expressions directly below one, in the order they are written."""
    match expression:
        case Variable() | Constant():
            return ()
        case Compare(_, left, right) | Arithmetic(_, left, right):
            return (left, right)
        case And(several) | Or(several) | Call(_, several):
            return several
        case Not(one) | Negate(one):
            return (one,)
        case In(operand, choices):
            return (operand, *choices)
    assert_never(expression)


def expression_variables(expression: Expression) -> tuple[Variable, ...]:
    """The variables that an expression reads, in order of first appearance."""
    if isinstance(expression, Variable):
        return (expression,)
    found = (each for part in operands(expression) for each in expression_variables(part))
    return tuple(dict.fromkeys(found))
