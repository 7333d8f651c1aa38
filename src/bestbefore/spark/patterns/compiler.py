"""Patterns to relations: one case per node."""

from collections.abc import Mapping
from dataclasses import replace
from typing import assert_never

from bestbefore.query import algebra
from bestbefore.query.algebra import BGP, Pattern, Variable, expressions_of
from bestbefore.query.expressions import (
    exists_patterns,
    is_stable,
    is_volatile,
    own_variables,
)
from bestbefore.spark.columns import SOLUTION, column_of
from bestbefore.spark.expressions import condition_sql, term_sql
from bestbefore.spark.patterns.context import Context, Dataset
from bestbefore.spark.patterns.existence import filtered, with_tests
from bestbefore.spark.patterns.groups import grouped
from bestbefore.spark.patterns.joins import join, left_join, minus, without_match
from bestbefore.spark.patterns.leaves import basic_graph_pattern, clause, inline_data
from bestbefore.spark.patterns.modifiers import distinct, ordered, sliced
from bestbefore.spark.patterns.property_paths import path_pattern
from bestbefore.spark.patterns.solutions import Solutions, spread, union
from bestbefore.spark.sql import name


def compile_solutions(pattern: Pattern, dataset: Dataset) -> Solutions:
    """The mappings of a pattern, for all windows at once, with what is known of their columns."""
    return _compile(pattern, Context(dataset, _compile))


def _compile(pattern: Pattern, context: Context) -> Solutions:  # noqa: C901, PLR0911, PLR0912
    match pattern:
        case BGP():
            return basic_graph_pattern(pattern, context)
        case algebra.PathPattern():
            return path_pattern(pattern, context)
        case algebra.Values():
            return inline_data(pattern, context)
        case algebra.Join(BGP(()), inner) | algebra.Join(inner, BGP(())):
            return _compile(inner, context)
        case algebra.Join(left, right):
            return join(_compile(left, context), _compile(right, context))
        case algebra.LeftJoin():
            return _left_join(pattern, context)
        case algebra.Union(left, right):
            return union(_compile(left, context), _compile(right, context))
        case algebra.Minus(left, right):
            return minus(_compile(left, context), _compile(right, context))
        case algebra.Filter(condition, inner):
            return filtered(_compile(inner, context), condition, context)
        case algebra.Extend():
            return _extend(pattern, context)
        case algebra.Graph():
            return _graph(pattern, context)
        case algebra.Window(_, inner):
            return clause(context.dataset.mappings(pattern), inner, context)
        case algebra.Service(_, inner, silent):
            found = clause(context.dataset.mappings(pattern), inner, context)
            found = replace(found, keyed=context.dataset.asked_for(pattern))
            # A silent service that did not answer may give a mapping that binds nothing.
            return replace(found, bound=found.keyed) if silent else found
        case algebra.Group(inner):
            found, scope = with_tests(_compile(inner, context), expressions_of(pattern), context)
            return context.anchored(grouped(pattern, found, scope, context))
        case algebra.Project(inner, variables):
            names = tuple(dict.fromkeys(column_of(variable.name) for variable in variables))
            found = _compile(inner, context.showing(names))
            return context.anchored(found.restricted(names))
        case algebra.Distinct(inner):
            return distinct(_compile(inner, context))
        case algebra.Reduced(inner):
            return _compile(inner, context)
        case algebra.OrderBy(inner, conditions):
            ranked = spread(_compile(inner, context))
            found, scope = with_tests(ranked, expressions_of(pattern), context)
            return ordered(found, conditions, scope)
        case algebra.Slice(inner, offset, limit):
            return sliced(_compile(inner, context), offset, limit)
    assert_never(pattern)


