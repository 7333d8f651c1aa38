"""Refusals: legal queries that are not run, each with the way out.

Some are not supported in this version, others can only be a mistake. `docs/queries.md` lists the
same; what is in neither list is run.
"""

from enum import Enum

from bestbefore.errors import QueryError, UnsupportedSparql
from bestbefore.query.continuous import Place

# Whoever walks a query by recursion has Python's usual thousand frames for it, and so has whoever
# reads it: a bracket takes at most seven.
DEEPEST_BRACKETS = 100
DEEPEST_OPERATORS = 200


def error_at(place: Place | None, message: str) -> QueryError:
    """An error in the query at a place of its text."""
    line, column = place or (None, None)
    return QueryError(message, line=line, column=column)


class Refusal(Enum):
    """What is refused on purpose, and what to write instead."""

    DESCRIBE = "DESCRIBE", "use CONSTRUCT with the triples"
    FUNCTION_BY_IRI = (
        "a function that is named by its IRI",
        "only casts to a type of XML Schema have one, such as xsd:integer(?x)",
    )
    WINDOW_VARIABLE = "WINDOW with a variable", "name it by its IRI"
    SERVICE_VARIABLE = "SERVICE with a variable", "name the endpoint by its IRI"
    SERVICE_IN_EXISTS = "SERVICE inside EXISTS", "join with it, and test what it binds"
    GRAPH_IN_WINDOW = (
        "GRAPH inside WINDOW",
        "the content of a window is one graph; leave GRAPH out",
    )
    OUTSIDE_CLAUSES = (
        "a triple pattern outside WINDOW and SERVICE",
        "move it into the clause whose data it describes, or add FROM <graph>",
    )
    OUTER_VARIABLE = (
        "a WINDOW inside EXISTS that looks at a variable from outside",
        "write the FILTER after the WINDOW, inside EXISTS",
    )
    MIXED_GRAPH = (
        "FROM next to FROM STREAM",
        "write FROM NAMED WINDOW and WINDOW { … } for what is in the stream",
    )
    COMPUTED_EVERY = (
        "COMPUTED EVERY other than the STEP of the window",
        "a query is computed whenever a window moves on; make the two equal",
    )
    NAMED_STREAM = (
        "FROM NAMED STREAM",
        "a stream needs a window: FROM NAMED WINDOW <window> ON <stream> [RANGE PT10M STEP PT1M]",
    )
    DIFFERENT_EXTENTS = (
        "streams of one default window, or one STREAM twice, with different extents",
        "give them the same extent, or declare each by FROM NAMED WINDOW",
    )
    ESCAPED_NAME = "a \\u escape outside of strings and IRIs", "write the character itself"
    TOO_DEEP = (
        f"brackets more than {DEEPEST_BRACKETS} deep, operators more than {DEEPEST_OPERATORS} deep",
        "simplify the query",
    )
    NESTED_CLAUSES = (
        "WINDOW or SERVICE inside WINDOW, SERVICE or GRAPH",
        "write one after the other, they are joined on the variables they share",
    )
    NO_JOIN_KEY = (
        "a SERVICE that shares no variable with a WINDOW",
        "name what both describe by the same variable",
    )
    UNBOUND_ANSWER = (
        "SELECT or CONSTRUCT with a variable that nothing binds",
        "bind it or leave it out",
    )
    UNUSED_WINDOW = (
        "a window that is declared but never used",
        "add WINDOW { … } with its name, or leave it out",
    )

    def __init__(self, construct: str, instead: str) -> None:
        self.construct, self.instead = construct, instead

    def at(self, place: Place | None, construct: str = "") -> UnsupportedSparql:
        """The refusal of what is not supported, at a place and under its own name if it has one."""
        line, column = place or (None, None)
        message = f"{construct or self.construct} is not supported in this version; {self.instead}"
        return UnsupportedSparql(message, line=line, column=column)

    def mistake(self, place: Place | None, message: str) -> QueryError:
        """The refusal of what can only be a mistake, in words of its own."""
        return error_at(place, f"{message}; {self.instead}")
