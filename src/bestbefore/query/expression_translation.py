"""Expressions out of a parse tree."""

from collections.abc import Callable
from itertools import pairwise
from typing import get_args

from bestbefore.query.expressions import (
    FUNCTIONS,
    And,
    Arithmetic,
    ArithmeticOperator,
    Call,
    Compare,
    ComparisonOperator,
    Constant,
    Expression,
    In,
    Negate,
    Not,
    Or,
    Variable,
)
from bestbefore.query.source import Source
from bestbefore.query.syntax import Fixed, Leaf, Node, Tree, Word
from bestbefore.query.text import Kind, Token, unsupported_at
from bestbefore.rdf.terms import BlankNode

_COMPARISONS: dict[str, ComparisonOperator] = {op: op for op in get_args(ComparisonOperator)}
_ARITHMETIC: dict[str, ArithmeticOperator] = {op: op for op in get_args(ArithmeticOperator)}
_ARGUMENTS = ("arg", "arg1", "text", "arg2", "pattern", "arg3", "flags")
_SAME_FUNCTION = {"ISURI": "ISIRI"}


def translate_expression(tree: Tree, source: Source) -> Expression:
    """The expression of a parse tree."""
    match tree:
        case (single,):
            return translate_expression(single, source)
        case Node(name) if name != "literal":
            return _PRODUCTIONS.get(name, _call)(tree, source)
    return _primary(tree, source)


def _disjunction(node: Node, source: Source) -> Expression:
    parts = _chain(node, source)
    return Or(parts) if len(parts) > 1 else parts[0]


def _conjunction(node: Node, source: Source) -> Expression:
    parts = _chain(node, source)
    return And(parts) if len(parts) > 1 else parts[0]


def _chain(node: Node, source: Source) -> tuple[Expression, ...]:
    parts = (*node.all("expr"), *node.all("other"))
    return tuple(translate_expression(each, source) for each in parts)


def _relation(node: Node, source: Source) -> Expression:
    left = translate_expression(node.parts["expr"], source)
    match node.parts.get("op"):
        case Word("IN" | "NOT IN" as op):
            choices = _expression_list(node.parts["other"], source)
            return In(left, choices, negated=op == "NOT IN")
        case Word(op):
            return Compare(
                _COMPARISONS[op], left, translate_expression(node.parts["other"], source)
            )
    return left


def _expression_list(tree: Tree, source: Source) -> tuple[Expression, ...]:
    """The expressions between parentheses; rdflib reads none at all as the empty collection."""
    several = tree if isinstance(tree, tuple) else () if isinstance(tree, Fixed) else (tree,)
    return tuple(translate_expression(each, source) for each in several)


def _arithmetic(node: Node, source: Source) -> Expression:
    result = translate_expression(node.parts["expr"], source)
    for op, operand in zip(node.all("op"), node.all("other"), strict=True):
        if isinstance(op, Word):
            right = translate_expression(operand, source)
            result = Arithmetic(_ARITHMETIC[op.text], result, right)
    return result


def _negation(node: Node, source: Source) -> Expression:
    return Not(translate_expression(node.parts["expr"], source))


def _signed(node: Node, source: Source) -> Expression:
    """A number with its sign, or a negation: a sign that touches a number is part of it."""
    operand, sign = node.parts["expr"], "-" if node.name == "UnaryMinus" else "+"
    if isinstance(operand, Leaf) and not operand.negative and source.sign_before(operand) == sign:
        return Constant(source.number(operand, sign=sign))
    if sign == "+":
        raise unsupported_at(_unary_plus(source), "unary +", instead="leave it out")
    return Negate(translate_expression(operand, source))


def _unary_plus(source: Source) -> Token:
    """The first + that has no value on its left."""
    values = (Kind.VARIABLE, Kind.NUMBER, Kind.STRING, Kind.LANGUAGE, Kind.IRI, Kind.NAME)
    for before, token in pairwise(source.tokens):
        binary = before.kind in values or before.is_mark(")") or before.is_word("TRUE", "FALSE")
        if token.is_mark("+") and not binary:
            return token
    return source.tokens[0]


def _call(node: Node, source: Source) -> Expression:
    match node.name.partition("_"):
        case "Builtin", _, "EXISTS":
            place = source.find(lambda token, _: token.is_word("EXISTS"))
            raise unsupported_at(place, "EXISTS")
        case "Builtin", _, "NOTEXISTS":
            place = source.find(
                lambda token, after: token.is_word("NOT") and after.is_word("EXISTS")
            )
            raise unsupported_at(place, "NOT EXISTS")
        case "Aggregate", _, name:
            function = {"GroupConcat": "GROUP_CONCAT"}.get(name, name.upper())
            raise unsupported_at(_mention(function, source), f"the aggregate {function}")
        case "Builtin", _, name:
            return _built_in(name.upper(), node, source)
    raise _unknown_call(node, source)


def _built_in(name: str, node: Node, source: Source) -> Expression:
    function = _SAME_FUNCTION.get(name, name)
    if function not in FUNCTIONS:
        known = ", ".join(sorted(FUNCTIONS))
        place = _mention(name, source)
        raise unsupported_at(place, f"the function {name}", instead=f"supported: {known}")
    if function == "COALESCE":
        return Call(function, _expression_list(node.parts["arg"], source))
    arguments = (node.parts[part] for part in _ARGUMENTS if part in node.parts)
    return Call(function, tuple(translate_expression(each, source) for each in arguments))


def _mention(function: str, source: Source) -> Token:
    """The first place where a function is called."""
    return source.find(lambda token, after: token.is_word(function) and after.is_mark("("))


def _unknown_call(node: Node, source: Source) -> Exception:
    match node:
        case Node("Function", {"iri": Leaf() as iri}):
            token = source.token(iri)
            return unsupported_at(token, f"the function <{source.prologue.resolve(token)}>")
    return TypeError(f"no expression: {node}")


def _primary(tree: Tree, source: Source) -> Expression:
    match source.operand(tree):
        case BlankNode() as blank:
            raise TypeError(f"no expression: {blank}")
        case Variable() as variable:
            return variable
        case term:
            return Constant(term)


_PRODUCTIONS: dict[str, Callable[[Node, Source], Expression]] = {
    "ConditionalOrExpression": _disjunction,
    "ConditionalAndExpression": _conjunction,
    "RelationalExpression": _relation,
    "AdditiveExpression": _arithmetic,
    "MultiplicativeExpression": _arithmetic,
    "UnaryNot": _negation,
    "UnaryMinus": _signed,
    "UnaryPlus": _signed,
}
