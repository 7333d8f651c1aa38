"""Window outputs: the variables of a WINDOW clause that anything outside of it looks at."""

from collections.abc import Iterator
from typing import assert_never

from bestbefore.query.algebra import (
    Ask,
    Construct,
    Describe,
    Form,
    Graph,
    Group,
    Leaf,
    Pattern,
    Project,
    Select,
    Service,
    Variable,
    Window,
    children,
    expressions_of,
    tested_patterns,
)
from bestbefore.query.expressions import is_volatile, own_variables
from bestbefore.query.scope import triple_variables, variables, visible_variables
from bestbefore.rdf.terms import BlankNode


def window_outputs(clause: Window, around: Pattern, form: Form) -> tuple[Variable, ...]:
    """The variables of a WINDOW that must leave it; of equal mappings only the number is kept."""
    own = visible_variables(clause)
    outside = list(_outside(around, clause))
    if _tells_mappings_apart(outside, form):
        return own
    used = {*_answer_variables(form)}.union(*map(_looked_at, outside))
    return tuple(variable for variable in own if variable in used)


def _outside(pattern: Pattern, clause: Window) -> Iterator[Pattern]:
    """A pattern and those below it, without what stands inside a clause, and without this one."""
    pending = [pattern]
    while pending:
        node = pending.pop()
        if node is not clause:
            yield node
            if not isinstance(node, Window | Service):
                pending += (*children(node), *tested_patterns(node))


def _looked_at(node: Pattern) -> tuple[Variable, ...]:
    """The variables that a node itself names."""
    if isinstance(node, Leaf | Project | Window | Service):
        return variables(node)
    read = tuple(name for part in expressions_of(node) for name in own_variables(part))
    match node:
        case Graph(Variable() as name, _):
            return (name,)
        case Group(_, keys, _):
            return (*keys, *read)
    return read


def _answer_variables(form: Form) -> tuple[Variable, ...]:
    match form:
        case Select(projection):
            return projection
        case Construct(template):
            return triple_variables(template)
        case Describe(terms):
            return tuple(term for term in terms if isinstance(term, Variable))
        case Ask():
            return ()
    assert_never(form)


def _tells_mappings_apart(outside: list[Pattern], form: Form) -> bool:
    """Whether mappings must be told apart in full: each gets new blank nodes or new values."""
    template = form.template if isinstance(form, Construct) else ()
    if any(isinstance(term, BlankNode) for triple in template for term in triple.terms):
        return True
    volatile = (is_volatile(part) for node in outside for part in expressions_of(node))
    return any(volatile) or any(map(_counts_distinct_mappings, outside))


def _counts_distinct_mappings(node: Pattern) -> bool:
    aggregates = node.aggregates if isinstance(node, Group) else ()
    return any(one.distinct and one.argument is None for _, one in aggregates)
