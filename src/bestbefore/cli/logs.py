"""The log of a command: lines on stderr, as text for people or as JSON for machines.

Whoever logs gives what a line is about as `extra`: the query, batch, evaluation and service.
"""

import json
import logging
import sys
from pathlib import Path
from typing import Literal

from bestbefore.errors import InputError, nearest
from bestbefore.time import format_instant

LogFormat = Literal["text", "json"]
LEVELS = ("debug", "info", "warning", "error")

log = logging.getLogger("bestbefore")

_ABOUT = ("query", "batch", "evaluation", "service")


def set_up_log(form: str, level: str, *, query: str | None = None) -> None:
    """Let the log go to stderr from now on, in a form, from a level on."""
    for option, value, known in (("format", form, _FORMS), ("level", level, LEVELS)):
        if value not in known:
            raise InputError(f"--log-{option} {value!r}: {nearest(value, known)}")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_FORMS[form](query))
    log.handlers[:] = [handler]
    log.setLevel(level.upper())
    log.propagate = False
    # It would tell of a JVM that has ended by tracebacks of its own, in part by the root's logger.
    logging.getLogger("py4j").setLevel(logging.CRITICAL + 1)
    logging.getLogger().addFilter(_is_not_py4js)


def _is_not_py4js(record: logging.LogRecord) -> bool:
    return "py4j" not in Path(record.pathname).parts


def tell_error(error: Exception) -> bool:
    """Log the error that ends a command, if its log is for machines; otherwise it is printed."""
    if not any(isinstance(handler.formatter, JsonLines) for handler in log.handlers):
        return False
    log.error("%s", error)
    return True


class TextLines(logging.Formatter):
    """Time, level and message, then what the line is about."""

    def __init__(self, query: str | None = None) -> None:
        super().__init__()
        self.query = query

    def format(self, record: logging.LogRecord) -> str:
        """One line of text."""
        about = [f"{key}={value}" for key, value in _about(record, None).items()]
        message = " ".join(record.getMessage().splitlines())
        told = f"{_time(record)} {record.levelname.lower():7} {message}"
        return f"{told}  [{' '.join(about)}]" if about else told


class JsonLines(logging.Formatter):
    """An object per line: time, level, message, and what the line is about."""

    def __init__(self, query: str | None = None) -> None:
        super().__init__()
        self.query = query

    def format(self, record: logging.LogRecord) -> str:
        """One line of JSON."""
        level, message = record.levelname.lower(), record.getMessage()
        fields = {"time": _time(record), "level": level, "message": message}
        return json.dumps(fields | _about(record, self.query), ensure_ascii=False)


_FORMS = {"text": TextLines, "json": JsonLines}


def _time(record: logging.LogRecord) -> str:
    return format_instant(int(record.created * 1000))


def _about(record: logging.LogRecord, query: str | None) -> dict[str, object]:
    """What a record is about; where it does not say of which query, of the command's own."""
    known = {"query": query, **record.__dict__}
    return {key: known[key] for key in _ABOUT if known.get(key) is not None}
