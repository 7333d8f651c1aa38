"""EXISTS and NOT EXISTS: whether a pattern has a solution, given an outer mapping."""

from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

from bestbefore.query import algebra
from bestbefore.query.algebra import Pattern, Variable
from bestbefore.query.expressions import Exists, Expression, conjuncts, exists_patterns
from bestbefore.query.scope import certain_variables, expression_variables, mentioned_variables
from bestbefore.spark.columns import SOLUTION, column_of, variable_of
from bestbefore.spark.expressions import Scope, condition_sql
from bestbefore.spark.patterns.context import Context
from bestbefore.spark.patterns.joins import flagged, with_match, without_match
from bestbefore.spark.patterns.property_paths import can_be_empty
from bestbefore.spark.patterns.solutions import Solutions, spread
from bestbefore.spark.sql import name

Names = frozenset[Variable]


def filtered(solutions: Solutions, condition: Expression, context: Context) -> Solutions:
    """The mappings for which a condition is true, its parts that need no pattern first."""
    for part in sorted(conjuncts(condition), key=lambda part: bool(exists_patterns(part))):
        if isinstance(part, Exists):
            solutions = _tested(solutions, part, context)
            continue
        found, scope = with_tests(solutions, (part,), context)
        solutions = found.filter(condition_sql(part, scope))
        if exists_patterns(part):
            solutions = solutions.restricted(solutions.names)
    return solutions


def with_tests(
    solutions: Solutions, expressions: Sequence[Expression], context: Context
) -> tuple[Solutions, Scope]:
    """The mappings with a column for each EXISTS in some expressions, and what they then see."""
    patterns = dict.fromkeys(pattern for one in expressions for pattern in exists_patterns(one))
    flags: dict[Pattern, str] = {}
    for number, pattern in enumerate(patterns):
        flag = f"exists{number}"
        solutions = spread(solutions)
        seeded, found = _seeded(solutions, pattern, context)
        marked = flagged(seeded, found, flag).relation.drop(seeded.keys[-1])
        solutions, flags[pattern] = replace(solutions, relation=marked), name(flag)
    solution = SOLUTION if SOLUTION in solutions.extras else None
    return solutions, replace(solutions.scope(), exists=flags, solution=solution)


def _tested(solutions: Solutions, test: Exists, context: Context) -> Solutions:
    choose = without_match if test.negated else with_match
    solutions = spread(solutions)
    outer = frozenset(Variable(variable_of(column)) for column in solutions.variables)
    if _is_closed(test.pattern, outer):
        found = spread(context.compile(test.pattern, replace(context, seeds=None)))
        shared = [column for column in found.variables if column in solutions.names]
        return choose(solutions, found.restricted(shared))
    seeded, found = _seeded(solutions, test.pattern, context)
    return replace(solutions, relation=choose(seeded, found).relation.drop(seeded.keys[-1]))


def _seeded(
    solutions: Solutions, pattern: Pattern, context: Context
) -> tuple[Solutions, Solutions]:
    """The outer mappings with a column that names each, and the names that have a solution."""
    mentioned = {column_of(variable.name) for variable in mentioned_variables(pattern)}
    names = tuple(column for column in solutions.variables if column in mentioned)
    seed = f"seed{0 if context.seeds is None else len(context.seeds.keys)}"
    # No term is empty, so an unbound variable may be.
    parts = ", ".join(f"coalesce({name(column)}, ''), chr(0)" for column in names)
    identity = f"concat({parts})" if names else "''"
    outer = solutions.with_column(seed, identity)
    outer = replace(outer, keys=(*solutions.keys, seed))
    each = outer.relation.keep((*outer.keys, *names)).distinct()
    seeds = replace(outer, relation=each, names=names, bound=solutions.bound & {*names}, extras=())
    found = spread(context.compile(pattern, replace(context, seeds=seeds)))
    return outer, found.select({}, bound=frozenset(), extras=())


def _is_closed(pattern: Pattern, outer: Names) -> bool:  # noqa: C901, PLR0911 - one case per node
    """Whether EXISTS may evaluate a pattern by itself and join it with the outer mappings.

    SPARQL puts the values of the outer variables into the pattern first. That is the same unless
    something inside depends on an outer variable before a triple has bound it.
    """
    match pattern:
        case algebra.BGP() | algebra.Values() | algebra.Window() | algebra.Service():
            return True
        case algebra.PathPattern(subject, path, object_):
            return not (can_be_empty(path) and outer & {subject, object_})
        case algebra.Join(left, right) | algebra.Union(left, right):
            return _is_closed(left, outer) and _is_closed(right, outer)
        case algebra.LeftJoin(left, right, condition):
            seen = frozenset(mentioned_variables(right)) | _read(condition)
            return _is_closed(left, outer) and outer & seen <= certain_variables(left)
        case algebra.Minus(left, right):
            return _is_closed(left, outer) and not outer & {*mentioned_variables(right)}
        case algebra.Filter(expression, inner) | algebra.Extend(inner, _, expression):
            seen = _read(expression)
            return _is_closed(inner, outer) and outer & seen <= certain_variables(inner)
        case algebra.Graph(_, inner) | algebra.OrderBy(inner):
            return _is_closed(inner, outer)
        case algebra.Distinct(inner) | algebra.Reduced(inner):
            return _is_closed(inner, outer)
        case algebra.Project(inner, kept) | algebra.Group(inner, kept):
            return _is_closed(inner, outer & {*kept})
        case algebra.Slice(inner):
            return not outer & {*mentioned_variables(inner)}
    assert_never(pattern)


def _read(expression: Expression | None) -> Names:
    return frozenset() if expression is None else frozenset(expression_variables(expression))
