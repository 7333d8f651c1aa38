"""What is refused before the first request is sent, and what is closed in the end."""

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import sleep

import pytest

from bestbefore import Engine
from bestbefore.errors import InputError, JobError, ServiceError, WorkError
from bestbefore.service import Loaded

from .conftest import EX, INTEGER, TableService

README = Path(__file__).parents[2] / "README.md"


@dataclass
class CountedClient(TableService):
    """A client that knows of all of its kind how many are open, and how many views they loaded."""

    followers: dict = field(default_factory=lambda: {f"<{EX}u1>": 100})
    opened: int = 0
    closed: int = 0
    loaded: int = 0
    broken: bool = False

    def __call__(self, settings, pattern):
        self.opened += 1
        return self

    def load(self):
        self.loaded += 1
        if self.broken:
            raise ServiceError("the endpoint is down")
        return Loaded(tuple(row for user in self.followers for row in self.rows(user)), 1, 0.0)

    def close(self):
        self.closed += 1


@pytest.fixture
def client(monkeypatch):
    client = CountedClient()
    monkeypatch.setattr("bestbefore.service.kinds.ServiceClient", client)
    return client


@pytest.mark.parametrize(
    ("sink", "message"),
    [
        ({"format": "csvx"}, "sink.format = 'csvx' cannot overwrite a repeated batch"),
        ({"format": "csvx", "mode": "append"}, "sink.format = 'csvx': Spark has no such format"),
        ({"path": "taken"}, "sink.path = .*taken': .*taken is a file, and a folder is needed"),
        ({"path": "taken/answers"}, "sink.path = .*answers': .*taken is a file"),
        ({"quality": "taken"}, "sink.quality = .*taken is a file"),
    ],
)
def test_a_wrong_sink_is_refused_before_any_request(bench, client, sink, message):
    (bench.folder / "taken").write_text("")
    bench.mention((1_000, 1), (6_000, 2))
    with pytest.raises(JobError, match=message):
        bench.run(bench.job(sink=sink))
    assert (client.opened, client.loaded) == (0, 0)


def test_a_known_format_is_not_refused(bench, client):
    """What Spark has but cannot read like this is a format all the same."""
    bench.mention((1_000, 1), (6_000, 2))
    bench.run(bench.job(sink={"format": "noop", "mode": "append"}))
    assert client.opened == client.closed == 1


def test_clients_are_closed_whatever_fails(bench, client, monkeypatch):
    bench.mention((1_000, 1), (6_000, 2))
    client.broken = True
    with pytest.raises(ServiceError, match="the endpoint is down"):
        bench.run(bench.job())
    assert client.opened == client.closed == 1
    client.broken = False
    with pytest.raises(InputError, match="not a duration"):
        bench.run(replace(bench.job(), trigger="soon"))
    assert client.opened == client.closed == 2
    with pytest.raises(WorkError, match="no space left"):
        bench.run(bench.job(), sink=_full)
    assert client.opened == client.closed == 3


def _full(answers, number):
    raise OSError("no space left on the sink")


def test_a_block_closes_what_the_engine_opened_and_nothing_else(bench, client, service):
    bench.mention((1_000, 1), (6_000, 2))
    with Engine(bench.spark).start(replace(bench.job(), trigger="1s")) as running:
        assert not running.wait(0.1)
        assert client.closed == 0
    assert client.closed == 1
    assert not running.query.isActive
    service.close = lambda: pytest.fail("the caller's service is the caller's to close")
    job = bench.job(checkpoint={"path": "c2"}, sink={"path": "answers2", "quality": "q2"})
    with Engine(bench.spark).start(job, services={"bkg": service}) as running:
        assert running.wait(60)
    assert client.opened == 1


def test_a_block_tells_of_a_failure_that_nobody_waited_for(bench, service):
    bench.mention((1_000, 1), (6_000, 2))

    def run(body):
        services = {"bkg": service}
        with Engine(bench.spark).start(bench.job(), services=services, sink=_full) as running:
            body(running)

    def until_it_ends(running):
        while running.query.isActive:
            sleep(0.05)

    def until_it_fails(running):
        with pytest.raises(WorkError):
            running.wait(60)

    with pytest.raises(WorkError, match="^the query stopped: no space left on the sink$"):
        run(until_it_ends)
    with pytest.raises(ZeroDivisionError):
        run(lambda _: 1 / 0)
    # Who has caught it is not told again.
    run(until_it_fails)


def test_executors_without_python_are_told_of(bench, spark, service, monkeypatch):
    monkeypatch.setattr(spark.sparkContext, "pythonExec", "/nowhere/python")
    bench.mention((1000, 1), (9000, 2))
    with pytest.raises(WorkError, match='Cannot run program "/nowhere/python"; N-Triples and'):
        bench.run(bench.job(stream={"payload": "turtle"}), service)


def test_streams_and_services_that_the_job_does_not_have(bench, service):
    with pytest.raises(InputError, match="the job has no service 'bgk'; did you mean 'bkg'"):
        Engine(bench.spark).start(bench.job(), services={"bgk": service})
    frame = bench.spark.createDataFrame([], "ts long")
    with pytest.raises(InputError, match="the job has no stream 'S'; did you mean 's'"):
        Engine(bench.spark).start(bench.job(), streams={"S": frame})


def test_the_program_of_the_readme_runs(bench, client, monkeypatch, capsys):
    query, job, program = (
        re.search(rf"```{language}\n(.*?)```", README.read_text(), re.DOTALL)[1]
        for language in ("sparql", "toml", "python")
    )
    bench.mention((1_000, 1), (601_000, 2))
    (bench.folder / "influencers.rq").write_text(query.replace("100000", "10"))
    (bench.folder / "job.toml").write_text(job)
    client.rows = lambda user: ((user, f'"100"{INTEGER}', '"60"'),)
    monkeypatch.chdir(bench.folder)
    exec(compile(program, "README.md", "exec"), {"spark": bench.spark})
    assert len(capsys.readouterr().out.splitlines()) == len(bench.rows()) == 10
    assert bench.rows()[1] == [(f"{EX}u1", "100")]
    assert client.opened == client.closed == 1
