"""The errors a user can meet.

BestbeforeError
├── InputError            the input is wrong: exit code 2
│   ├── QueryError            the query text, with its line and column
│   │   └── UnsupportedSparql     valid SPARQL that this version does not run
│   ├── JobError              the job file, with the key
│   ├── PolicyError           a policy name or its parameters
│   └── StateError            a checkpoint of another job or a newer format
│       └── MissingQueryError     one of queries that run together, not all of which are there
└── WorkError             the work failed: exit code 1
    ├── ServiceError          a SPARQL endpoint did not give a usable answer
    └── DamagedState          a checkpoint or a ledger that lost something
"""

from collections.abc import Iterable
from difflib import get_close_matches

_SHOWN = 60


class BestbeforeError(Exception):
    """Any error that bestbefore reports to its user in one line."""

    exit_code = 1


class InputError(BestbeforeError):
    """Something the user wrote is wrong; the message says what would be right."""

    exit_code = 2


class QueryError(InputError):
    """A query that cannot be read, with the line and column in its text."""

    def __init__(self, message: str, *, line: int | None = None, column: int | None = None) -> None:
        self.line, self.column = line, column
        where = "" if line is None else f"line {line}, column {column}: "
        super().__init__(where + message)


class UnsupportedSparql(QueryError):
    """A valid construct that this version does not run."""


class JobError(InputError):
    """A job file that cannot be run as it is."""


class PolicyError(InputError):
    """A policy that does not exist or does not fit the query."""


class StateError(InputError):
    """A checkpoint that this job cannot go on from."""


class MissingQueryError(StateError):
    """A checkpoint of queries that run together, of which some are not there."""


class WorkError(BestbeforeError):
    """The input was right, the work failed all the same."""


class ServiceError(WorkError):
    """A SPARQL endpoint that gave no usable answer."""


class DamagedState(WorkError):
    """A checkpoint or a ledger of which something is missing or altered."""


def excerpt(value: object) -> str:
    """A value as a message shows it: its beginning, if it is long."""
    try:
        text = repr(value)
    except ValueError:
        # Python writes no integer of more than some thousand digits.
        return "a number of thousands of digits"
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of an error message: the names most like `name`, or all of them."""
    names = sorted(known)
    folded = {known_name.casefold(): known_name for known_name in names}
    close = [folded[hit] for hit in get_close_matches(name.casefold(), folded, n=3, cutoff=0.5)]
    if close:
        return "did you mean " + " or ".join(map(repr, close)) + "?"
    return "known: " + ", ".join(names)
