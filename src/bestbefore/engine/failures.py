"""What a user is told of a failure: the cause, the place and the way out, in one line."""

import errno
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from py4j.protocol import Py4JError, Py4JJavaError

from bestbefore.errors import BestbeforeError, WorkError
from bestbefore.job.job import Job
from bestbefore.spark.payloads import python_failure
from bestbefore.spark.reasons import reason_of
from bestbefore.spark.sources import file_failure
from bestbefore.storage import local_path

_GO_ON = "then the same command goes on after the last batch"
_MAKE_ROOM, _LET_IN, _PUT_BACK = "make room there", "let this user in", "put back what was there"
_WAYS_OUT = {
    errno.ENOSPC: _MAKE_ROOM,
    errno.EDQUOT: _MAKE_ROOM,
    errno.EACCES: _LET_IN,
    errno.EPERM: _LET_IN,
    errno.EROFS: "let it be written to",
    errno.ENOENT: _PUT_BACK,
    errno.ENOTDIR: _PUT_BACK,
    errno.EISDIR: _PUT_BACK,
    errno.EEXIST: _PUT_BACK,
}
_NUMBERS = {os.strerror(number): number for number in _WAYS_OUT}
# What Java says of a file that the operating system refuses: `/a/b (Permission denied)`.
_REASON = "|".join(map(re.escape, _NUMBERS))
_NAMED = re.compile(rf"(?:^|[\s:(])(?P<file>/\S+?):? \(?(?P<reason>{_REASON})\)?")
_UNNAMED = re.compile(rf"(?P<reason>{_REASON})")
_KINDS = {
    re.compile(r"(?:AccessDenied|AccessControl)Exception: (?P<file>/\S+)"): errno.EACCES,
    re.compile(r"ReadOnlyFileSystemException: (?P<file>/\S+)"): errno.EROFS,
    re.compile(r"NoSuchFileException: (?P<file>/\S+)"): errno.ENOENT,
    re.compile(r"does not exist:? (?:file:)?(?P<file>/\S+)"): errno.ENOENT,
    re.compile(r"(?:file:)?(?P<file>/\S+) does not exist"): errno.ENOENT,
    re.compile(r"(?:not a directory|NotDirectoryException): (?:file:)?(?P<file>/\S+)"):
        errno.ENOTDIR,
    re.compile(r"Mkdirs failed to create (?:file:)?(?P<file>/\S+)"): errno.EACCES,
}  # fmt: skip
_FULL_BYTES = 2**20


def told(cause: BaseException, job: Job) -> BestbeforeError:
    """What a user is told of a failure of a job."""
    if isinstance(cause, BestbeforeError):
        return cause
    if any(map(_is_of_a_dead_jvm, _with_contexts(cause))):
        # Nobody answers any more: the JVM was killed, or spark-submit ended it.
        return WorkError("Spark has ended; the same command goes on after the last batch")
    text = str(cause) or type(cause).__name__
    if known := file_failure(text) or python_failure(text):
        return known
    if isinstance(cause, OSError) and cause.strerror:
        return _refused(cause.errno or 0, cause.strerror, cause.filename, job)
    if found := _in_java(text):
        number, file = found
        return _refused(number, os.strerror(number), file, job)
    return WorkError(f"the query stopped: {reason_of(text)}")


def _with_contexts(cause: BaseException) -> Iterator[BaseException]:
    """An error, and those in whose handling it arose: PySpark gives some another name."""
    seen = list[BaseException]()
    error: BaseException | None = cause
    while error is not None and error not in seen:
        seen.append(error)
        yield error
        error = error.__cause__ or error.__context__


def _is_of_a_dead_jvm(error: BaseException) -> bool:
    if isinstance(error, Py4JError):
        return not isinstance(error, Py4JJavaError)
    return isinstance(error, ConnectionError)


def _in_java(text: str) -> tuple[int, str | None] | None:
    """What the operating system refused, and for which file, if that is what Java says."""
    if hit := _NAMED.search(text):
        return _NUMBERS[hit["reason"]], hit["file"]
    for kind, number in _KINDS.items():
        if hit := kind.search(text):
            return number, hit["file"]
    if hit := _UNNAMED.search(text):
        return _NUMBERS[hit["reason"]], None
    return None


def _refused(number: int, reason: str, file: str | None, job: Job) -> WorkError:
    """The error that the operating system refused something."""
    where = file or " or ".join(_written(job, full=number in (errno.ENOSPC, errno.EDQUOT)))
    way_out = _WAYS_OUT.get(number, "repair it")
    return WorkError(f"the query stopped: {reason}: {where}; {way_out}, {_GO_ON}")


def _written(job: Job, *, full: bool) -> list[str]:
    """The folders that a run writes to, only those without room where they are `full`."""
    sink = None if job.sink.format == "stdout" else job.sink.path
    stated = {
        "checkpoint.path": job.checkpoint,
        "sink.path": sink,
        "sink.quality": job.sink.quality,
    }
    folders = {key: f"{key} = {path}" for key, path in stated.items() if path}
    local = {key: path for key in folders if (path := local_path(str(stated[key])))}
    crowded = [folders[key] for key in _without_room(local)] if full else []
    return crowded or [*folders.values(), "Spark's spark.local.dir"]


def _without_room(folders: dict[str, Path]) -> Iterable[str]:
    for key, folder in folders.items():
        there = next(one for one in (folder, *folder.parents) if one.exists())
        if shutil.disk_usage(there).free < _FULL_BYTES:
            yield key
