"""The default window: C-SPARQL's patterns that stand in no clause, put into one."""

from bestbefore.query.algebra import BGP, Graph, PathPattern, Pattern, Service, Window, walk
from bestbefore.query.expressions import Exists, Expression
from bestbefore.query.notes import Notes
from bestbefore.query.rebuilding import with_children, with_expressions, with_operands


def enclose(pattern: Pattern, window: str, notes: Notes) -> Pattern:
    """A pattern in which what matches triples outside of any clause is in a WINDOW clause.

    The clause is put around as much as holds no other clause.
    """

    def below(inner: Pattern) -> Pattern:
        return enclose(inner, window, notes)

    def tested(expression: Expression) -> Expression:
        if isinstance(expression, Exists):
            return Exists(below(expression.pattern), expression.negated)
        return with_operands(expression, tested)

    nodes = list(walk(pattern))
    if isinstance(pattern, Window | Service | Graph) or not any(map(_matches, nodes)):
        return pattern
    if any(isinstance(node, Window | Service | Graph) for node in nodes):
        return with_expressions(with_children(pattern, below), tested)
    place = next(notes.places[node] for node in nodes if node in notes.places)
    return notes.at(place, Window(window, pattern))


def _matches(pattern: Pattern) -> bool:
    return isinstance(pattern, PathPattern) or (isinstance(pattern, BGP) and bool(pattern.patterns))
