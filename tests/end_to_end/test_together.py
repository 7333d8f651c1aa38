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
from tests.run_processes import until

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
    """A server behind a counting proxy, a stream of three files, and jobs over both."""

    files_per_batch = 3

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
                "streams": {
                    "s": {
                        "path": str(self.folder / "stream"),
                        "files_per_batch": self.files_per_batch,
                    }
                },
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


def test_started_one_after_the_other_they_are_one_run(world):
    """Each with a checkpoint of its own in its job: that of the first is used."""
    together, _ = world.run(world.job("a", folder="named"), world.job("b", folder="named"))
    before, heard = len(world.proxy.asked), {"a": [], "b": []}
    engine = Engine(world.spark)
    runs = [
        engine.start(world.job(name, checkpoint={"path": f"of-{name}"}), on_quality=records.append)
        for name, records in heard.items()
    ]
    assert all(run.wait(120) for run in runs)
    assert len(world.proxy.asked) - before == together
    for name, records in heard.items():
        assert world.answers(name) == world.answers(name, folder="named") != {}
        assert {record.query for record in records} == {f"{EX}{name}"}
    with pytest.raises(StateError, match="runs together with others, in the checkpoint .*of-a"):
        engine.start(world.job("b", checkpoint={"path": "of-b"}))
    with pytest.raises(StateError, match="a> has begun by itself, in the checkpoint .*of-a"):
        world.run(world.job("c", where=BOTH["a"]), world.job("a", checkpoint={"path": "of-a"}))
    waiting = engine.start(world.job("a", checkpoint={"path": "of-a"}))
    with pytest.raises(StateError, match="this run lacks <http://example.org/b>"):
        waiting.state  # noqa: B018
    assert engine.start(world.job("b", checkpoint={"path": "of-b"})) is waiting
    assert waiting.wait(120)
    alone = Engine(world.spark).start(world.job("a", checkpoint={"path": "of-a"}))
    with pytest.raises(StateError, match="this run lacks <http://example.org/b>"), alone:
        pass
    # They can be named in any order.
    world.run(*(world.job(name, checkpoint={"path": f"of-{name}"}) for name in "ba"))
    assert len(world.proxy.asked) - before == together


def test_what_has_nothing_in_common_runs_by_itself(world):
    other = world.folder / "other"
    other.mkdir()
    (other / "a.jsonl").write_text(json.dumps({"ts": 1_000, "data": _event(1)}))
    text = text_of("c", "WINDOW :w { ?s :likes ?o }", "SELECT ?s").replace("ON :s", "ON :t")
    stranger = world.job(
        "c", where="-", folder="c", query={"text": text, "trigger": "until-end"},
        streams={"t": {"path": str(other)}}, services={}
    )  # fmt: skip
    engine = Engine(world.spark)
    first = engine.start(world.job("a"))
    second = engine.start(stranger)
    assert first is not second
    assert second.wait(120)
    assert world.answers("c", folder="c")
    unused = Engine(world.spark).start(world.job("b", folder="unused"))
    unused.stop()
    assert unused.wait(1)
    with pytest.raises(WorkError, match="stopped before it began"):
        unused.query  # noqa: B018
    # The other begins by itself after a moment.
    until(lambda: world.answers("a"))
    assert first.wait(120)


def test_one_joins_others_that_wait_for_more(world):
    """From the next batch on it is part of their transaction, and has its first answers."""
    world.files_per_batch = 1
    files = [(file, file.read_text()) for file in sorted((world.folder / "stream").iterdir())]
    for file, _ in files[1:]:
        file.unlink()
    live = {"query": {"trigger": "100ms"}}

    def job(name, **sections):
        text = text_of(name, BOTH[name], f"SELECT ?{'who' if name == 'b' else 'user'} ?n")
        return world.job(name, query={"text": text, **live["query"]}, **sections)

    heard = {"a": [], "b": []}
    engine = Engine(world.spark)
    running = engine.start(job("a"), on_quality=heard["a"].append)
    progress = []
    running.on_progress(lambda one, _: progress.append(one.batchId))
    until(lambda: running.state.source_batch == 0)
    (world.folder / "taken" / "batch=7").mkdir(parents=True)
    with pytest.raises(StateError, match="holds answers of an earlier run"):
        engine.start(job("b", sink={"path": "taken"}, checkpoint={"path": "of-b"}))
    # It has not joined, and nothing says so.
    assert not (world.folder / "of-b" / "together.json").exists()
    assert engine.start(job("b"), on_quality=heard["b"].append) is running
    for batch, (file, text) in enumerate(files[1:], 1):
        file.write_text(text)
        until(lambda batch=batch: running.state.source_batch == batch)
    until(lambda: {1, 2} <= set(progress))
    running.stop()
    world.run(world.job("a", folder="alone"))
    answers = {name: world.answers(name) for name in heard}
    alone = world.answers("a", folder="alone")
    assert answers["a"] == {number: alone[number] for number in answers["a"]}
    assert max(answers["a"]) >= 10
    assert answers["b"]
    # What both needed was fetched once: b's evaluations at times of a's make no request of theirs.
    times = {record.at for record in heard["a"]}
    assert all(record.requests == 0 for record in heard["b"] if record.at in times)
    text = text_of("c", BOTH["a"]).replace("ON :s", "ON :t")
    streams = {"t": {"path": str(world.folder / "stream")}}
    stranger = world.job("c", where="-", query={"text": text, **live["query"]}, streams=streams)
    with pytest.raises(StateError, match="<http://example.org/c> joins .* <http://example.org/t>"):
        engine.start(job("a"), job("b"), stranger)
    # Both go on together, in whatever order they are named.
    again = engine.start(job("b"), job("a"))
    assert again.state.source_batch == 2
    again.stop()


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
    lacking = "belongs to 2 queries that run together, and this run lacks <http://example.org/b>"
    with pytest.raises(StateError, match=lacking):
        world.run(a)
    world.run(b, a)
    assert all(then.items() <= now.items() for then, now in zip(
        before, (world.answers("a"), world.answers("b")), strict=True))  # fmt: skip


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"name": "a"}, r"two queries register <http://example.org/a>"),
        (
            {"name": "b", "query": {"text": text_of("b", BOTH["a"]), "trigger": "1s"}},
            "have one query.trigger",
        ),
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
    world.files_per_batch = 1
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
