"""Queries that run together: one transaction, streams read once, views and refreshes shared."""

import json
import os
import signal
import sys

import pytest

from bestbefore.cli.logs import log
from bestbefore.cli.main import app, guarded
from bestbefore.engine import Engine
from bestbefore.errors import JobError, StateError, WorkError
from bestbefore.job import read_job
from tests.counting_proxy import CountingProxy

EX = "http://example.org/"
USERS = 30


def text_of(name, where, form="SELECT ?user ?n", width="20s", slide="5s"):
    return (
        f"PREFIX : <{EX}>\nREGISTER RSTREAM :{name} AS {form}\n"
        f"FROM NAMED WINDOW :w ON :s [RANGE {width} STEP {slide}]\nWHERE {{ {where} }}"
    )


BOTH = {
    "a": "WINDOW :w { ?user :in ?post } SERVICE :bkg { ?user :followers ?n }",
    "b": "WINDOW :w { ?who :likes ?post } SERVICE :bkg { ?who :followers ?n } FILTER(?n > 15)",
}


class World:
    """A server behind a counting proxy, a stream, and jobs over both."""

    def __init__(self, spark, oxigraph, folder):
        self.spark, self.folder = spark, folder
        self.proxy = CountingProxy(f"{oxigraph.base}/query")
        triples = " ".join(f"<{EX}u{n}> <{EX}followers> {n} ." for n in range(USERS))
        oxigraph.update("CLEAR ALL")
        oxigraph.update(f"INSERT DATA {{ {triples} }}")
        (folder / "stream").mkdir(parents=True)
        for part in range(3):
            lines = [
                json.dumps({"ts": 20_000 * part + 300 * each, "data": _event(20 * part + each)})
                for each in range(60)
            ]
            file = folder / "stream" / f"{part}.jsonl"
            file.write_text("\n".join(lines))
            # Spark reads files in the order of their modification times.
            os.utime(file, (1_000_000_000 + part,) * 2)

    def job(self, name, *, folder="", where=None, budget=1_000, slide="5s", **sections):
        form = f"SELECT ?{'who' if name == 'b' else 'user'} ?n"
        return read_job(
            {
                "query": {
                    "text": text_of(name, where or BOTH[name], form, slide=slide),
                    "trigger": "until-end",
                },
                "streams": {"s": {"path": str(self.folder / "stream"), "files_per_batch": 1}},
                "services": {"bkg": {"endpoint": self.proxy.url, "units_per_request": 1}},
                "budget": {"refreshes": budget},
                "sink": {"path": f"answers-{name}", "quality": f"quality-{name}"},
                **sections,
            },
            folder=self.folder / folder,
        )

    def run(self, *jobs, **options):
        before = len(self.proxy.asked)
        records = []
        Engine(self.spark).start(*jobs, on_quality=records.append, **options).wait(120)
        return len(self.proxy.asked) - before, records

    def users(self, kind):
        """The users of the windows of 20 s that close every 5 s, by when they do."""
        files = (self.folder / "stream").iterdir()
        events = [json.loads(line) for file in files for line in file.read_text().splitlines()]
        own = [(event["ts"], event["data"].split()[0]) for event in events
               if f"<{EX}{kind}>" in event["data"]]  # fmt: skip
        last = max(ts for ts, _ in own)
        return {
            end: {user for ts, user in own if end - 20_000 < ts <= end}
            for end in range(0, last + 20_001, 5_000)
        }

    def answers(self, name, folder=""):
        found = {}
        for file in (self.folder / folder).glob(f"answers-{name}/*/*.json"):
            for line in file.read_text().splitlines():
                answer = json.loads(line)
                assert answer["evaluation"] not in found
                rows = [tuple(term["value"] for term in row.values()) for row in answer["rows"]]
                found[answer["evaluation"]] = sorted(rows)
        return found


def _event(number):
    kind = "likes" if number % 4 else "in"
    return f"<{EX}u{number * 7 % USERS}> <{EX}{kind}> <{EX}p{number}> ."


@pytest.fixture
def world(spark, oxigraph, tmp_path):
    world = World(spark, oxigraph, tmp_path)
    yield world
    world.proxy.shutdown()
    world.proxy.server_close()


def test_together_they_answer_as_apart_and_ask_only_what_one_alone_needs(world):
    alone = {name: world.run(world.job(name, folder=name)) for name in "ab"}
    requests, records = world.run(world.job("a"), world.job("b"))
    for name in "ab":
        assert world.answers(name) == world.answers(name, folder=name) != {}
    needed = {name: count for name, (count, _) in alone.items()}
    dearer, other = sorted(needed, key=needed.get, reverse=True)
    users = {name: world.users(kind) for name, kind in (("a", "in"), ("b", "likes"))}
    only = sum(len(each - users[dearer].get(at, set())) for at, each in users[other].items())
    assert needed[dearer] <= requests <= needed[dearer] + only
    assert requests < sum(needed.values())
    assert sum(record.requests for record in records) == requests
    assert sum(len(of_query) for _, of_query in alone.values()) == len(records)


