"""What the examples with a SPARQL endpoint have in common: a server, a job over it, its answers.

`independent_rows` works out the same answers with oxigraph alone: for every window, its content and
what the service has are graphs of one store, and WINDOW and SERVICE are GRAPH.
"""

import json
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pyoxigraph as ox
from pyspark.sql import SparkSession

from bestbefore import Engine, load_job

EX = "http://example.org/"
_WINDOW = re.compile(r"WINDOW :(\w+) ON :\w+ \[RANGE PT(\d+)S STEP PT(\d+)S\]")


@contextmanager
def endpoint(data):
    """A SPARQL server in memory with the triples of a Turtle file; its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    executable = Path(sys.executable).parent / "oxigraph"
    command = [str(executable), "serve", "--bind", f"127.0.0.1:{port}"]
    server = subprocess.Popen(  # noqa: S603 - the command is ours
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _load(f"http://127.0.0.1:{port}/store?default", data.read_bytes())
        yield f"http://127.0.0.1:{port}/query"
    finally:
        server.kill()
        server.wait()


def _load(address, content):
    deadline = time.monotonic() + 20
    request = urllib.request.Request(  # noqa: S310 - the address is ours
        address, content, {"Content-Type": "text/turtle"}, method="POST"
    )
    while True:
        try:
            urllib.request.urlopen(request, timeout=10).close()  # noqa: S310
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return


def run_jobs(here, spark, folder):
    """The answers of the jobs in an example, a line of JSON each."""
    shutil.copytree(here, folder, dirs_exist_ok=True)
    with endpoint(folder / "facts.ttl") as address:
        files = sorted(folder.glob("*.toml"))
        for file in files:
            file.write_text(file.read_text().replace("http://127.0.0.1:7878/query", address))
        with Engine(spark).start(*map(load_job, files)) as running:
            running.wait()
    answers = sorted(folder.glob("answers*/*/*.json"))
    return [line for file in answers for line in file.read_text().splitlines()]


def main(here):
    """Print the answers of an example."""
    with TemporaryDirectory() as made:
        spark = SparkSession.builder.master("local[2]").getOrCreate()
        sys.stdout.write("\n".join(run_jobs(here, spark, Path(made))) + "\n")


def independent_rows(here, query="query.rq"):
    """The rows of all evaluations of a query, each with the end of its window."""
    text = (here / query).read_text()
    windows = {name: (int(width), int(slide)) for name, width, slide in _WINDOW.findall(text)}
    services = dict.fromkeys(re.findall(r"SERVICE :(\w+)", text))
    plain = re.sub(r"FROM NAMED WINDOW[^\n]*\n", "", text)
    plain = re.sub(r"REGISTER \w+ :\w+ AS", "", plain)
    plain = re.sub(r"\b(WINDOW|SERVICE) :", "GRAPH :", plain)
    events = [json.loads(line) for file in sorted((here / "stream").iterdir())
              for line in file.read_text().splitlines()]  # fmt: skip
    found = []
    for end in _closing(windows, events):
        store = ox.Store()
        for name in services:
            graph = ox.NamedNode(f"{EX}{name}")
            store.load(path=str(here / "facts.ttl"), format=ox.RdfFormat.TURTLE, to_graph=graph)
        for name, (width, slide) in windows.items():
            last = end - end % (1_000 * slide)
            lines = [one["data"] for one in events if last - 1_000 * width < one["ts"] <= last]
            graph = ox.NamedNode(f"{EX}{name}")
            store.load("\n".join(lines), ox.RdfFormat.N_TRIPLES, to_graph=graph)
        found += [{"at": end, **row} for row in _rows(store.query(plain))]
    return found


def _closing(windows, events):
    """The times at which a window closes that holds an event."""
    first, last = events[0]["ts"], max(one["ts"] for one in events)
    ends = set()
    for width, slide in windows.values():
        begin = -(-first // (1_000 * slide)) * 1_000 * slide
        ends |= set(range(begin, last + 1_000 * width, 1_000 * slide))
    return sorted(ends)


def _rows(found):
    if isinstance(found, ox.QuerySolutions):
        names = [variable.value for variable in found.variables]
        for row in found:
            yield {name: row[name].value for name in names if row[name] is not None}
    else:
        for triple in dict.fromkeys(found):
            parts = (triple.subject, triple.predicate, triple.object)
            yield dict(
                zip(("subject", "predicate", "object"), (p.value for p in parts), strict=True)
            )
