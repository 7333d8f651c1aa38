"""Join keys: the variables on which a SERVICE meets the WINDOWs it is joined with."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from bestbefore.query.algebra import (
    Group,
    Join,
    LeftJoin,
    Minus,
    Pattern,
    Project,
    Service,
    Union,
    Variable,
    Window,
    children,
    expressions_of,
    visible_variables,
    walk,
)
from bestbefore.query.expressions import exists_patterns


@dataclass(frozen=True, slots=True)
class JoinKey:
    """The variables that a SERVICE shares with WINDOWs, in its own order, and whose they are.

    `alternative` says that a mapping comes from one of the windows (UNION), not from all (a join).
    """

    variables: tuple[Variable, ...]
    windows: tuple[Window, ...]
    alternative: bool = False


@dataclass(frozen=True, slots=True)
class _Reach:
    """A clause, and those of its variables that are in scope where it is looked at."""

    clause: Window | Service
    variables: frozenset[Variable]


@dataclass(slots=True)
class _Meetings:
    """The windows that each service meets, and on which variables; services by their identity."""

    met: dict[int, list[tuple[Window, frozenset[Variable]]]] = field(default_factory=dict)

    def meet(self, left: Iterable[_Reach], right: Iterable[_Reach]) -> None:
        """Note what two sides of a join have in common."""
        for one, other in ((one, other) for one in left for other in right):
            shared = one.variables & other.variables
            match one.clause, other.clause:
                case (Service() as service, Window() as window) | (
                    Window() as window,
                    Service() as service,
                ) if shared:
                    self.met.setdefault(id(service), []).append((window, shared))


def join_key(service: Service, pattern: Pattern) -> JoinKey:
    """The join key of a service of a pattern; it has no variables if it meets no window."""
    meetings = _Meetings()
    _reach(pattern, meetings)
    met = meetings.met.get(id(service), [])
    shared = {variable for _, variables in met for variable in variables}
    windows = tuple(dict.fromkeys(window for window, _ in met))
    return JoinKey(
        tuple(each for each in visible_variables(service) if each in shared),
        windows,
        alternative=_are_alternatives(windows, pattern),
    )


def _are_alternatives(windows: tuple[Window, ...], pattern: Pattern) -> bool:
    """Whether two of the windows stand on different sides of a UNION."""
    for node in walk(pattern):
        if isinstance(node, Union):
            left, right = ({*walk(side)} & {*windows} for side in (node.left, node.right))
            if (left - right) and (right - left):
                return True
    return False


def _reach(pattern: Pattern, meetings: _Meetings) -> list[_Reach]:
    """The clauses of a pattern with their variables in scope; meetings inside it are noted."""
    match pattern:
        case Window() | Service():
            return [_Reach(pattern, frozenset(visible_variables(pattern)))]
        case Join() | LeftJoin() | Minus():
            left, right = _reach(pattern.left, meetings), _reach(pattern.right, meetings)
            meetings.meet(left, right)
            reached = left if isinstance(pattern, Minus) else left + right
        case Project(inner, names) | Group(inner, names, _):
            kept = frozenset(names)
            reached = [
                _Reach(each.clause, each.variables & kept) for each in _reach(inner, meetings)
            ]
        case _:
            reached = [each for child in children(pattern) for each in _reach(child, meetings)]
    for inner in (each for part in expressions_of(pattern) for each in exists_patterns(part)):
        meetings.meet(reached, _reach(inner, meetings))
    return reached