def _left_join(pattern: algebra.LeftJoin, context: Context) -> Solutions:
    left, right = _compile(pattern.left, context), _compile(pattern.right, context)
    condition = pattern.condition
    if condition is None:
        return left_join(left, right, None)
    if is_stable(condition):
        return left_join(left, right, lambda scope: condition_sql(condition, scope))
    # Such a condition cannot stand in a join: what passes it, and the left mappings without any.
    left = _identified(spread(left))
    passed = filtered(join(left, right), condition, context)
    rest = without_match(left, passed.restricted([_ROW]))
    return union(_unidentified(passed), _unidentified(rest))


_ROW = "_:row"


def _identified(solutions: Solutions) -> Solutions:
    """The mappings with one column that says all of them."""
    terms = ", ".join(f"coalesce({name(column)}, '')" for column in solutions.names)
    sql = f"concat_ws(chr(0), {terms})" if terms else "''"
    return solutions.select(solutions.columns | {_ROW: sql}, bound=solutions.bound | {_ROW})


def _unidentified(solutions: Solutions) -> Solutions:
    return solutions.restricted(column for column in solutions.names if column != _ROW)


def _extend(pattern: algebra.Extend, context: Context) -> Solutions:
    """The mappings with one more variable each, in as few SELECTs as what they read allows.

    Spark takes a while for every SELECT within another.
    """
    chain = [pattern]
    while isinstance(inner := chain[-1].pattern, algebra.Extend):
        chain.append(inner)
    found, beside = _compile(chain[-1].pattern, context), dict[str, str]()
    for one in reversed(chain):
        column, read = column_of(one.variable.name), own_variables(one.expression)
        plain = not is_volatile(one.expression) and not exists_patterns(one.expression)
        if not plain or any(column_of(variable.name) in beside for variable in read):
            found, beside = _with_columns(found, beside), {}
        if not plain or column in found.columns:
            found = _extend_alone(_with_columns(found, beside), one, context)
            beside = {}
        else:
            _, scope = with_tests(found, (), context)
            beside[column] = term_sql(one.expression, scope)
    return _with_columns(found, beside)


def _with_columns(found: Solutions, columns: Mapping[str, str]) -> Solutions:
    if not columns:
        return found
    return found.select(found.columns | dict(columns), bound=found.bound)


def _extend_alone(found: Solutions, pattern: algebra.Extend, context: Context) -> Solutions:
    """The mappings with a variable that draws, asks for other mappings, or may be bound before."""
    if is_volatile(pattern.expression):
        # Every mapping draws for itself, in every evaluation.
        found = spread(found).single()
        if SOLUTION not in found.extras:
            found = found.with_column(SOLUTION, "uuid()")
            found = replace(found, extras=(*found.extras, SOLUTION))
    found, scope = with_tests(found, (pattern.expression,), context)
    column, sql = column_of(pattern.variable.name), term_sql(pattern.expression, scope)
    if column not in found.columns:
        return _with_columns(found, {column: sql})
    # Inside EXISTS an outer mapping may have bound it: then both must agree.
    taken = found.with_column("taken", sql)
    agreed = taken.filter(f"{name(column)} IS NULL OR {name(column)} <=> taken")
    return _with_columns(agreed, {column: f"coalesce({name(column)}, taken)"})


def _graph(pattern: algebra.Graph, context: Context) -> Solutions:
    inner = context.inside(pattern.name)
    found = _compile(pattern.pattern, inner)
    if isinstance(pattern.name, Variable) and inner.graph_key is not None:
        found = _with_graph_name(found, column_of(pattern.name.name), inner.graph_key)
    if context.graph_key is not None and context.graph_key not in found.keys:
        return join(found, context.unit())
    return found


def _with_graph_name(found: Solutions, column: str, key: str) -> Solutions:
    """The mappings with the name of their graph in a variable, which they may have bound before."""
    columns = found.columns | {column: key}
    if column in found.names:
        found = found.filter(f"{name(column)} IS NULL OR {name(column)} = {key}")
    keys = tuple(other for other in found.keys if other != key)
    named = found.select(columns, bound=found.bound | {column})
    return replace(named, relation=named.relation.drop(key), keys=keys)
