"""A job on a real standalone cluster of two one-core workers: by the CLI, then by spark-submit."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bestbefore.engine import Engine
from bestbefore.job import load_job
from tests.standalone_cluster import ADDRESS, JAVA_OPTIONS, SPARK_HOME, StandaloneCluster

ROOT = Path(__file__).parents[2]
EX = "http://example.org/"
# As many as are shared among tasks, between fewer that one task goes through.
ELEMENTS = (300, 60_000, 300)
JOB = """
[query]
text = '''
PREFIX : <http://example.org/>
REGISTER RSTREAM :influencers AS
SELECT ?user ?followers (COUNT(?post) AS ?posts)
FROM NAMED WINDOW :w ON :mentions [RANGE PT30S STEP PT5S]
WHERE {{ WINDOW :w {{ ?user :isMentionedIn ?post }}
        SERVICE :bkg {{ ?user :hasFollowers ?followers }}
        FILTER(?followers > 1000) }}
GROUP BY ?user ?followers
'''
[streams.mentions]
path = "{stream}"
format = "tsv"
files_per_batch = 1
[services.bkg]
endpoint = "{endpoint}"
[budget]
refreshes = 7
[view]
fill = "start"
change_interval = "1s"
"""
# No executor may start a Python worker.
CONF = [
    *("--conf", "spark.pyspark.python=/nowhere/python"),
    *("--conf", f"spark.executor.extraJavaOptions={JAVA_OPTIONS}"),
]
ENVIRONMENT = {
    **os.environ,
    "SPARK_LOCAL_IP": ADDRESS,
    "SPARK_SUBMIT_OPTS": JAVA_OPTIONS,
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with StandaloneCluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture
def world(oxigraph, tmp_path):
    """A server with 50 users, and a function that makes a job over a stream of its own."""
    triples = " ".join(f"<{EX}u{n}> <{EX}hasFollowers> {n * 97} ." for n in range(50))
    oxigraph.update(f"CLEAR ALL; INSERT DATA {{ {triples} }}")

    def prepare(name):
        stream = tmp_path / name / "stream"
        stream.mkdir(parents=True)
        job = tmp_path / name / "job.toml"
        job.write_text(JOB.format(stream=stream, endpoint=f"{oxigraph.base}/query"))
        return job

    return prepare


def feed(job, *batches):
    for number in batches:
        began = 1_700_000_000_000 + number * 20_000
        lines = [
            f"{began + each * 20_000 // ELEMENTS[number]}\t<{EX}u{(each * 7 + number) % 50}>"
            f"\t<{EX}isMentionedIn>\t<{EX}p{number}x{each % 5_000}>"
            for each in range(ELEMENTS[number])
        ]
        file = job.parent / "stream" / f"{number}.tsv"
        file.write_text("\n".join(lines))
        os.utime(file, (1_000_000_000 + number,) * 2)


def answers(job):
    files = sorted(job.parent.glob("answers/*/*.json"))
    found = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    return sorted(found, key=lambda answer: answer["evaluation"])


def run(*command):
    outcome = subprocess.run(
        list(map(str, command)),
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert outcome.returncode == 0, outcome.stderr
    return outcome


@pytest.fixture
def submitted_script(tmp_path):
    """The script of the page on clusters, which also tells where the package comes from."""
    (script,) = re.findall(
        r"```python\n(.*?)```", (ROOT / "docs" / "cluster.md").read_text(), re.DOTALL
    )
    file = tmp_path / "run.py"
    file.write_text(f"import bestbefore\nprint(bestbefore.__file__, flush=True)\n{script}")
    return file


@pytest.fixture
def wheel(tmp_path):
    offline = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet")
    run(sys.executable, "-m", "pip", "wheel", *offline, "--wheel-dir", tmp_path, ROOT)
    (file,) = tmp_path.glob("bestbefore-*.whl")
    return file


def test_two_workers_answer_as_two_local_cores(cluster, world, spark, submitted_script, wheel):
    local, remote = world("local"), world("remote")
    feed(local, 0, 1, 2)
    assert Engine(spark).start(load_job(local)).wait(120)

    feed(remote, 0, 1)
    main = "from bestbefore.cli.main import main; main()"
    first = run(sys.executable, "-c", main, "run", remote, "--master", cluster.master, *CONF)
    assert "every machine of the cluster must see the same folder" in first.stderr
    before = answers(remote)

    feed(remote, 2)
    driver = ("--conf", f"spark.pyspark.driver.python={sys.executable}")
    submit = (SPARK_HOME / "bin" / "spark-submit", "--master", cluster.master, *CONF, *driver)
    second = run(*submit, "--py-files", wheel, submitted_script, "run", remote)
    assert wheel.name in second.stdout

    found, expected = answers(remote), answers(local)
    assert found == expected
    assert found[: len(before)] == before
    assert 4 <= len(before) < len(found)
    assert all(answer["rows"] for answer in found[1:])
