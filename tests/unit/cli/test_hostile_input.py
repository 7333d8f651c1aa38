"""Whatever stands in a query, a job file or an option: a result or one line, never a traceback."""

import os
import sys
import tomllib
from contextlib import suppress
from pathlib import Path

import pytest

from bestbefore.cli.main import app, guarded
from bestbefore.errors import InputError
from bestbefore.job import explain, read_job

QUERY = """PREFIX : <http://example.org/>
REGISTER RSTREAM :out AS
SELECT ?user ?followers
FROM NAMED WINDOW :w ON :s [RANGE PT10M STEP PT1M]
WHERE { WINDOW :w { ?user :isMentionedIn ?post }
        SERVICE :bkg { ?user :hasFollowers ?followers }
        FILTER(?followers > 0) }
"""
JOB = """
[query]
file = "query.rq"
[streams.s]
path = "stream"
[services.bkg]
endpoint = "http://127.0.0.1:9/query"
"""
DIGITS = "9" * 5_000


@pytest.fixture
def explained(tmp_path, monkeypatch, capsys):
    """Explain a file in an empty folder that holds a query and a job, without Spark."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stream").mkdir()
    (tmp_path / "query.rq").write_text(QUERY)
    (tmp_path / "job.toml").write_text(JOB)

    def explain(source, content=None):
        if content is not None:
            bytes_ = content if isinstance(content, bytes) else content.encode()
            (tmp_path / source).write_bytes(bytes_)
        monkeypatch.setattr(sys, "argv", ["bestbefore", "explain", source, "--no-spark"])
        code = guarded(app)
        out, err = capsys.readouterr()
        return code, out, err

    return explain


def refused(outcome):
    code, out, err = outcome
    assert (code, out) == (2, "")
    (line,) = err.splitlines()
    assert len(line) < 600
    return line


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (QUERY.replace("post", "pöst").encode("latin-1"), "query, line 5: byte 0xf6 is not UTF-8"),
        (b"\xef\xbb\xbf\n\xff", "query, line 2: byte 0xff is not UTF-8; save the file as UTF-8"),
        (QUERY.encode("utf-16"), "query, line 1: byte 0xff is not UTF-8"),
        ("", "line 1, column 1: "),
        (QUERY.replace("?post", "?post\0"), "line 5, column 47: the character '\\x00'"),
        (
            QUERY.replace("?user ?f", "(GROUP_CONCAT(?user; SEPARATOR=) AS ?u) ?f"),
            "')' does not fit here, after '='; expected a",
        ),
        (
            QUERY.replace("?followers > 0", "?f IN (1,2,3) |< !(?f = -1)"),
            "line 7, column 30: '|' does not fit",
        ),
        (QUERY.replace("PT10M", f"PT{'9' * 400}S"), "is too long; write a duration such as PT10M"),
        (
            QUERY.replace("PT10M", "PT0.0001S"),
            "RANGE PT0.0001S is too short; write it such as PT10M",
        ),
        (QUERY.replace("RANGE PT10M", f"ELEMENTS {DIGITS}"), "ELEMENTS takes a whole number"),
        (QUERY.replace("?followers > 0", "(" * 100_000), "brackets nest more than 100 deep"),
        (
            QUERY.replace("?followers > 0", "- " * 100_000 + "?f"),
            "expected a number right after the sign '-'",
        ),
        (QUERY.replace("?user :isM", "?user " + "^(" * 100_000), "brackets nest more than 100"),
    ],
)
def test_a_query_that_is_none(explained, content, said):
    assert said in refused(explained("query", content))


@pytest.mark.parametrize(
    "condition",
    [
        f"?followers > {DIGITS}",
        f"?followers > -{DIGITS}.5",
        f"?followers < {DIGITS}e{DIGITS}",
        f'?followers = "{DIGITS}"^^<http://www.w3.org/2001/XMLSchema#integer>',
        f"?followers IN ({', '.join('12345')}, {DIGITS})",
        " || ".join(f"?followers = {number}" for number in range(2_000)),
    ],
)
def test_what_is_long_but_right_is_planned(explained, condition):
    code, out, _ = explained("query", QUERY.replace("?followers > 0", condition))
    assert code == 0
    assert "join key: ?user" in out


def test_a_byte_order_mark_is_no_part_of_a_file(explained):
    mark = b"\xef\xbb\xbf"
    assert explained("query.rq", mark + QUERY.encode())[0] == 0
    assert explained("job.toml", mark + JOB.encode())[0] == 0


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (JOB.encode("utf-16"), "j.toml, line 1: byte 0xff is not UTF-8"),
        (f"[budget]\nrefreshes = {DIGITS}\n", "j.toml: not TOML: Exceeds the limit"),
        ("a = " + "[" * 100_000, "j.toml: not TOML: brackets nest too deep"),
        ("a = " + "{a=" * 100_000, "j.toml: not TOML: brackets nest too deep"),
        (JOB + f"[budget]\nrefreshes = 0x{'f' * 9_000}\n", "refreshes = a number of thousands of"),
        (JOB + "[budget]\nrefreshes = 9223372036854775808\n", "refreshes = 9223372036854775808: "),
        (JOB + f'[qos]\ndeadline = "{"9" * 400}s"\n', "qos.deadline: '999"),
        (JOB.replace("[streams", f"t0 = {10**18}\n[streams"), "query.t0 = 1000000000000000000: it"),
        (JOB.replace("query.rq", "stream"), "stream cannot be read: Is a directory"),
        (JOB.replace("query.rq", "x\\u0000"), "query.file: "),
        (JOB.replace("query.rq", "query.rq/x"), "query.rq/x cannot be read: Not a directory"),
        (JOB + 'token_file = "stream"\n', "services.bkg.token_file: "),
    ],
)
def test_a_job_file_that_is_none(explained, content, said):
    assert said in refused(explained("j.toml", content))


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("stream", "stream cannot be read: Is a directory"),
        ("query.rq/job.toml", "query.rq/job.toml cannot be read: Not a directory"),
        ("x" * 5_000, "cannot be read: File name too long"),
        ("x" * 5_000 + ".toml", "cannot be read: File name too long"),
        ("a\0.toml", "cannot be read: there can be no such path"),
        (
            "pipe.toml",
            "pipe.toml cannot be read: it is a pipe or a device; write what it gives to a file",
        ),
        ("/dev/zero", "/dev/zero cannot be read: it is a pipe or a device"),
        ("loop.toml", "loop.toml cannot be read: Too many levels of symbolic links"),
        ("", "cannot be read: Is a directory"),
    ],
)
def test_what_is_no_file_that_can_be_read(explained, source, said):
    os.mkfifo("pipe.toml")
    Path("loop.toml").symlink_to("loop.toml")
    assert said in refused(explained(source))


VALUES = [
    *("inf", "nan", "-1", "0", "1.5", "true", "9223372036854775807", f"0x{'f' * 9_000}"),
    *("1979-05-27", "0001-01-01T00:00:00+23:00", "''", "'x'", r'"\u0000"', r'"a\nb"'),
    *(f"'{'9' * 400}s'", "'http://['", "[]", "[[1]]", "['a']", "{a = {b = []}}"),
]
SECTIONS = {
    "query": "file text report report_every trigger heartbeat t0 full_windows_only",
    "streams.s": "path source format time timestamp timestamp_unit allowed_lateness clock_skew "
    "files_per_batch header columns schema options payload data subject triples iri",
    "services.bkg": "endpoint kind module method units_per_request max_rows timeout headers iri "
    "secret_headers token_env token_file user allow_hosts allow_addresses user_agent limits view",
    "services.bkg.limits": "per_evaluation per_second total burst cost_per_request money quiet",
    "budget": "refreshes start ahead per_minute",
    "policy": "name seed module",
    "view": "refresh_key capacity fill keep_windows mode change_interval interval_variable "
    "interval_predicate interval_file interval_unit",
    "sink": "format path mode options quality",
    "checkpoint": "path",
    "qos": "freshness deadline",
    "graphs": "g",
}


@pytest.mark.parametrize("section", SECTIONS)
def test_any_value_of_any_key_is_taken_or_refused(tmp_path, section):
    (tmp_path / "query.rq").write_text(QUERY)
    tables = tomllib.loads(JOB)
    del tables["query"]["file"]
    tables["query"]["text"] = QUERY
    for key in SECTIONS[section].split():
        for value in VALUES:
            given = with_value(tables, f"{section}.{key}", tomllib.loads(f"it = {value}")["it"])
            with suppress(InputError):
                assert "join key: ?user" in explain(read_job(given, folder=tmp_path))


def with_value(tables, path, value):
    """The tables with a value at a path, and the rest as it was."""
    key, _, rest = path.partition(".")
    return {**tables, key: with_value(tables.get(key, {}), rest, value) if rest else value}
