"""How the demo ends: on signals in good order, and with a quiet stderr on the way."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NoReturn, TextIO

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def ending_on_signals() -> Iterator[None]:
    """Let the first Ctrl-C, SIGTERM or SIGHUP unwind the program; later ones are not heard.

    Whoever presses Ctrl-C twice must not interrupt the end of the processes that were started.
    """
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    for number in _SIGNALS:
        signal.signal(number, _unwind)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _unwind(number: int, _frame: FrameType | None) -> NoReturn:
    ignore_signals()
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    sys.exit(128 + number)


def ignore_signals() -> None:
    """Let no signal end the program any more: what is left to do is short and has to be done."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)


@contextmanager
def stderr_into(log: Path) -> Iterator[TextIO]:
    """Send what libraries and child processes say on stderr to a log, and yield the real stderr."""
    sys.stderr.flush()
    real = os.dup(2)
    with log.open("ab") as file:
        os.dup2(file.fileno(), 2)
    try:
        with os.fdopen(os.dup(real), "w", encoding="utf-8") as stderr:
            yield stderr
    finally:
        sys.stderr.flush()
        os.dup2(real, 2)
        os.close(real)
