"""The settings of a lookup in a SQL database."""

import re
from dataclasses import dataclass, field
from typing import ClassVar, Literal, get_args
from urllib.parse import urlsplit

from bestbefore.errors import InputError
from bestbefore.service.lookup import Column, KeyColumn
from bestbefore.service.settings import check_numbers, check_waits, meaning_of

Driver = Literal["sqlite", "postgresql"]
DRIVERS: tuple[Driver, ...] = get_args(Driver)
_MEBIBYTE = 1024 * 1024
PLACE = "{keys}"
"""Where a query of the user's own has the keys of a batch."""


@dataclass(frozen=True, slots=True)
class SqlSettings:
    """Where a database is, what is asked of it, and how hard.

    Units are rows of a `table`, or of a `query` with `{keys}` where the keys of a batch belong;
    key columns and `columns` are names in it, and `modified` that of the time of the last change.
    What is asked is the same as of an endpoint (`ClientSettings`), and so are the numbers.
    `database` is the path of a file or a connection string; it appears neither in `repr` nor in
    messages, which show `address`.
    """

    driver: Driver
    database: str = field(repr=False)
    columns: tuple[Column, ...] = ()
    keys: tuple[KeyColumn, ...] = ()
    table: str | None = None
    query: str | None = None
    modified: str | None = None
    units_per_request: int = 50
    connections: int = 4
    timeout_s: float = 10.0
    load_timeout_s: float = 60.0
    attempts: int = 3
    max_rows: int | None = 10_000
    max_response_bytes: int = 64 * _MEBIBYTE
    requests_per_second: float | None = None
    circuit_failures: int = 5
    circuit_wait_s: float = 10.0
    circuit_longest_wait_s: float = 300.0
    address: str = field(init=False, default="")
    # A database asks nobody to wait, and a load of it is one statement.
    max_retry_after_s: ClassVar[float] = 0.0
    page_rows: ClassVar[int | None] = None

    def __post_init__(self) -> None:
        if self.driver not in DRIVERS:
            raise InputError(f"driver = {self.driver!r}: it must be one of {', '.join(DRIVERS)}")
        if (self.table is None) == (self.query is None):
            raise InputError("give either table (its name) or query (a SELECT of your own)")
        if self.query is not None and self.query.count(PLACE) != 1:
            raise InputError(
                f"query needs {PLACE} once, where the keys of a batch belong: … IN ({PLACE})"
            )
        object.__setattr__(self, "address", _address(self.driver, self.database))
        check_numbers(self)
        check_waits(self)

    @property
    def meaning(self) -> str:
        """What tells its rows from those of others in the database."""
        return meaning_of(self.table, self.query, self.keys, self.columns)

    def redact(self, foreign: str) -> str:
        """A text that may quote the database, without the connection string and its password."""
        if self.driver == "sqlite":
            return foreign
        for secret in sorted({self.database, *_passwords(self.database)}, key=len, reverse=True):
            foreign = foreign.replace(secret, "***")
        return foreign


def _passwords(database: str) -> list[str]:
    found = re.findall(r"password\s*=\s*('(?:[^'\\]|\\.)*'|[^\s&]+)", database)
    in_url = re.match(r"\w+://[^:/@]*:([^@]*)@", database)
    found += [in_url[1]] if in_url else []
    return [secret.strip("'") for secret in found if secret.strip("'")]


def _address(driver: Driver, database: str) -> str:
    """What a database is known by: without user and password."""
    if driver == "sqlite":
        return f"sqlite:{database}"
    if "://" in database:
        parts = urlsplit(database)
        host = parts.netloc.rpartition("@")[2]
        return f"postgresql://{host}{parts.path}"
    given = dict(re.findall(r"(host|port|dbname)\s*=\s*([^\s']+)", database))
    host = ":".join(filter(None, (given.get("host"), given.get("port"))))
    return f"postgresql://{host}/{given.get('dbname', '')}"
