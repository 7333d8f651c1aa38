"""Join keys: the variables on which a SERVICE meets the WINDOWs it is joined with.

Only those mappings of a SERVICE can reach the answer that agree with the mappings of the WINDOWs
around it. Which these are follows the algebra: both sides of a join restrict each other, the left
side of OPTIONAL and MINUS restricts the right one but not the other way round, and what a subquery
does not select restricts nothing outside of it. VALUES restricts as a WINDOW does, and BIND passes
on what its WINDOW says. A SERVICE that no WINDOW restricts may be restricted by another SERVICE.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from functools import reduce
from typing import assert_never

from bestbefore.query.algebra import (
    Distinct,
    Extend,
    Filter,
    Graph,
    Group,
    Join,
    Leaf,
    LeftJoin,
    Minus,
    Pattern,
    Project,
    Selection,
    Service,
    Slice,
    Union,
    Values,
    Variable,
    Window,
    children,
    services_of,
    walk,
    windows_of,
)
from bestbefore.query.expressions import Exists, Expression, conjuncts, is_repeatable, parts
from bestbefore.query.scope import certain_variables, expression_variables, visible_variables


@dataclass(frozen=True, slots=True)
class JoinKey:
    """The variables on which a SERVICE is joined, in its own order, and what binds them.

    That is a pattern of WINDOW clauses with VALUES and BIND, each a part or an alternative (joins
    and unions), whose mappings those that the SERVICE is joined with extend; or the clause of a
    SERVICE, whose number is `after`. Both sides bind the variables always, for an unbound one would
    agree with every value; only where BIND is an error there is no value, and then no match.
    """

    variables: tuple[Variable, ...]
    bound_by: Pattern
    after: int | None = None


def join_keys(pattern: Pattern) -> list[JoinKey | None]:
    """The join key of each service of a pattern with numbered clauses, None if nothing binds one.

    What no WINDOW restricts is restricted by a service whose own join key is known.
    """
    services = services_of(pattern)
    found = [_by_windows(service, pattern) for service in services]
    waiting = [number for number, key in enumerate(found) if key is None]
    while waiting:
        known = frozenset(number for number, key in enumerate(found) if key is not None)
        for number in waiting:
            found[number] = _by_service(services[number], pattern, known)
        still = [number for number in waiting if found[number] is None]
        if len(still) == len(waiting):
            break
        waiting = still
    return found


def _by_windows(service: Service, pattern: Pattern) -> JoinKey | None:
    usable = _usable(service)
    binding = _Search(usable).around(service, pattern)
    if binding is not None:
        # VALUES may leave out some of what is asked for; it does not make a key of what is told.
        usable &= bound_variables(binding)
    binding = _Search(usable, values=True).around(service, pattern)
    if binding is not None and not windows_of(binding):
        # Values alone say what is asked for, but not when.
        present = _present(service, pattern)
        binding = Join(present, binding) if present is not None else None
    return None if binding is None else JoinKey(_shared(service, binding, usable), binding)


def _by_service(service: Service, pattern: Pattern, known: Collection[int]) -> JoinKey | None:
    usable = _usable(service)
    binding = _Search(usable, frozenset(known)).around(service, pattern)
    if binding is None or any(isinstance(node, Union) for node in walk(binding)):
        return None
    for other in services_of(binding):
        shown = Project(other, visible_variables(binding))
        if (names := _shared(service, shown, usable)) and other.number is not None:
            return JoinKey(names, other, other.number)
    return None


def _usable(service: Service) -> frozenset[Variable]:
    return certain_variables(service.pattern) & {*visible_variables(service)}


def _shared(
    service: Service, binding: Pattern, usable: frozenset[Variable]
) -> tuple[Variable, ...]:
    shared = usable & bound_variables(binding)
    return tuple(name for name in visible_variables(service) if name in shared)


def bound_variables(  # noqa: PLR0911 - one case per node
    binding: Pattern,
) -> frozenset[Variable]:
    """The variables that what binds a join key always binds, but for errors of BIND."""
    match binding:
        case Join(left, right):
            return bound_variables(left) | bound_variables(right)
        case Union(left, right):
            return bound_variables(left) & bound_variables(right)
        case Extend(inner, variable, _):
            return bound_variables(inner) | {variable}
        case Project(inner, names):
            return bound_variables(inner) & frozenset(names)
        case Distinct(inner):
            return bound_variables(inner)
        case Service(_, inner):
            # One that is silent and fails has no rows.
            return certain_variables(inner)
    return certain_variables(binding)


def way_to(service: Service, pattern: Pattern) -> list[tuple[Pattern, Pattern]]:
    """The patterns from the outermost down to a service, each with the child that leads there."""
    above = {id(child): node for node in walk(pattern) for child in children(node)}
    way: list[tuple[Pattern, Pattern]] = []
    inner: Pattern = service
    while inner is not pattern:
        way.append((above[id(inner)], inner))
        inner = above[id(inner)]
    return way[::-1]


def _present(service: Service, pattern: Pattern) -> Pattern | None:
    """Some WINDOW without a mapping of which there is no answer with the service."""
    for node, inner in way_to(service, pattern):
        match node:
            case Join(left, right):
                other = right if inner is left else left
            case LeftJoin(other, _, _) | Minus(other, _) if inner is not other:
                pass
            case _:
                continue
        anything = _Search(frozenset(visible_variables(other)))
        found = anything.binding(other)
        if found is not None and (windows := windows_of(found)):
            return windows[0]
    return None


@dataclass(frozen=True, slots=True)
class _Search:
    """What is looked for: who binds a `usable` variable, WINDOWs and VALUES or else some services.

    What stands on the way and cannot be asked restricts nothing.
    """

    usable: frozenset[Variable]
    services: frozenset[int] | None = None
    values: bool = False

    def around(self, service: Service, pattern: Pattern) -> Pattern | None:
        """What restricts a service of a pattern."""
        binding: Pattern | None = None
        for node, inner in way_to(service, pattern):
            binding = self._around(node, inner, binding)
        return binding

    def _around(self, pattern: Pattern, inner: Pattern, outer: Pattern | None) -> Pattern | None:
        """What restricts a child of a pattern, given what restricts the pattern."""
        match pattern:
            case Join(left, right):
                return _together(outer, self.binding(right if inner is left else left))
            case LeftJoin(left, right, _) | Minus(left, right) if inner is right:
                # What the left side binds decides whether there is a match, and nothing else may.
                own = self.binding(left)
                always = certain_variables(left) | (bound_variables(own) if own else frozenset())
                return self._shown(_together(outer, own), always)
            case Filter(condition, _):
                tested = (self._tested(part, inner) for part in conjuncts(condition))
                return reduce(_together, tested, outer)
            case Project(_, names) | Group(_, names, _):
                return self._shown(outer, names)
            case Slice():
                # Which mappings are the first depends on all of them.
                return None
        return outer

    def binding(self, pattern: Pattern) -> Pattern | None:  # noqa: PLR0911 - one case per node
        """What has a part in every mapping of a pattern and binds a usable variable."""
        match pattern:
            case Window() | Values() | Service():
                return (
                    self._shown(pattern, visible_variables(pattern))
                    if self._asks(pattern)
                    else None
                )
            case Join(left, right):
                return _together(self.binding(left), self.binding(right))
            case Union(left, right):
                one, other = self.binding(left), self.binding(right)
                both = one and other and (self.services or (windows_of(one) and windows_of(other)))
                either = Union(one, other) if one and other and both else None
                return self._shown(either, visible_variables(pattern))
            case Project(inner, names) | Group(inner, names, _):
                return self._shown(self.binding(inner), names)
            case LeftJoin() | Minus():
                return self.binding(pattern.left)
            case Extend():
                return self._extended(pattern)
        if isinstance(pattern, Leaf | Graph):
            return None
        if isinstance(pattern, Selection):
            return self.binding(pattern.pattern)
        assert_never(pattern)

    def _asks(self, leaf: Window | Values | Service) -> bool:
        match leaf:
            case Window():
                return self.services is None
            case Values():
                return self.values
            case Service(number=number):
                return self.services is not None and number in self.services
        assert_never(leaf)

    def _extended(self, pattern: Extend) -> Pattern | None:
        """What binds what BIND computes: what binds all that it looks at, extended."""
        inner, variable, expression = pattern.pattern, pattern.variable, pattern.expression
        if self.services is None and variable in self.usable and _is_plain(expression):
            read = frozenset(expression_variables(expression)) & {*visible_variables(inner)}
            wanted = self.usable | (read or {*visible_variables(inner)})
            found = replace(self, usable=wanted).binding(inner)
            if found is not None and windows_of(found) and read <= bound_variables(found):
                return Extend(found, variable, expression)
        return self.binding(inner)

    def _tested(self, condition: Expression, inner: Pattern) -> Pattern | None:
        """The WINDOWs that must have a mapping for EXISTS to be true, however many they have."""
        if not isinstance(condition, Exists) or condition.negated:
            return None
        found = self._shown(self.binding(condition.pattern), visible_variables(inner))
        return None if found is None else Distinct(found)

    def _shown(self, pattern: Pattern | None, names: Iterable[Variable]) -> Pattern | None:
        """A pattern with some variables only; None if it binds no usable one of them."""
        if pattern is None:
            return None
        known, wanted = visible_variables(pattern), frozenset(names)
        kept = tuple(name for name in known if name in wanted)
        if not self.usable & bound_variables(pattern) & {*kept}:
            return None
        return pattern if kept == known else Project(pattern, kept)


def _is_plain(expression: Expression) -> bool:
    """Whether an expression has a value of its own, the same whenever it is asked for."""
    tests = any(isinstance(part, Exists) for part in parts(expression))
    return is_repeatable(expression) and not tests


def _together(left: Pattern | None, right: Pattern | None) -> Pattern | None:
    return Join(left, right) if left and right else left or right
