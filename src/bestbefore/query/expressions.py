"""Expressions: typed, frozen nodes, one for each operator of SPARQL.

`&&` and `||` take any number of operands, so that a long chain is no deeper than a short one.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, assert_never, get_args
from typing import Literal as OneOf

from bestbefore.rdf.terms import IRI, Literal

if TYPE_CHECKING:
    from bestbefore.query.algebra import Pattern

ComparisonOperator = OneOf["=", "!=", "<", "<=", ">", ">="]
ArithmeticOperator = OneOf["+", "-", "*", "/"]

AggregateFunction = OneOf["COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT"]

# fmt: off
_ARITIES: dict[tuple[int, int | None], str] = {
    (0, 0): "NOW RAND STRUUID UUID",
    (0, 1): "BNODE",
    (0, None): "COALESCE CONCAT",
    (1, 1): "ABS BOUND CEIL DATATYPE DAY ENCODE_FOR_URI FLOOR HOURS IRI ISBLANK ISIRI ISLITERAL "
            "ISNUMERIC LANG LCASE MD5 MINUTES MONTH ROUND SECONDS SHA1 SHA256 SHA384 SHA512 STR "
            "STRLEN TIMEZONE TZ UCASE YEAR",
    (2, 2): "CONTAINS LANGMATCHES SAMETERM STRAFTER STRBEFORE STRDT STRENDS STRLANG STRSTARTS",
    (2, 3): "REGEX SUBSTR",
    (3, 3): "IF",
    (3, 4): "REPLACE",
}
# fmt: on
FUNCTIONS = {name: arity for arity, names in _ARITIES.items() for name in names.split()}
"""The built-in functions, with the fewest and the most arguments that each takes."""

AGGREGATES: tuple[AggregateFunction, ...] = get_args(AggregateFunction)
_VOLATILE = ("BNODE", "RAND", "STRUUID", "UUID")
CASTS = frozenset({"boolean", "dateTime", "decimal", "double", "float", "integer", "string"})


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable, by its name without the question mark.

    A hidden one stands for what has no name in a query: a step of a property path, an aggregate, a
    key of a group. Its name begins with a dot, as none in a query can.
    """

    name: str

    @property
    def hidden(self) -> bool:
        """Whether the variable is not one of the user's."""
        return self.name.startswith(".")


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
    """A call of a built-in function, one of `FUNCTIONS`.

    `base` is what the function IRI resolves a relative IRI against, if the query has a base.
    """

    function: str
    arguments: tuple["Expression", ...]
    base: str | None = None


@dataclass(frozen=True, slots=True)
class Cast:
    """A cast to an XML Schema type, one of `CASTS`, by the type's local name."""

    datatype: str
    operand: "Expression"


@dataclass(frozen=True, slots=True)
class Exists:
    """`EXISTS { pattern }`, or `NOT EXISTS` when negated."""

    pattern: "Pattern"
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate of a group: an expression over its mappings, or of all of them for COUNT(*).

    It stands only in `Group`; expressions refer to its result by a variable.
    """

    function: AggregateFunction
    argument: "Expression | None"
    distinct: bool = False
    separator: str = " "


Expression = (
    Variable | Constant | Compare | Arithmetic | And | Or | Not | Negate | In | Call | Cast | Exists
)


def operands(expression: Expression) -> tuple[Expression, ...]:
    """The expressions directly below one, in the order they are written."""
    match expression:
        case Variable() | Constant() | Exists():
            return ()
        case Compare(_, left, right) | Arithmetic(_, left, right):
            return (left, right)
        case And(several) | Or(several) | Call(_, several):
            return several
        case Not(one) | Negate(one) | Cast(_, one):
            return (one,)
        case In(operand, choices):
            return (operand, *choices)
    assert_never(expression)


def with_operands(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """An expression with its operands changed; those of EXISTS are patterns and stay."""
    match expression:
        case Variable() | Constant() | Exists():
            return expression
        case Compare(_, left, right) | Arithmetic(_, left, right):
            return replace(expression, left=change(left), right=change(right))
        case And(several) | Or(several):
            return replace(expression, operands=tuple(map(change, several)))
        case Call(_, several):
            return replace(expression, arguments=tuple(map(change, several)))
        case Not(one) | Negate(one) | Cast(_, one):
            return replace(expression, operand=change(one))
        case In(one, choices):
            return replace(expression, operand=change(one), choices=tuple(map(change, choices)))
    assert_never(expression)


def parts(expression: Expression) -> Iterator[Expression]:
    """An expression and all below it, outer before inner, left before right."""
    yield expression
    for operand in operands(expression):
        yield from parts(operand)


def own_variables(expression: Expression) -> tuple[Variable, ...]:
    """The variables that an expression reads itself, without those in the patterns of EXISTS."""
    return tuple(dict.fromkeys(part for part in parts(expression) if isinstance(part, Variable)))


def exists_patterns(expression: Expression) -> tuple["Pattern", ...]:
    """The patterns of EXISTS in an expression, in the order they are written."""
    return tuple(part.pattern for part in parts(expression) if isinstance(part, Exists))


def conjuncts(condition: Expression) -> Iterator[Expression]:
    """The conditions that `&&` joins; all of them are true exactly when the whole is."""
    if isinstance(condition, And):
        for operand in condition.operands:
            yield from conjuncts(operand)
    else:
        yield condition


def conjunction(conditions: Sequence[Expression]) -> Expression:
    """One condition for some, of which there is at least one."""
    return And(tuple(conditions)) if len(conditions) > 1 else conditions[0]


def is_stable(expression: Expression) -> bool:
    """Whether an expression depends on nothing but the values of its variables.

    EXISTS depends on all that a solution binds, and a volatile function on nothing at all.
    """
    return not is_volatile(expression) and not exists_patterns(expression)


def is_repeatable(expression: Expression) -> bool:
    """Whether an expression has the same value when it is evaluated again later."""
    calls = (part for part in parts(expression) if isinstance(part, Call))
    return not any(call.function in (*_VOLATILE, "NOW") for call in calls)


def is_volatile(expression: Expression) -> bool:
    """Whether an expression may have another value each time it is evaluated."""
    calls = (part for part in parts(expression) if isinstance(part, Call))
    return any(call.function in _VOLATILE for call in calls)
