"""A view on demand over a real server with far more entities than any window mentions."""

import json
import re
import urllib.parse
import urllib.request

import pytest

from bestbefore.engine import Engine
from bestbefore.job import read_job
from tests.counting_proxy import CountingProxy

EX = "http://example.org/"
ENTITIES, MENTIONED = 100_000, 200
QUERY = """PREFIX : <http://example.org/>
REGISTER RSTREAM :out AS SELECT ?user ?followers
FROM NAMED WINDOW :w ON :mentions [RANGE PT20S STEP PT20S]
WHERE { WINDOW :w { ?user :isMentionedIn ?post } SERVICE :bkg { ?user :hasFollowers ?followers } }
"""


class World:
    """A large server behind a proxy, a stream and a job with nothing but a budget."""

    def __init__(self, spark, oxigraph, folder):
        self.spark, self.oxigraph, self.folder = spark, oxigraph, folder
        oxigraph.update("CLEAR ALL")
        triples = (f'<{EX}u{n}> <{EX}hasFollowers> "{n * 7}" .\n' for n in range(ENTITIES))
        load = urllib.request.Request(
            f"{oxigraph.base}/store?default",
            "".join(triples).encode(),
            {"Content-Type": "application/n-triples"},
        )
        urllib.request.urlopen(load, timeout=60).close()
        self.proxy = CountingProxy(f"{oxigraph.base}/query")
        (folder / "stream").mkdir()

    def insert(self, *users):
        triples = " ".join(f'<{EX}{user}> <{EX}hasFollowers> "1" .' for user in users)
        self.oxigraph.update(f"INSERT DATA {{ {triples} }}")

    def change(self, *users):
        for user in users:
            old = f"<{EX}{user}> <{EX}hasFollowers> ?n"
            new = f'<{EX}{user}> <{EX}hasFollowers> "changed"'
            self.oxigraph.update(f"DELETE {{ {old} }} INSERT {{ {new} }} WHERE {{ {old} }}")

    def mention(self, window, users):
        """The users of a window, in any order; the first of the next window closes it."""
        begin_ms = 1_000_000 + window * 20_000
        lines = [
            json.dumps({"ts": ts, "data": f"<{EX}{user}> <{EX}isMentionedIn> <{EX}p> ."})
            for ts, user in [*enumerate(users, begin_ms + 2), (begin_ms + 20_001, users[0])]
        ]
        (self.folder / "stream" / f"{window}.jsonl").write_text("\n".join(lines))

    def run(self):
        """Answer the windows that are closed by now."""
        job = read_job(
            {
                "query": {"text": QUERY},
                "streams": {"mentions": {"path": "stream"}},
                "services": {"bkg": {"endpoint": self.proxy.url}},
                "budget": {"refreshes": MENTIONED + 50},
            },
            folder=self.folder,
        )
        records = []
        self.proxy.asked.clear()
        Engine(self.spark).start(job, on_quality=records.append).wait(120)
        return records

    def answers(self):
        return {
            each["evaluation"]: sorted(
                (row["user"]["value"], row["followers"]["value"]) for row in each["rows"]
            )
            for file in self.folder.glob("answers/*/*.json")
            for each in map(json.loads, file.read_text().splitlines())
        }

    def truth(self, users):
        """What the server itself says of some users now."""
        values = " ".join(f"<{EX}{user}>" for user in users)
        query = f"SELECT ?u ?n {{ VALUES ?u {{ {values} }} ?u <{EX}hasFollowers> ?n }}"
        body = urllib.parse.urlencode({"query": query}).encode()
        asked = urllib.request.Request(
            f"{self.oxigraph.base}/query", body, {"Accept": "application/sparql-results+json"}
        )
        with urllib.request.urlopen(asked, timeout=20) as reply:
            rows = json.load(reply)["results"]["bindings"]
        return sorted((row["u"]["value"], row["n"]["value"]) for row in rows)


@pytest.fixture
def world(spark, oxigraph, tmp_path):
    world = World(spark, oxigraph, tmp_path)
    yield world
    world.proxy.shutdown()
    world.proxy.server_close()


def asked_for(world):
    return [user for query in world.proxy.asked for user in re.findall(rf"<{EX}(u\w+)>", query)]


def test_a_large_server_is_asked_for_what_windows_mention_and_nothing_else(world):
    known = [f"u{n}" for n in range(0, ENTITIES, ENTITIES // MENTIONED)]
    strangers = [f"ux{n}" for n in range(5)]
    world.mention(0, [*known, *strangers])
    (first,) = world.run()
    assert set(asked_for(world)) == {*known, *strangers}
    # Once each; who is unknown is asked for twice before it is believed.
    assert len(asked_for(world)) == len(known) + 2 * len(strangers)
    assert (first.requests, first.failed) == (len(world.proxy.asked), 0)
    assert world.proxy.bytes < 1_000 * MENTIONED
    assert (first.completeness, first.answers) == (1.0, len(known))
    assert world.answers()[1] == world.truth([*known, *strangers])

    # The server changes: strangers are known by now, others are new, have changed, or are gone.
    world.insert(*strangers, "ulater1", "ulater2")
    world.change(*known[:7])
    world.oxigraph.update(f"DELETE WHERE {{ <{EX}{known[8]}> ?p ?o }}")
    users = [*known[:20], *strangers, "ulater1", "ulater2", "ux9"]
    world.mention(1, users)
    (second,) = world.run()
    assert set(asked_for(world)) == set(users)
    assert (second.completeness, second.failed) == (1.0, 0)
    assert second.answers == len(users) - 2
    assert world.answers()[2] == world.truth(users)
