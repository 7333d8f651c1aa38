"""The law of join keys: a service need only say what the windows around it ask for."""

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bestbefore.query import rewrite
from bestbefore.query.algebra import (
    BGP,
    Distinct,
    Filter,
    Join,
    LeftJoin,
    Minus,
    Project,
    Service,
    Union,
    Window,
    numbered,
    services_of,
    windows_of,
    with_children,
)
from bestbefore.query.expressions import Exists
from bestbefore.query.join_keys import bound_variables, join_keys
from bestbefore.query.scope import certain_variables, visible_variables

from .patterns import with_labels_apart
from .test_query_rewrites import (
    FIXED,
    STORES,
    condition,
    extended,
    graph,
    grouped,
    most_solutions,
    projected,
    solutions,
    triple,
    values,
)

bgp = triple.map(lambda one: BGP((one,)))
data = st.one_of(bgp, bgp, st.builds(LeftJoin, bgp, bgp), st.builds(Union, bgp, bgp))
window, service = st.builds(Window, graph, data), st.builds(Service, graph, data)


def filtered(draw, below):
    return Filter(draw(condition | st.builds(Exists, window, st.booleans())), below())


OPERATORS = (
    lambda draw, below: Join(below(), below()),
    lambda draw, below: Join(below(), below()),
    lambda draw, below: LeftJoin(below(), below(), draw(st.none() | condition)),
    lambda draw, below: Union(below(), below()),
    lambda draw, below: Minus(below(), below()),
    extended,
    projected,
    grouped,
    filtered,
)


@st.composite
def patterns(draw):
    """Patterns of clauses that are joined, optional, alternatives, taken away and tested."""

    def grown(depth):
        if depth == 0:
            return draw(st.one_of(window, window, service, service, values()))
        return draw(st.sampled_from(OPERATORS))(draw, lambda: grown(depth - 1))

    pattern = grown(draw(st.integers(1, 3)))
    if not services_of(pattern):
        pattern = Join(pattern, draw(service))
    if not windows_of(pattern):
        pattern = Join(draw(window), pattern)
    assume(most_solutions(pattern) < 10**4)
    return numbered(with_labels_apart(pattern))


def restricted(pattern, keys):
    """The pattern with each service restricted to the join keys that its windows bind."""
    if isinstance(pattern, Service) and (key := keys[pattern.number]):
        return Join(pattern, Distinct(Project(key.bound_by, key.variables)))
    return with_children(pattern, lambda below: restricted(below, keys))


@settings(FIXED, max_examples=120)
@given(patterns())
def test_a_service_restricted_to_its_join_keys_gives_the_same_answers(pattern):
    keys = join_keys(pattern)
    assume(any(keys))
    for each, key in zip(services_of(pattern), keys, strict=True):
        if key is not None:
            always = certain_variables(each.pattern) & bound_variables(key.bound_by)
            assert set() < {*key.variables} <= always
    if all(keys):
        rewritten = numbered(rewrite(pattern))
        assert all(join_keys(rewritten))
    smaller = with_labels_apart(restricted(pattern, keys))
    for store in STORES:
        found = solutions(smaller, visible_variables(pattern), store)
        assert found == solutions(pattern, visible_variables(pattern), store)
