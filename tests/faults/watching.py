"""What nobody would see otherwise: calls that never end, and tracebacks of other threads."""

import hashlib
import logging
import signal
import sys
import threading
import traceback
from contextlib import contextmanager, suppress
from time import monotonic

_TRACES = ("Traceback", "An error occurred while calling", "Exception in thread", "\tat ")


class HangError(BaseException):
    """A call that took longer than anyone waits for; no `except Exception` may hide it."""


@contextmanager
def within(seconds):
    """Let a block of the main thread take so long; then it is a hang."""

    def ring(*_):
        raise HangError(f"nothing came back within {seconds} s")

    before, begun = signal.signal(signal.SIGALRM, ring), monotonic()
    left, _ = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        # Somebody else may have been waiting for an alarm of their own.
        left = max(left - (monotonic() - begun), 0.001) if left else 0
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, left)


class _Tracebacks(logging.Handler):
    def __init__(self, findings):
        super().__init__(logging.WARNING)
        self._findings = findings

    def emit(self, record):
        # The server that misbehaves is ours, and has tracebacks of its own.
        if record.exc_info and not record.name.startswith("aiohttp"):
            self._findings.found("tracebacks", f"logged by {record.name}: {record.getMessage()}")


@contextmanager
def watched(findings):
    """Count tracebacks that only a log or a dying thread tells of."""
    handler = _Tracebacks(findings)
    logging.getLogger().addHandler(handler)
    hooks = threading.excepthook, sys.unraisablehook
    threading.excepthook = lambda args: _note(findings, args.exc_value, "in a thread")
    sys.unraisablehook = lambda args: _note(findings, args.exc_value, "nobody could raise")
    try:
        yield
    finally:
        threading.excepthook, sys.unraisablehook = hooks
        logging.getLogger().removeHandler(handler)


def _note(findings, error, where):
    with suppress(ValueError):
        findings.found("tracebacks", f"{where}: {where_of(error)}")


def where_of(error):
    """An exception on one line, with the place that it comes from."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {frames[-1].filename}:{frames[-1].lineno} ({frames[-1].name})" if frames else ""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}{place}"


def is_trace(errors):
    """Whether what a process said has a traceback of Python or Java in it."""
    return any(mark in errors for mark in _TRACES)


def written(folder):
    """What is in a folder, by a digest of each file; locks and logs may always change."""
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.name not in ("lock", "spark.log")
    }


def changes(folder, before):
    """The first names of what was written, changed or removed since."""
    after = written(folder)
    names = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    return sorted(names)[:3]
