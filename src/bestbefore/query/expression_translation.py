"""Expressions out of a parse tree."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import get_args

from bestbefore.errors import QueryError, nearest
from bestbefore.query.aggregation import Aggregates
from bestbefore.query.algebra import Pattern
from bestbefore.query.escapes import string_value
from bestbefore.query.expressions import (
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
from bestbefore.query.source import Source
from bestbefore.query.syntax import Fixed, Leaf, Node, Tree, Word
from bestbefore.query.text import error_at, unsupported_at
from bestbefore.rdf.terms import IRI, XSD, XSD_STRING, BlankNode, Literal

_COMPARISONS: dict[str, ComparisonOperator] = {op: op for op in get_args(ComparisonOperator)}
_ARITHMETIC: dict[str, ArithmeticOperator] = {op: op for op in get_args(ArithmeticOperator)}
_AGGREGATES: dict[str, AggregateFunction] = {
    name.replace("_", ""): name for name in get_args(AggregateFunction)
}
# fmt: off
_ARGUMENTS = (
    "arg", "arg1", "text", "arg2", "pattern", "start", "length", "replacement", "arg3", "flags",
)
# fmt: on
_LISTS = ("COALESCE", "CONCAT")
_SAME_FUNCTION = {"ISURI": "ISIRI", "URI": "IRI"}


@dataclass(frozen=True, slots=True)
class Context:
    """Where an expression stands: what reads the pattern of EXISTS, and who takes aggregates.

    Without `aggregates` none may stand here, and `place` says where here is.
    """

    source: Source
    group: Callable[[Tree, Source], Pattern]
    place: str
    aggregates: Aggregates | None = None


def translate_expression(tree: Tree, context: Context) -> Expression:
    """The expression of a parse tree."""
    match tree:
        case (single,):
            return translate_expression(single, context)
        case Node("Builtin_EXISTS" | "Builtin_NOTEXISTS" as name, {"graph": group}):
            pattern = context.group(group, context.source)
            return Exists(pattern, negated=name == "Builtin_NOTEXISTS")
        case Node(name) if name != "literal":
            kind, _, _ = name.partition("_")
            return _PRODUCTIONS[kind](tree, context)
    return _primary(tree, context.source)


def _disjunction(node: Node, context: Context) -> Expression:
    parts = _chain(node, context)
    return Or(parts) if len(parts) > 1 else parts[0]


def _conjunction(node: Node, context: Context) -> Expression:
    parts = _chain(node, context)
    return And(parts) if len(parts) > 1 else parts[0]


def _chain(node: Node, context: Context) -> tuple[Expression, ...]:
    parts = (*node.all("expr"), *node.all("other"))
    return tuple(translate_expression(each, context) for each in parts)


def _relation(node: Node, context: Context) -> Expression:
    left = translate_expression(node.parts["expr"], context)
    match node.parts.get("op"):
        case Word("IN" | "NOT IN" as op):
            choices = _expression_list(node.parts["other"], context)
            return In(left, choices, negated=op == "NOT IN")
        case Word(op):
            right = translate_expression(node.parts["other"], context)
            return Compare(_COMPARISONS[op], left, right)
    return left


def _expression_list(tree: Tree, context: Context) -> tuple[Expression, ...]:
    """The expressions between parentheses; rdflib reads none at all as the empty collection."""
    several = tree if isinstance(tree, tuple) else () if isinstance(tree, Fixed) else (tree,)
    return tuple(translate_expression(each, context) for each in several)


def _arithmetic(node: Node, context: Context) -> Expression:
    result = translate_expression(node.parts["expr"], context)
    for op, operand in zip(node.all("op"), node.all("other"), strict=True):
        if isinstance(op, Word):
            right = translate_expression(operand, context)
            result = Arithmetic(_ARITHMETIC[op.text], result, right)
    return result


def _negation(node: Node, context: Context) -> Expression:
    return Not(translate_expression(node.parts["expr"], context))


def _signed(node: Node, context: Context) -> Expression:
    """A number with its sign, or a negation: a sign that touches a number is part of it.

    A plus that is no sign changes no number, but is an error on what is none; so do two minuses.
    """
    source, operand = context.source, node.parts["expr"]
    sign = "-" if node.name == "UnaryMinus" else "+"
    if isinstance(operand, Leaf) and not operand.negative and source.sign_before(operand) == sign:
        return Constant(source.number(operand, sign=sign))
    negative = Negate(translate_expression(operand, context))
    return negative if sign == "-" else Negate(negative)


def _built_in(node: Node, context: Context) -> Expression:
    name = node.name.removeprefix("Builtin_").upper()
    function = _SAME_FUNCTION.get(name, name)
    if function not in FUNCTIONS:
        known = ", ".join(sorted(FUNCTIONS))
        place = context.source.token(node)
        raise unsupported_at(place, f"the function {name}", instead=f"supported: {known}")
    if function in _LISTS:
        return Call(function, _expression_list(node.parts["arg"], context))
    parts = (node.parts[part] for part in _ARGUMENTS if part in node.parts)
    arguments = tuple(translate_expression(each, context) for each in parts)
    return _iri(arguments[0], context.source) if function == "IRI" else Call(function, arguments)


def _iri(argument: Expression, source: Source) -> Expression:
    """A call of IRI, which depends on the base of the query; of a constant it is a constant."""
    prologue = source.prologue
    match argument:
        case Constant(IRI()):
            return argument
        case Constant(Literal(lexical, datatype)) if prologue.base and datatype == XSD_STRING:
            with suppress(ValueError):
                return Constant(IRI(prologue.absolute(lexical)))
    return Call("IRI", (argument,), prologue.base)


def _aggregate(node: Node, context: Context) -> Expression:
    function = _AGGREGATES[node.name.removeprefix("Aggregate_").upper()]
    token = context.source.token(node)
    if context.aggregates is None:
        advice = "aggregates belong into SELECT, HAVING and ORDER BY"
        raise error_at(token, f"{function} cannot stand in {context.place}; {advice}")
    inside = replace(context, aggregates=None, place=f"the aggregate {function}")
    argument, separator = node.parts["vars"], node.parts.get("separator")
    aggregate = Aggregate(
        function,
        None if argument == Word("*") else translate_expression(argument, inside),
        distinct=isinstance(node.parts["distinct"], Word),
    )
    if isinstance(separator, Leaf):
        text = string_value(context.source.token(separator))
        aggregate = replace(aggregate, separator=text)
    return context.aggregates.variable(aggregate)


def _function(node: Node, context: Context) -> Expression:
    """A call by IRI: a cast, as no other function has one."""
    iri, arguments = node.parts["iri"], node.all("expr")
    if not isinstance(iri, Leaf):
        raise TypeError(f"no function: {node}")
    token = context.source.token(iri)
    name = context.source.prologue.resolve(token)
    datatype = name.removeprefix(XSD)
    if datatype == name or datatype not in CASTS:
        raise _unknown_function(iri, name, context.source)
    if len(arguments) != 1 or isinstance(node.parts.get("distinct"), Word):
        raise error_at(token, f"the cast {token} takes one value, and no DISTINCT")
    return Cast(datatype, translate_expression(arguments[0], context))


def _unknown_function(iri: Leaf, name: str, source: Source) -> QueryError:
    known = [f"xsd:{each}" for each in CASTS]
    hint = nearest(f"xsd:{name.removeprefix(XSD)}", known) if name.startswith(XSD) else ""
    return unsupported_at(source.token(iri), f"the function <{name}>", instead=hint)


def _primary(tree: Tree, source: Source) -> Expression:
    match source.operand(tree):
        case BlankNode() as blank:
            raise TypeError(f"no expression: {blank}")
        case Variable() as variable:
            return variable
        case term:
            return Constant(term)


_PRODUCTIONS: dict[str, Callable[[Node, Context], Expression]] = {
    "Aggregate": _aggregate,
    "Builtin": _built_in,
    "Function": _function,
    "ConditionalOrExpression": _disjunction,
    "ConditionalAndExpression": _conjunction,
    "RelationalExpression": _relation,
    "AdditiveExpression": _arithmetic,
    "MultiplicativeExpression": _arithmetic,
    "UnaryNot": _negation,
    "UnaryMinus": _signed,
    "UnaryPlus": _signed,
}
