"""Statements on their way to a database: threads with a connection each, and a time for each."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from typing import Any

from bestbefore.errors import JobError
from bestbefore.service.call import Question
from bestbefore.service.message import Statement
from bestbefore.service.no_answer import NoAnswerError
from bestbefore.service.pacing import Turn
from bestbefore.service.request import ServicePattern
from bestbefore.service.results import Rows
from bestbefore.service.sql import Sql
from bestbefore.service.sql_drivers import Driver, driver_of
from bestbefore.service.sql_settings import SqlSettings

_ROWS_AT_A_TIME = 500


@dataclass(slots=True)
class _Running:
    """A statement on a thread: the connection that it has, and whether anyone waits for it."""

    connection: Any = None
    given_up: bool = False


def check_columns(settings: SqlSettings, pattern: ServicePattern) -> None:
    """Refuse tables and columns that a database does not have; one out of reach may have them."""
    transport = SqlTransport(settings, driver_of(settings))
    try:
        transport.execute(Sql(settings, pattern).sample(), settings.timeout_s, _Running())
    except NoAnswerError as trouble:
        if not trouble.passing:
            reason = settings.redact(str(trouble))
            raise JobError(
                f"{settings.address}: {reason}; correct table, query, keys or columns"
            ) from None
    finally:
        transport.shut()


class SqlTransport:
    """The connections to one database, as many as it may be asked by; lives on one event loop."""

    def __init__(self, settings: SqlSettings, driver: Driver) -> None:
        self._settings, self._driver = settings, driver
        self._threads = ThreadPoolExecutor(settings.connections, thread_name_prefix="sql")
        self._lock, self._idle = Lock(), list[tuple[float, Any]]()

    async def exchange(self, message: Statement, question: Question, turn: Turn) -> Rows:
        """The rows of a statement; else `NoAnswerError`."""
        running = _Running()
        work = asyncio.get_running_loop().run_in_executor(
            self._threads, self.execute, message, question.timeout_s, running
        )
        try:
            async with asyncio.timeout(question.timeout_s):
                rows = await work
        except TimeoutError:
            self._give_up(running)
            reason = f"no result within {question.timeout_s:g} s"
            raise NoAnswerError(reason, passing=True, unreached=True) from None
        except asyncio.CancelledError:
            self._give_up(running)
            raise
        turn.use()
        return rows

    async def close(self) -> None:
        """Close the connections; what still runs is not waited for."""
        self.shut()

    def shut(self) -> None:
        """Close the connections, from any thread."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            idle, self._idle = self._idle, []
        for _, connection in idle:
            self._close(connection)

    def execute(self, statement: Statement, timeout_s: float, running: _Running) -> Rows:
        """Run a statement on a connection of its own."""
        try:
            running.connection = self._connection(timeout_s)
            if running.given_up:
                raise NoAnswerError("nobody waits for it any more")
            cursor = running.connection.cursor()
            # Without values psycopg does not look for their places, and SQLite wants no None.
            cursor.execute(statement.text, *([statement.values] if statement.values else ()))
            names = [column[0] for column in cursor.description or ()]
            rows = statement.rows_of(names, self._fetched(cursor))
        except BaseException as error:
            self._close(running.connection)
            if isinstance(error, self._driver.errors):
                raise self._driver.trouble(error) from None
            raise
        with self._lock:
            self._idle.append((timeout_s, running.connection))
        return rows

    def _connection(self, timeout_s: float) -> Any:  # noqa: ANN401 - a connection of DB-API
        with self._lock:
            for place, (allowed_s, connection) in enumerate(self._idle):
                if allowed_s == timeout_s:
                    del self._idle[place]
                    return connection
        return self._driver.connect(timeout_s)

    def _fetched(self, cursor: Any) -> Iterator[tuple[object, ...]]:  # noqa: ANN401
        """The rows of a result, as long as they are not too much."""
        length, most = 0, self._settings.max_response_bytes
        while rows := cursor.fetchmany(_ROWS_AT_A_TIME):
            for row in rows:
                length += sum(len(value) for value in row if isinstance(value, str | bytes))
                if length > most:
                    raise NoAnswerError(
                        f"the result is longer than max_response_bytes = {most}; ask for less at "
                        "once or raise it"
                    )
                yield row

    def _give_up(self, running: _Running) -> None:
        running.given_up = True
        if running.connection is not None:
            self._driver.interrupt(running.connection)

    def _close(self, connection: Any) -> None:  # noqa: ANN401
        if connection is not None:
            with suppress(*self._driver.errors):
                connection.close()
