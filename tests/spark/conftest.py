"""A job on files in a folder, with a service in memory: what the engine's tests run."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bestbefore.engine import Engine
from bestbefore.job import read_job
from bestbefore.job.streams import read_streams
from bestbefore.service import Fetched, Loaded
from bestbefore.spark.session import session_like, tune
from tests.laboratory import loaded

from .market_store import ROWS, built

PREFIX = "PREFIX : <http://example.org/>\n"
EX = "http://example.org/"
INTEGER = "^^<http://www.w3.org/2001/XMLSchema#integer>"


def query(
    form="SELECT ?user ?followers",
    *,
    width="PT10S",
    slide="PT5S",
    window="?user :isMentionedIn ?post",
    service="?user :hasFollowers ?followers",
    rest="",
):
    return (
        f"{PREFIX}REGISTER RSTREAM :out AS {form}\n"
        f"FROM NAMED WINDOW :w ON :s [RANGE {width} STEP {slide}]\n"
        f"WHERE {{ WINDOW :w {{ {window} }} SERVICE :bkg {{ {service} }} {rest} }}"
    )


@dataclass
class TableService:
    """A service over a dictionary from user to followers, which tests change as they like."""

    followers: dict
    asked: list = field(default_factory=list)
    down: str = ""

    def rows(self, user):
        return ((user, f'"{self.followers[user]}"{INTEGER}'),) if user in self.followers else ()

    def load(self, *, requests_allowed=None):
        return Loaded(tuple(row for user in self.followers for row in self.rows(user)), 1, 0.0)

    def fetch(self, keys, *, requests_allowed=None):
        self.asked.append(list(keys))
        if self.down:
            return Fetched(rows={}, failed=dict.fromkeys(keys, self.down), requests=1)
        return Fetched(rows={key: self.rows(key[0]) for key in keys}, requests=1)

    def close(self):
        pass


@dataclass
class Bench:
    """A folder with a stream, a checkpoint and answers."""

    spark: object
    folder: Path
    files: int = 0
    reports: list = field(default_factory=list)

    def feed(self, events, *, name=None):
        """Add a file of (ts, N-Triples) events, or of raw lines."""
        lines = [
            each if isinstance(each, str) else json.dumps({"ts": each[0], "data": each[1]})
            for each in events
        ]
        (self.folder / "stream").mkdir(parents=True, exist_ok=True)
        target = self.folder / "stream" / (name or f"{self.files:04d}.jsonl")
        target.write_text("\n".join(lines) + "\n")
        # Spark reads files in the order of their modification times.
        os.utime(target, (1_000_000_000 + self.files,) * 2)
        self.files += 1

    def mention(self, *pairs):
        """Add a file of mentions: (ts, user number)."""
        self.feed(
            (ts, f"<{EX}u{user}> <{EX}isMentionedIn> <{EX}p{ts}x{user}> .") for ts, user in pairs
        )

    def job(self, text=None, *, stream=None, **sections):
        (self.folder / "stream").mkdir(parents=True, exist_ok=True)
        sections.setdefault("budget", {"refreshes": 2})
        if not text or "SERVICE" in text:
            sections["view"] = loaded(sections.get("view"))
        needed = {"bkg": {"endpoint": "http://127.0.0.1:9/none"}}
        return read_job(
            {
                "query": {"text": text or query()},
                "streams": {"s": {"path": "stream", "files_per_batch": 1, **(stream or {})}},
                **({} if text and "SERVICE" not in text else {"services": needed}),
                **sections,
            },
            folder=self.folder,
        )

    def run(self, job, service=None, **options):
        """Run a job to the end of its stream; return the running query."""
        if service is not None:
            options["services"] = {job.services[0].name: service}
        running = Engine(self.spark).start(job, on_quality=self.reports.append, **options)
        running.wait(120)
        return running

    def run_together(self, jobs, service):
        """Run jobs over one service to the end of their stream."""
        with Engine(self.spark).together() as queries:
            for job in jobs:
                services = {each.name: service for each in job.services}
                queries.start(job, services=services, on_quality=self.reports.append)
        queries.running.wait(120)

    def answers(self, name="answers"):
        """The answers by evaluation; an evaluation that was answered twice is an error."""
        found = {}
        for file in sorted(self.folder.glob(f"{name}/*/*.json")):
            for line in file.read_text().splitlines():
                answer = json.loads(line)
                assert answer["evaluation"] not in found, "answered twice"
                found[answer["evaluation"]] = answer
        return found

    def rows(self):
        """The rows of each evaluation as tuples of plain values, sorted."""
        return {
            number: sorted(tuple(term["value"] for term in row.values()) for row in each["rows"])
            for number, each in self.answers().items()
        }

    def quarantine(self):
        files = sorted(self.folder.glob("checkpoint/quarantine/*/*.json"))
        return [json.loads(line) for file in files for line in file.read_text().splitlines()]


@pytest.fixture
def bench(spark, tmp_path):
    return Bench(spark, tmp_path)


@pytest.fixture(scope="session")
def market(spark):
    """The market's store, and every summary of it by its name."""
    return built(tune(session_like(spark), rows=len(ROWS)))


@pytest.fixture(scope="session")
def summarised(market):
    """Every summary of the market's store, by its name."""
    return market[1]


@pytest.fixture
def service():
    return TableService({f"<{EX}u{number}>": number * 100 for number in range(8)})


def source_of(folder, **stream):
    """The source of a stream's section in a job file."""
    (folder / "stream").mkdir(exist_ok=True)
    tables = {"streams": {"s": {"path": "stream", **stream}}}
    (job,) = read_streams(tables, [f"{EX}stream"], base=folder)
    return job.source


@pytest.fixture(scope="session")
def taking_in(spark):
    """The session that takes in batches of few rows."""
    return tune(session_like(spark), rows=0)


@pytest.fixture
def taken_in(taking_in, tmp_path):
    """Write a file into a folder and take it in: the elements and the quarantined."""

    def take(content, *, name="a.txt", **stream):
        source = source_of(tmp_path, **stream)
        if not isinstance(content, bytes):
            content = "".join(f"{line}\n" for line in content).encode()
        (tmp_path / "stream" / name).write_bytes(content)
        rows = source.present(taking_in).collect()
        good = [row for row in rows if row["reason"] is None]
        return good, [row for row in rows if row["reason"] is not None]

    return take
