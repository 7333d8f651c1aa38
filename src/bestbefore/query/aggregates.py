"""Aggregates over a SERVICE: which answers are, and which of them are computed from the view."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce

from bestbefore.query.algebra import (
    Extend,
    Filter,
    Group,
    Pattern,
    Project,
    Service,
    Variable,
    with_children,
)
from bestbefore.query.join_keys import way_to
from bestbefore.query.scope import visible_variables

_Layer = Group | Project | Extend | Filter


def is_aggregated(service: Service, join_key: Iterable[Variable], around: Pattern) -> bool:
    """Whether of what a service says nothing but aggregates of all that a join key has is seen."""
    own = {*visible_variables(service)} - {*join_key}
    groups = (node for node, _ in way_to(service, around) if isinstance(node, Group))
    return any(not own & {*group.keys} for group in groups)


def aggregated_here(pattern: Pattern, units: Mapping[str, Sequence[str]]) -> Pattern:
    """A pattern in which the engine aggregates what the endpoint would, where units are smaller.

    `units` has the variables that name the units of an endpoint, by its IRI. Where a SERVICE keeps
    them inside a sub-select with GROUP BY, its view has the rows that are aggregated, and the
    sub-select stands around the SERVICE.
    """
    if isinstance(pattern, Service):
        names = {Variable(name) for name in units.get(str(pattern.iri), ())}
        return _opened(pattern, names) if names - {*visible_variables(pattern)} else pattern
    return with_children(pattern, lambda child: aggregated_here(child, units))


def _opened(service: Service, names: set[Variable]) -> Pattern:
    layers, inner = list[_Layer](), service.pattern
    while isinstance(inner, _Layer):
        layers.append(inner)
        inner = inner.pattern
        if isinstance(layers[-1], Group):
            if names <= {*visible_variables(inner)}:
                opened: Pattern = replace(service, pattern=inner)
                return reduce(_around, reversed(layers), opened)
            break
    return service


def _around(inner: Pattern, layer: _Layer) -> Pattern:
    return replace(layer, pattern=inner)
