"""What a user is told of a failure, in Python's words or in Java's."""

import errno
import os
from pathlib import Path

import pytest
from py4j.protocol import Py4JNetworkError

from bestbefore.engine.failures import told
from bestbefore.errors import StateError, WorkError
from bestbefore.job import read_job

QUERY = """REGISTER RSTREAM q AS SELECT ?a FROM NAMED WINDOW <w> ON <s> [RANGE 1m]
WHERE { WINDOW <w> { ?a <http://e/p> ?b } }"""


@pytest.fixture
def job(tmp_path):
    (tmp_path / "stream").mkdir()
    streams = {"s": {"path": "stream"}}
    return read_job({"query": {"text": QUERY}, "streams": streams}, folder=tmp_path)


def failed(call):
    try:
        call()
    except OSError as error:
        return error
    raise AssertionError("nothing failed")


def test_what_python_was_refused(job, tmp_path):
    missing = tmp_path / "missing" / "file"
    error = told(failed(missing.read_bytes), job)
    assert isinstance(error, WorkError)
    assert str(error) == (
        f"the query stopped: No such file or directory: {missing}; put back what was there, then "
        "the same command goes on after the last batch"
    )

    def fill():
        with Path("/dev/full").open("wb", buffering=0) as file:
            file.write(b"x")

    # Without a path, it is one of those that a run writes to.
    line = str(told(failed(fill), job))
    assert "No space left on device: checkpoint.path = " in line
    assert "sink.path = " in line
    assert "make room there" in line


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("java.io.FileNotFoundException: /a/b (Permission denied)", errno.EACCES),
        ("terminated with exception: /a/b: Permission denied SQLSTATE: XXKST", errno.EACCES),
        ("at /x.java\nCaused by: java.nio.file.AccessDeniedException: /a/b", errno.EACCES),
        ("java.io.IOException: Mkdirs failed to create file:/a/b (exists=false)", errno.EACCES),
        ("FileNotFoundException: /a/b (Not a directory)", errno.ENOTDIR),
        ("ParentNotDirectoryException: Parent path is not a directory: file:/a/b", errno.ENOTDIR),
        ("java.io.FileNotFoundException: File file:/a/b does not exist", errno.ENOENT),
        ("[PATH_NOT_FOUND] Path does not exist: file:/a/b. SQLSTATE: 42K03", errno.ENOENT),
    ],
)
def test_what_java_was_refused(job, text, number):
    line = str(told(RuntimeError(f"An error occurred while calling o1493.save.\n: {text}"), job))
    assert line.startswith(f"the query stopped: {os.strerror(number)}: /a/b")
    assert line.endswith("then the same command goes on after the last batch")
    assert "o1493" not in line


def test_what_is_told_already_and_who_does_not_answer(job):
    known = StateError("another job")
    assert told(known, job) is known
    for gone in (Py4JNetworkError("empty"), ConnectionRefusedError(111, "Connection refused")):
        assert str(told(gone, job)).startswith("Spark has ended; ")


def test_a_jvm_that_ended_is_told_whatever_pyspark_makes_of_it(job):
    def parse():
        try:
            raise Py4JNetworkError("Answer from Java side is empty")
        except Py4JNetworkError as error:
            raise ValueError("[CANNOT_PARSE_DATATYPE] Unable to parse datatype.") from error

    with pytest.raises(ValueError, match="CANNOT_PARSE") as caught:
        parse()
    line = "Spark has ended; the same command goes on after the last batch"
    assert str(told(caught.value, job)) == line
    assert str(told(ValueError("[CANNOT_PARSE_DATATYPE]"), job)) != line
