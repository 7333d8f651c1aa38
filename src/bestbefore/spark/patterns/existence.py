"""EXISTS and NOT EXISTS: whether a pattern has a solution, given an outer mapping."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import assert_never

from bestbefore.query.algebra import (
    BGP,
    Distinct,
    Extend,
    Filter,
    Graph,
    Group,
    Join,
    LeftJoin,
    Minus,
    OrderBy,
    PathPattern,
    Pattern,
    Project,
    Reduced,
    Service,
    Slice,
    Union,
    Values,
    Variable,
    Window,
)
from bestbefore.query.expressions import Exists, Expression, conjuncts, exists_patterns
from bestbefore.query.scope import certain_variables, expression_variables, mentioned_variables
from bestbefore.spark.columns import SOLUTION, column_of, variable_of
from bestbefore.spark.expressions import Scope, condition_sql
from bestbefore.spark.patterns.context import Context
from bestbefore.spark.patterns.joins import flagged, with_match, without_match
from bestbefore.spark.patterns.property_paths import can_be_empty
from bestbefore.spark.patterns.solutions import Solutions, spread
from bestbefore.spark.sql import name, quoted

Names = frozenset[Variable]
Compile = Callable[[Pattern, Context], Solutions]


def filtered(
    solutions: Solutions, condition: Expression, context: Context, compile_: Compile
) -> Solutions:
    """The mappings for which a condition is true, its parts that need no pattern first."""
    for part in sorted(conjuncts(condition), key=lambda part: bool(exists_patterns(part))):
        if isinstance(part, Exists):
            solutions = _tested(solutions, part, context, compile_)
            continue
        found, scope = with_tests(solutions, (part,), context, compile_)
        solutions = found.filter(condition_sql(part, scope))
        if exists_patterns(part):
            solutions = solutions.restricted(solutions.names)
    return solutions


def with_tests(
    solutions: Solutions, expressions: Sequence[Expression], context: Context, compile_: Compile
) -> tuple[Solutions, Scope]:
    """The mappings with a column for each EXISTS in some expressions, and what they then see."""
    patterns = dict.fromkeys(pattern for one in expressions for pattern in exists_patterns(one))
    flags: dict[Pattern, str] = {}
    for number, pattern in enumerate(patterns):
        flag = f"exists{number}"
        solutions = _flagged(solutions, pattern, flag, context, compile_)
        flags[pattern] = name(flag)
    solution = SOLUTION if SOLUTION in solutions.extras else None
    return solutions, replace(solutions.scope(), exists=flags, solution=solution)


def _tested(solutions: Solutions, test: Exists, context: Context, compile_: Compile) -> Solutions:
    choose = without_match if test.negated else with_match
    solutions = spread(solutions)
    if _is_closed(test.pattern, _variables(solutions)):
        found = spread(compile_(test.pattern, replace(context, seeds=None)))
        shared = [column for column in found.variables if column in solutions.names]
        return choose(solutions, found.restricted(shared))
    seeded, found = _seeded(solutions, test.pattern, context, compile_)
    return replace(solutions, frame=choose(seeded, found).frame.drop(seeded.keys[-1]))


def _flagged(
    solutions: Solutions, pattern: Pattern, flag: str, context: Context, compile_: Compile
) -> Solutions:
    solutions = spread(solutions)
    seeded, found = _seeded(solutions, pattern, context, compile_)
    return replace(solutions, frame=flagged(seeded, found, flag).frame.drop(seeded.keys[-1]))


def _seeded(
    solutions: Solutions, pattern: Pattern, context: Context, compile_: Compile
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
    frame = outer.frame.selectExpr(*quoted((*outer.keys, *names))).distinct()
    seeds = replace(outer, frame=frame, names=names, bound=solutions.bound & {*names}, extras=())
    found = spread(compile_(pattern, replace(context, seeds=seeds)))
    return outer, found.select({}, bound=frozenset(), extras=())


def _variables(solutions: Solutions) -> Names:
    return frozenset(Variable(variable_of(column)) for column in solutions.variables)


def _is_closed(pattern: Pattern, outer: Names) -> bool:  # noqa: C901, PLR0911 - one case per node
    """Whether EXISTS may evaluate a pattern by itself and join it with the outer mappings.

    SPARQL puts the values of the outer variables into the pattern first. That is the same unless
    something inside depends on an outer variable before a triple has bound it.
    """
    match pattern:
        case BGP() | Values() | Window() | Service():
            return True
        case PathPattern(subject, path, object_):
            return not (can_be_empty(path) and outer & {subject, object_})
        case Join(left, right) | Union(left, right):
            return _is_closed(left, outer) and _is_closed(right, outer)
        case LeftJoin(left, right, condition):
            seen = frozenset(mentioned_variables(right)) | _read(condition)
            return _is_closed(left, outer) and outer & seen <= certain_variables(left)
        case Minus(left, right):
            return _is_closed(left, outer) and not outer & {*mentioned_variables(right)}
        case Filter(expression, inner) | Extend(inner, _, expression):
            seen = _read(expression)
            return _is_closed(inner, outer) and outer & seen <= certain_variables(inner)
        case Graph(_, inner) | Distinct(inner) | Reduced(inner) | OrderBy(inner):
            return _is_closed(inner, outer)
        case Project(inner, names):
            return _is_closed(inner, outer & {*names})
        case Group(inner, keys):
            return _is_closed(inner, outer & {*keys})
        case Slice(inner):
            return not outer & {*mentioned_variables(inner)}
    assert_never(pattern)


def _read(expression: Expression | None) -> Names:
    return frozenset() if expression is None else frozenset(expression_variables(expression))
