"""Joins of mappings: they are compatible where no variable that both bind differs."""

from collections.abc import Callable
from dataclasses import replace

from bestbefore.spark.columns import EVALUATION, FRESH, MAPPINGS, RANGE, TIME, variable_of
from bestbefore.spark.expressions import Scope
from bestbefore.spark.patterns.solutions import ABSENT, Solutions, spread
from bestbefore.spark.relation import How, Relation
from bestbefore.spark.sql import Cheap, all_of, chain, name

_COMBINED = {
    TIME: "least({0}, {1})",
    MAPPINGS: "{0} * coalesce({1}, 1L)",
    FRESH: "{0} * coalesce({1}, 1D)",
}


def join(left: Solutions, right: Solutions) -> Solutions:
    """The compatible mappings of both, put together, in the windows in which both are found."""
    joined = _joined(left, right, _compatible(left, right), "inner")
    return _merged(joined, left, right, bound=left.bound | right.bound)


def left_join(
    left: Solutions, right: Solutions, condition: Callable[[Scope], str] | None
) -> Solutions:
    """The left mappings, extended by the right ones that are compatible and fulfil a condition."""
    left, right = spread(left), spread(right)
    wanted = _compatible(left, right)
    if condition is not None:
        wanted.append(condition(_merged_scope(left, right)))
    joined = _joined(left, right, wanted, "left_outer")
    return _merged(joined, left, right, bound=left.bound)


def minus(left: Solutions, right: Solutions) -> Solutions:
    """The left mappings without a compatible right one that binds a variable they bind."""
    shared = [column for column in left.variables if column in right.variables]
    if not shared:
        return left
    left, right = spread(left), spread(right)
    wanted = _compatible(left, right)
    if not any(column in left.bound and column in right.bound for column in shared):
        # An equality is true only where both sides are bound.
        wanted.append("(" + " OR ".join(_same(column) for column in shared) + ")")
    return replace(left, relation=_joined(left, right, wanted, "left_anti"))


def with_match(left: Solutions, right: Solutions) -> Solutions:
    """The mappings that have a compatible one on the right."""
    return replace(left, relation=_joined(left, right, _compatible(left, right), "left_semi"))


def without_match(left: Solutions, right: Solutions) -> Solutions:
    """The mappings that have no compatible one on the right."""
    return replace(left, relation=_joined(left, right, _compatible(left, right), "left_anti"))


def flagged(left: Solutions, right: Solutions, flag: str) -> Solutions:
    """The mappings with a column that says whether there is a row on the right with their keys."""
    marked = right.relation.keep(right.keys).distinct()
    other = marked.select({f"other {key}": name(key) for key in right.keys} | {"there": "TRUE"})
    same = all_of(_same(key) for key in right.keys)
    joined = left.relation.join(other, same, "left_outer", hashed=True)
    kept = {column: name(column) for column in left.relation.columns}
    return replace(left, relation=joined.select(kept | {flag: "coalesce(there, FALSE)"}))


def _other(column: str) -> Cheap:
    return name(f"other {column}")


def _same(column: str) -> str:
    return f"{name(column)} = {_other(column)}"


def _compatible(left: Solutions, right: Solutions) -> list[str]:
    """The conditions under which two rows join, right columns renamed."""
    conditions = [_same(column) for column in left.keys if column in right.keys]
    if left.ranged or right.ranged:
        (first, last), (other_first, other_last) = left.span, right.span
        conditions += [f"{first} <= {_other(other_last)}", f"{_other(other_first)} <= {last}"]
    for column in left.names:
        if column in right.names:
            sides = [(left, name(column)), (right, _other(column))]
            keyed = column in left.keyed or column in right.keyed
            loose = () if keyed else sides
            unbound = [f"{sql} IS NULL" for side, sql in loose if column not in side.bound]
            conditions.append(chain("OR", [*unbound, _same(column)]))
    return conditions


def _joined(left: Solutions, right: Solutions, conditions: list[str], how: How) -> Relation:
    columns = (*right.own, *right.extras, *right.names)
    other = right.relation.select({f"other {column}": name(column) for column in columns})
    if not conditions:
        return left.relation.join(other, "", "cross")
    hashed = not (left.ranged and right.ranged)
    return left.relation.join(other, all_of(conditions), how, hashed=hashed)


def _merged(
    joined: Relation, left: Solutions, right: Solutions, *, bound: frozenset[str]
) -> Solutions:
    """The joined rows with the columns of both sides, each once."""
    columns: dict[str, str] = {}
    ranged = left.ranged and right.ranged
    if ranged:
        first, last = RANGE
        columns = {
            first: f"greatest({first}, {_other(first)})",
            last: f"least({last}, {_other(last)})",
        }
    keys = dict.fromkeys((*left.keys, *right.keys))
    columns |= {column: name(column) if column in left.keys else _other(column) for column in keys}
    extras = tuple(column for column in _COMBINED if column in (*left.extras, *right.extras))
    columns |= {column: _combined(column, left, right) for column in extras}
    names = dict.fromkeys((*left.names, *right.names))
    columns |= {column: _value(column, left, right) for column in names}
    # The evaluation comes first among the keys.
    ordered = tuple(sorted(keys, key=lambda column: column != EVALUATION))
    return Solutions(joined.select(columns), tuple(names), bound, ordered, extras, ranged)


def _combined(column: str, left: Solutions, right: Solutions) -> str:
    if column not in right.extras:
        return name(column)
    if column not in left.extras:
        return f"coalesce({_other(column)}, {ABSENT[column]})"
    return _COMBINED[column].format(name(column), _other(column))


def _value(column: str, left: Solutions, right: Solutions) -> str:
    if column not in left.names:
        return _other(column)
    certain = column not in right.names or column in left.bound
    return name(column) if certain else f"coalesce({name(column)}, {_other(column)})"


def _merged_scope(left: Solutions, right: Solutions) -> Scope:
    """What a condition over both sides sees, before their columns are merged."""
    names = dict.fromkeys((*left.variables, *right.variables))
    return Scope({variable_of(column): _value(column, left, right) for column in names})
