"""`bestbefore record` against a real server whose data change, and `simulate` on what it wrote."""

import csv
import json
import os
import shlex
import signal
import sys
from threading import Thread

import pytest

from bestbefore.cli.logs import log
from bestbefore.cli.main import app, guarded
from bestbefore.rdf.terms import Literal, encode, to_sparql
from tests.counting_proxy import CountingProxy
from tests.run_processes import until

EX = "http://example.org/"
BEGIN, WIDTH, SLIDE = 1_000_000, 20_000, 10_000
QUERY = """PREFIX : <http://example.org/>
REGISTER RSTREAM :out AS {form}
FROM NAMED WINDOW :w ON :mentions [RANGE PT20S STEP PT10S]
WHERE {{ WINDOW :w {{ ?post :by ?name }}
         SERVICE :bkg {{ ?user :name ?name ; :followers ?followers }} {rest} }} {group}
"""
NAMES = ["plain", 'a, "quoted", one', "two\nlines", "carriage\rreturn", "back\\slash", "ünï\t"]


class World:
    """A server behind a proxy, a stream of mentions by name, and commands on a job over both."""

    def __init__(self, oxigraph, folder):
        self.oxigraph, self.folder, self.fed = oxigraph, folder, []
        self.proxy = CountingProxy(f"{oxigraph.base}/query")
        self.traces = folder / "job-traces"
        (folder / "stream").mkdir()

    def job(self, *, rest="", form="SELECT ?name", group="", query="", limits="", more=""):
        text = QUERY.format(form=form, rest=rest, group=group)
        (self.folder / "job.toml").write_text(
            f"[query]\ntext = '''{text}'''\n{query}\n[streams.mentions]\npath = 'stream'\n"
            f"files_per_batch = 1\n[services.bkg]\nendpoint = '{self.proxy.url}'\n"
            f"units_per_request = 2\n[services.bkg.limits]\n{limits}\n{more}\n"
        )

    def serve(self, followers):
        """Let the server have these numbers by name, and no others."""
        triples = " ".join(
            f"<{EX}u{number}> <{EX}name> {to_sparql(Literal(name))} ; <{EX}followers> {count} ."
            for number, (name, count) in enumerate(followers.items())
        )
        self.oxigraph.update(f"CLEAR ALL; INSERT DATA {{ {triples} }}")

    def mention(self, slide, names):
        """Add a file with the mentions of a slide."""
        first = BEGIN + slide * SLIDE + 1
        mentions = [(first + 100 * place, name) for place, name in enumerate(names)]
        lines = [
            json.dumps({"ts": ts, "data": f"<{EX}p{ts}> <{EX}by> {to_sparql(Literal(name))} ."})
            for ts, name in mentions
        ]
        # Moved into the folder, as a whole.
        draft, target = self.folder / "draft", self.folder / "stream" / f"{slide:03}.jsonl"
        draft.write_text("\n".join(lines))
        os.utime(draft, (10**9 + slide, 10**9 + slide))
        draft.rename(target)
        self.fed += mentions

    def needed(self, at):
        return dict.fromkeys(name for ts, name in self.fed if at - WIDTH < ts <= at)

    def rows(self, name):
        """The rows of a trace file, as another reader of CSV finds them."""
        if not (self.traces / name).exists():
            return []
        with (self.traces / name).open(newline="", encoding="utf-8") as file:
            return list(csv.reader(file))[1:]


def key(name):
    return encode(Literal(name))


@pytest.fixture
def world(spark, oxigraph, tmp_path):
    world = World(oxigraph, tmp_path)
    yield world
    world.proxy.shutdown()
    world.proxy.server_close()


@pytest.fixture
def bestbefore(spark, monkeypatch, capsys):
    """Run a command in the session that is there; return its exit code and what it wrote."""
    monkeypatch.setattr(type(spark), "stop", lambda _: None)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["bestbefore", *map(str, arguments)])
        code = guarded(app)
        written = capsys.readouterr()
        return code, written.out, written.err

    yield run
    for number, handler in handlers.items():
        signal.signal(number, handler)
    log.handlers.clear()


def simulated(bestbefore, command, *options):
    """The results of the command line that a recording ends with."""
    code, out, err = bestbefore(*shlex.split(command)[1:], *options, "--format", "json")
    assert code == 0, err
    assert "out of order" not in err
    return json.loads(out)


