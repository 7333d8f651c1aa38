"""Matching: those mappings of a pattern in which some variables have given values.

`match` joins with a VALUES block of many keys. It puts the block as far inside as the pattern has
the same mappings, for who evaluates it can then look the keys up instead of finding everything
first. `substitute` does without VALUES, which SPARQL 1.0 does not have, for one key.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial

from bestbefore.query.algebra import (
    BGP,
    Distinct,
    Extend,
    Filter,
    Group,
    Join,
    LeftJoin,
    Minus,
    OrderBy,
    Pattern,
    PatternTerm,
    Project,
    Reduced,
    TriplePattern,
    Union,
    Values,
    Variable,
    walk,
    with_children,
    with_expressions,
)
from bestbefore.query.expressions import (
    Call,
    Constant,
    Expression,
    conjunction,
    exists_patterns,
    operands,
    own_variables,
    parts,
    with_operands,
)
from bestbefore.query.scope import certain_variables, mentioned_variables
from bestbefore.rdf.terms import IRI, Literal

Value = IRI | Literal


def match(
    pattern: Pattern, variables: tuple[Variable, ...], keys: Iterable[tuple[Value, ...]]
) -> Pattern:
    """The mappings of a pattern in which variables that it always binds have a key's values."""
    values, names = Values(variables, tuple(dict.fromkeys(keys))), {*variables}
    made = {node.variable for node in walk(pattern) if isinstance(node, Extend)}
    is_found = names <= certain_variables(pattern) and not names & made
    return _joined(values, pattern) if is_found else Join(values, pattern)


def _joined(values: Values, pattern: Pattern) -> Pattern:
    """The join of different rows with a pattern that finds a value for their variables always.

    Operators that pass these variables on unchanged commute with it.
    """
    match pattern:
        case LeftJoin() | Minus():
            return replace(pattern, left=_joined(values, pattern.left))
        case Filter() | Extend() | Project() | Distinct() | Reduced() | OrderBy():
            return with_children(pattern, partial(_joined, values))
        case Group(_, keys, _) if {*values.variables} <= {*keys}:
            return with_children(pattern, partial(_joined, values))
    # First in its group: engines that join in the order written start from the few keys.
    return Join(values, pattern)


def substitute(pattern: Pattern, values: Mapping[Variable, Value]) -> Pattern:
    """The mappings of a pattern in which variables have these values, in SPARQL 1.0 if it is.

    In a *direct* pattern the values stand in the place of the variables, which are gone. Any other
    pattern is compared with them from outside.
    """
    if {*values} <= certain_variables(pattern) and _is_direct(pattern, values):
        return _replaced(pattern, values)
    tests = [Call("SAMETERM", (name, Constant(value))) for name, value in values.items()]
    return Filter(conjunction(tests), pattern) if tests else pattern


def _is_direct(pattern: Pattern, values: Mapping[Variable, Value]) -> bool:
    """Whether replacing variables that the whole binds keeps the mappings of this part of it."""
    match pattern:
        case BGP(triples):
            return all(_can_hold(triple, values) for triple in triples)
        case Join(left, right) | Union(left, right):
            return _is_direct(left, values) and _is_direct(right, values)
        case Filter(condition, inner):
            return _is_direct(inner, values) and _can_read(condition, inner, values)
        case LeftJoin(left, right, condition):
            # A match on the right with another value would be none after the replacement.
            shared = {*mentioned_variables(right)} & {*values}
            readable = condition is None or _can_read(condition, left, values)
            sides = _is_direct(left, values) and _is_direct(right, values)
            return sides and readable and shared <= certain_variables(left)
    return False


def _can_hold(triple: TriplePattern, values: Mapping[Variable, Value]) -> bool:
    """Whether a triple pattern remains one: only its object may be a literal."""
    return not any(isinstance(_value(term, values), Literal) for term in triple.terms[:2])


def _can_read(condition: Expression, scope: Pattern, values: Mapping[Variable, Value]) -> bool:
    """Whether a condition may see values in the place of variables: they are bound where it is."""
    read = {*own_variables(condition)} & {*values}
    return (
        read <= certain_variables(scope)
        and not exists_patterns(condition)
        and not any(_asks_for(part, values) for part in parts(condition))
    )


def _asks_for(expression: Expression, values: Mapping[Variable, Value]) -> bool:
    """Whether an expression asks if one of some variables is bound."""
    is_asking = isinstance(expression, Call) and expression.function == "BOUND"
    return is_asking and any(operand in values for operand in operands(expression))


def _replaced(pattern: Pattern, values: Mapping[Variable, Value]) -> Pattern:
    def read(expression: Expression) -> Expression:
        if isinstance(expression, Variable) and expression in values:
            return Constant(values[expression])
        return with_operands(expression, read)

    if isinstance(pattern, BGP):
        known = ((_value(term, values) for term in one.terms) for one in pattern.patterns)
        return BGP(tuple(TriplePattern(*triple) for triple in known))
    return with_expressions(with_children(pattern, lambda inner: _replaced(inner, values)), read)


def _value(term: PatternTerm, values: Mapping[Variable, Value]) -> PatternTerm:
    return values.get(term, term) if isinstance(term, Variable) else term
