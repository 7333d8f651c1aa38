"""Drivers of databases: how each is connected to, interrupted, and what its errors mean."""

import sqlite3
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

from bestbefore.errors import JobError
from bestbefore.service.no_answer import NoAnswerError
from bestbefore.service.sql_settings import SqlSettings

_EXTRA = "pip install 'bestbefore[postgresql]'"
_PASSING_STATES = ("08", "40", "53", "55P03", "57")
_DATA_STATES = ("22",)


class Driver(Protocol):
    """One way to a database; its connections only read."""

    errors: tuple[type[Exception], ...]

    def connect(self, timeout_s: float) -> Any:  # noqa: ANN401 - a connection of DB-API
        """A new connection, of which a statement may take so long."""
        ...

    def interrupt(self, connection: Any) -> None:  # noqa: ANN401
        """End the statement that runs, from another thread."""
        ...

    def trouble(self, error: Exception) -> NoAnswerError:
        """What an error means for the question."""
        ...


class Sqlite:
    """SQLite, from a file that is opened read-only."""

    errors: tuple[type[Exception], ...] = (sqlite3.Error, OverflowError)

    def __init__(self, path: str) -> None:
        if not Path(path).is_file():
            raise JobError(f"no such file: {path}; database is the path of a SQLite file")
        self._address = f"file:{quote(str(Path(path).absolute()))}?mode=ro"

    def connect(self, timeout_s: float) -> sqlite3.Connection:
        """A new connection; a lock is waited for."""
        connection = sqlite3.connect(
            self._address, uri=True, timeout=timeout_s, check_same_thread=False
        )
        connection.execute("PRAGMA query_only = ON")
        # What is no UTF-8 makes one row invalid, not all of them unreadable.
        connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
        return connection

    def interrupt(self, connection: sqlite3.Connection) -> None:
        """End the statement that runs."""
        with suppress(sqlite3.Error):
            connection.interrupt()

    def trouble(self, error: Exception) -> NoAnswerError:
        """A lock may be over at the next attempt; the rest stays."""
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        busy = code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_INTERRUPT)
        too_many = "too many SQL variables" in str(error)
        return NoAnswerError(f"SQLite: {error}", passing=busy, unreached=busy, refused=too_many)


class Postgresql:
    """PostgreSQL, by psycopg."""

    def __init__(self, conninfo: str) -> None:
        try:
            self._psycopg = import_module("psycopg")
        except ImportError:
            raise JobError(f"driver = 'postgresql' needs psycopg: {_EXTRA}") from None
        self._conninfo = conninfo
        self.errors: tuple[type[Exception], ...] = (self._psycopg.Error,)

    def connect(self, timeout_s: float) -> Any:  # noqa: ANN401 - psycopg may not be installed
        """A new connection, whose statements are cut off by the server itself."""
        connection = self._psycopg.connect(
            self._conninfo,
            autocommit=True,
            connect_timeout=max(2, round(timeout_s)),
            prepare_threshold=None,
        )
        connection.execute("SET default_transaction_read_only = on")
        connection.execute(f"SET statement_timeout = {max(1, round(timeout_s * 1000))}")
        return connection

    def interrupt(self, connection: Any) -> None:  # noqa: ANN401
        """Nothing: the server ends the statement when its time is over."""

    def trouble(self, error: Exception) -> NoAnswerError:
        """A lost connection and a busy server may pass; a value may be none of its type."""
        state = getattr(error, "sqlstate", None) or ""
        lost = not state and isinstance(error, self._psycopg.OperationalError)
        passing = lost or state.startswith(_PASSING_STATES)
        said = " ".join(str(error).split())
        refused = state.startswith(_DATA_STATES)
        return NoAnswerError(
            f"PostgreSQL: {said}", passing=passing, unreached=passing, refused=refused
        )


def driver_of(settings: SqlSettings) -> Driver:
    """The driver that a job names; one that cannot be used here is a `JobError`."""
    if settings.driver == "sqlite":
        return Sqlite(settings.database)
    return Postgresql(settings.database)