def test_the_same_query_twice_costs_what_it_costs_once(world):
    where = BOTH["a"]
    alone, _ = world.run(world.job("a", folder="alone", budget=3))
    others = [world.job("c", where=where, budget=2), world.job("d", where=where, budget=3)]
    requests, records = world.run(world.job("a", budget=3), *others)
    assert requests == alone
    assert world.answers("a") == world.answers("c") == world.answers("d")
    rows, alone = (sum(map(len, world.answers("a", folder).values())) for folder in ("", "alone"))
    # Which of equals goes first is drawn by the number of the evaluation.
    assert abs(rows - alone) <= 3
    assert max(record.elected for record in records) == 3


def test_started_one_by_one_each_is_heard_of_by_its_own(world):
    heard = {"a": [], "b": []}
    engine = Engine(world.spark)
    with engine.together() as queries:
        for name, records in heard.items():
            queries.start(world.job(name), on_quality=records.append)
            assert queries.running is None
    assert queries.running.wait(120)
    assert {record.query for record in heard["a"]} == {f"{EX}a"}
    assert {record.query for record in heard["b"]} == {f"{EX}b"}
    assert len(world.answers("a")) == len(heard["a"]) > 0


def test_each_sees_its_own_streams_and_windows(world):
    """The other stream is later, and has elements of the same form; its windows slide slower."""
    other = world.folder / "other"
    other.mkdir()
    lines = [json.dumps({"ts": 90_000 + 500 * n, "data": _event(n)}) for n in range(40)]
    (other / "a.jsonl").write_text("\n".join(lines))

    def jobs(folder=""):
        first = world.job("a", folder=folder)
        text = text_of("b", BOTH["b"], "SELECT ?who ?n", slide="10s").replace("ON :s", "ON :t")
        second = world.job("b", folder=folder, query={"text": text, "trigger": "until-end"},
                           streams={"t": {"path": str(other)}})  # fmt: skip
        return first, second

    for number, name in enumerate("ab"):
        world.run(jobs(folder=name)[number])
    world.run(*jobs())
    for name in "ab":
        assert world.answers(name) == world.answers(name, folder=name) != {}


def test_they_go_on_together_and_not_apart(world):
    first = world.folder / "stream" / "2.jsonl"
    kept = first.read_text()
    first.unlink()
    a, b = world.job("a"), world.job("b")
    world.run(a, b)
    before = world.answers("a"), world.answers("b")
    first.write_text(kept)
    with pytest.raises(StateError, match="belongs to 2 queries that run together, and this run"):
        world.run(a)
    world.run(a, b)
    assert all(then.items() <= now.items() for then, now in zip(
        before, (world.answers("a"), world.answers("b")), strict=True))  # fmt: skip


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"name": "a"}, r"two queries register <http://example.org/a>"),
        ({"name": "b", "checkpoint": {"path": "x"}}, "have one checkpoint.path"),
        ({"name": "b", "sink": {"path": "answers-a"}}, "two queries have sink.path"),
    ],
)
def test_what_cannot_be_one_transaction_is_refused(world, other, message):
    with pytest.raises(JobError, match=message):
        world.run(world.job("a"), world.job(**other))


class Crash(Exception):
    """The end of the process, as far as the engine can tell."""


def test_a_crash_between_the_answers_of_two_queries_is_repeated_identically(world):
    """The first had a sink of its own until it crashed; what was fetched is not fetched again."""
    whole, _ = world.run(world.job("a", folder="whole"), world.job("b", folder="whole"))

    def sink(frame, batch):
        if batch == 1:
            raise Crash
        frame.collect()

    jobs, before = (world.job("b"), world.job("a")), len(world.proxy.asked)
    with pytest.raises(WorkError):
        world.run(*jobs, sink=sink)
    world.run(*jobs)
    assert world.answers("a") == world.answers("a", folder="whole") != {}
    after = {number: rows for number, rows in world.answers("b", folder="whole").items()
             if number in world.answers("b")}  # fmt: skip
    assert world.answers("b") == after != {}
    assert len(world.proxy.asked) - before == whole


def test_the_command_runs_several_job_files(world, tmp_path, monkeypatch, capsys):
    for name in "ab":
        text = text_of(name, BOTH[name], f"SELECT ?{'who' if name == 'b' else 'user'} ?n")
        (tmp_path / f"{name}.toml").write_text(
            f"[query]\ntext = '''{text}'''\n[streams.s]\npath = 'stream'\n"
            f"[services.bkg]\nendpoint = '{world.proxy.url}'\n"
            f"[sink]\npath = 'answers-{name}'\nquality = 'quality-{name}'\n"
        )
    # In the session of the tests, which goes on.
    monkeypatch.setattr(type(world.spark), "stop", lambda _: None)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    files = [str(tmp_path / f"{name}.toml") for name in "ab"]
    monkeypatch.setattr(sys, "argv", ["bestbefore", "run", *files, "--until-end"])
    try:
        assert guarded(app) == 0
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        log.handlers.clear()
    told = capsys.readouterr().err
    assert "one view for <http://example.org/a>, <http://example.org/b>" in told
    assert world.answers("a")
    assert world.answers("b")