def test_what_the_server_had_at_each_poll_is_what_a_simulation_finds(world, bestbefore):
    world.job(rest="FILTER(?followers > 100)", query="trigger = '100ms'")
    first = dict.fromkeys(NAMES[:-1], 90)
    second = {**first, NAMES[0]: 120, NAMES[1]: 130, NAMES[2]: 140}
    third = {**second, NAMES[0]: 80, NAMES[-1]: 200}
    history = [first, second, third, {**third, NAMES[0]: 120}]
    del history[-1][NAMES[1]]

    def live():
        """Let the server change whenever a window was polled; in the end press Ctrl-C."""
        try:
            world.mention(0, NAMES)
            for slide, followers in enumerate(history, start=1):
                world.serve(followers)
                last = str(max(ts for ts, _ in world.fed))
                world.mention(slide, NAMES[slide:] + NAMES[:2])
                until(lambda last=last: any(row[0] == last for row in world.rows("stream.csv")))
        finally:
            os.kill(os.getpid(), signal.SIGINT)

    thread = Thread(target=live)
    thread.start()
    code, command, err = bestbefore("record", world.folder / "job.toml", "--for", "5m")
    thread.join()
    assert code == 0, err
    assert "100% were polled" in err

    expected, known = [], {}
    for number, followers in enumerate(history, start=1):
        at = BEGIN + number * SLIDE
        for name in world.needed(at):
            value = str(followers.get(name, ""))
            if known.get(name) != value:
                expected.append([str(at if name in known else BEGIN), key(name), value])
            known[name] = value
    assert sorted(world.rows("background.csv")) == sorted(expected)
    fed = [[str(ts), key(name), f"<{EX}p{ts}>"] for ts, name in world.fed]
    assert world.rows("stream.csv") == fed
    # Nothing else was written, neither answers nor the job's checkpoint.
    assert {path.name for path in world.folder.iterdir()} == {"job.toml", "stream", "job-traces"}
    assert {path.name for path in world.traces.iterdir()} == {"stream.csv", "background.csv"}

    results = simulated(bestbefore, command)
    assert {each["policy"] for each in results} > {"WSJ-WBM", "WSJ-LRU", "LRU.F+(alpha=0.5)"}
    assert {each["evaluations"] for each in results} == {len(history)}
    assert any(each["jaccard"] > 0 for each in results)
    everything = simulated(bestbefore, command, "--budget", "100", "--policy", "WSJ-LRU")
    assert {each["jaccard"] for each in everything} == {0.0}


def test_no_more_is_asked_than_the_limits_of_the_job_allow(world, bestbefore):
    world.job(limits="per_hour = 5")
    world.serve(dict.fromkeys(NAMES, 7))
    for slide in range(5):
        world.mention(slide, NAMES)
    job = world.folder / "job.toml"
    code, command, err = bestbefore("record", job, "--out", world.folder / "out")
    assert code == 0, err
    world.traces = world.folder / "out"
    # Three requests for all of them, and two for those that were not asked for again.
    assert len(world.proxy.asked) == 5
    assert "limits.per_hour left less than all for 3 evaluations" in err
    assert "42% were polled, by evaluation 0% to 100% (median 33%)" in err
    assert "polled 1 to 2 times (median 2), at one in 2.4 of the evaluations" in err
    units = [
        unit for _, unit, value in world.rows("background.csv") if '"7' in json.loads(value)[0][1]
    ]
    assert sorted(units) == sorted(map(key, NAMES))
    assert simulated(bestbefore, command)[0]["freshness"] == 1.0

    # What was asked counts for the job, whose checkpoint holds nothing else yet.
    held = {path.name for path in (world.folder / "checkpoint").iterdir()}
    assert held == {"limits", "lock"}
    code, _, err = bestbefore("run", job)
    assert code == 0, err
    assert len(world.proxy.asked) == 5
    assert "evaluations that limits left no refresh for" in err
    code, _, err = bestbefore("record", job, "--out", world.folder / "out")
    assert (code, "--force" in err) == (2, True)


def test_a_join_of_many_with_many_is_recorded_with_its_links(world, bestbefore):
    world.job(
        form="SELECT ?name (SUM(?followers) AS ?sum)",
        group="GROUP BY ?name",
        more="[view]\nrefresh_key = ['user']\n[policy]\nname = 'IBM-BGP'",
    )
    owned = {"u1": NAMES[:2], "u2": NAMES[1:3], "u3": NAMES[3:4]}
    triples = " ".join(
        f"<{EX}{user}> <{EX}followers> {user[1:]}7 ; <{EX}name> "
        + ", ".join(to_sparql(Literal(name)) for name in names)
        + " ."
        for user, names in owned.items()
    )
    world.oxigraph.update(f"CLEAR ALL; INSERT DATA {{ {triples} }}")
    for slide in range(4):
        world.mention(slide, NAMES[:2])
    code, command, err = bestbefore("record", world.folder / "job.toml")
    assert code == 0, err
    links = {(key(name), f"<{EX}{user}>") for user, names in owned.items() for name in names}
    assert {tuple(row) for row in world.rows("links.csv")} == links
    values = {tuple(row) for row in world.rows("background.csv")}
    assert values == {(str(BEGIN), f"<{EX}{user}>", f"{user[1:]}7") for user in owned}
    # All units were loaded; two of them were needed.
    assert "100% were polled" in err
    results = simulated(bestbefore, command)
    assert {"IBM-BGP", "IBM-Agg"} < {each["policy"] for each in results}
    assert {each["candidates"] for each in results if each["policy"] == "IBM-BGP"} == {2.0}
