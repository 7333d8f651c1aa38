"""An event loop on a thread of its own, for callers that block."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future
from threading import Lock, Thread
from typing import Any, TypeVar

from bestbefore.service.no_answer import NoAnswerError

T = TypeVar("T")
Work = Callable[[], Coroutine[Any, Any, T]]


class LoopThread:
    """One event loop on one daemon thread, started by the first call and shared by all callers."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: Thread | None = None
        self._closed = False

    def run(self, work: Work[T]) -> T:
        """Run `work` on the loop and wait for its result; a closed loop is a `NoAnswerError`."""
        future = self._submit(work)
        try:
            return future.result()
        except CancelledError:
            raise NoAnswerError("the client was closed before the answer came") from None
        except BaseException:
            # An interrupted caller must not leave requests behind.
            future.cancel()
            raise

    def close(self, farewell: Work[None]) -> None:
        """Cancel what is running, run `farewell`, stop the loop and end the thread."""
        with self._lock:
            self._closed = True
            loop, self._loop = self._loop, None
        if loop is not None and self._thread is not None:
            asyncio.run_coroutine_threadsafe(_wind_up(farewell), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            self._thread.join()
            loop.close()

    def _submit(self, work: Work[T]) -> "Future[T]":
        with self._lock:
            if self._closed:
                raise NoAnswerError("the client is closed")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = Thread(target=self._loop.run_forever, name=self._name, daemon=True)
                self._thread.start()
            return asyncio.run_coroutine_threadsafe(work(), self._loop)


async def _wind_up(farewell: Work[None]) -> None:
    running = asyncio.all_tasks() - {asyncio.current_task()}
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
    await farewell()
