"""EXISTS and NOT EXISTS: whether a pattern has a solution, given an outer mapping."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from bestbefore.query.algebra import Pattern, Variable, mentioned_variables
from bestbefore.query.expressions import And, Exists, Expression, exists_patterns
from bestbefore.spark.columns import SOLUTION, column_of, variable_of
from bestbefore.spark.expressions import Scope, condition_sql
from bestbefore.spark.patterns.closed_patterns import is_closed
from bestbefore.spark.patterns.context import Context
from bestbefore.spark.patterns.joins import flagged, with_match, without_match
from bestbefore.spark.patterns.solutions import Solutions, quoted, spread
from bestbefore.spark.sql import name

Compile = Callable[[Pattern, Context], Solutions]


def filtered(
    solutions: Solutions, condition: Expression, context: Context, compile_: Compile
) -> Solutions:
    """The mappings for which a condition is true, its parts that need no pattern first."""
    parts = condition.operands if isinstance(condition, And) else (condition,)
    for part in sorted(parts, key=lambda each: bool(exists_patterns(each))):
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
    patterns = dict.fromkeys(each for one in expressions for each in exists_patterns(one))
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
    if is_closed(test.pattern, _variables(solutions)):
        found = spread(compile_(test.pattern, replace(context, seeds=None)))
        shared = [each for each in found.variables if each in solutions.names]
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
    mentioned = {column_of(each.name) for each in mentioned_variables(pattern)}
    names = tuple(each for each in solutions.variables if each in mentioned)
    seed = f"seed{0 if context.seeds is None else len(context.seeds.keys)}"
    # No term is empty, so an unbound variable may be.
    parts = ", ".join(f"coalesce({name(each)}, ''), chr(0)" for each in names)
    identity = f"concat({parts})" if names else "''"
    outer = solutions.with_column(seed, identity)
    outer = replace(outer, keys=(*solutions.keys, seed))
    frame = outer.frame.selectExpr(*quoted((*outer.keys, *names))).distinct()
    seeds = replace(outer, frame=frame, names=names, bound=solutions.bound & {*names}, extras=())
    found = spread(compile_(pattern, replace(context, seeds=seeds)))
    return outer, found.select({}, bound=frozenset(), extras=())


def _variables(solutions: Solutions) -> frozenset[Variable]:
    return frozenset(Variable(variable_of(each)) for each in solutions.variables)
