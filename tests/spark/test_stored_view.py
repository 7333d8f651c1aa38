"""`bestbefore view`: what a checkpoint holds, told to people."""

import json

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from bestbefore.cli.main import app
from bestbefore.errors import InputError
from bestbefore.job import load_job
from tests.spark.conftest import EX, Bench, TableService, query

JOB = """
[query]
text = '''{query}'''
[streams.s]
path = "stream"
files_per_batch = 1
[services.bkg]
endpoint = "http://127.0.0.1:9/none"
[budget]
refreshes = 2
[view]
fill = "on-demand"
"""


@pytest.fixture(scope="module")
def ran(spark, tmp_path_factory):
    """A job that has run over a stream that names each of seven users, some of them often."""
    bench = Bench(spark, tmp_path_factory.mktemp("ran"))
    service = TableService({f"<{EX}u{number}>": number * 100 for number in range(6)})
    for start in range(0, 40_000, 5_000):
        users = (user for user in range(7) if start % (user + 1) == 0)
        bench.mention(*((start + 100 * user + 1, user) for user in users))
    path = bench.folder / "job.toml"
    path.write_text(JOB.format(query=query()))
    bench.job(view={"fill": "on-demand"})
    bench.run(load_job(path), service)
    return bench, path, service


def view(*arguments):
    return CliRunner().invoke(app, ["view", *map(str, arguments)], catch_exceptions=False)


def test_units_with_their_rows_age_and_use(ran):
    _, path, service = ran
    lines = json.loads(view("show", path, "--format", "json").stdout)
    held = {line["unit"]["user"]["value"]: line for line in lines}
    asked = {key for keys in service.asked for (key,) in keys}
    assert {f"<{name}>" for name in held} <= asked
    needed = [line["needed"] for line in lines]
    assert needed == sorted(needed, reverse=True)
    for name, line in held.items():
        rows = service.rows(f"<{name}>")
        assert [row["followers"]["value"] for row in line["content"]] == [
            row[1].split('"')[1] for row in rows
        ]
        assert line["rows"] == len(rows)
        assert 0 <= line["fresh"] <= 1
        assert line["age_s"] >= 0


def test_as_a_table_a_parquet_file_and_in_figures(ran, tmp_path):
    _, path, _ = ran
    shown = view("show", path, "--limit", "1").stdout
    assert EX in shown
    assert "more; --limit N" in shown
    assert view("show", path, "--format", "parquet", "--out", tmp_path / "v.parquet").exit_code == 0
    table = pq.read_table(tmp_path / "v.parquet")
    (figures,) = json.loads(view("stats", path, "--format", "json").stdout)
    assert figures["units"] == len(table)
    assert figures["rows"] == sum(table["rows"].to_pylist())
    assert "changes_every_s" in view("stats", path).stdout


def test_a_cleared_view_begins_anew_and_the_job_goes_on(ran):
    bench, path, service = ran
    assert view("clear", path).exit_code == 0
    before, answered = len(service.asked), bench.answers()
    bench.mention((50_000, 0), (60_001, 1))
    running = bench.run(load_job(path), service)
    assert any((f"<{EX}u0>",) in keys for keys in service.asked[before:])
    assert running.state.views["bkg"].snapshot.startswith("after-")
    assert answered.items() < bench.answers().items()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "--service", "bgk"], "--service 'bgk': the job has no such service"),
        (["show", "--format", "xml"], "unknown format 'xml'"),
        (["show", "--format", "parquet"], "--format parquet goes with --out FILE"),
    ],
)
def test_mistakes(ran, arguments, message):
    _, path, _ = ran
    with pytest.raises(InputError, match=message):
        view(arguments[0], path, *arguments[1:])


def test_before_the_first_run(bench):
    path = bench.folder / "job.toml"
    (bench.folder / "stream").mkdir()
    path.write_text(JOB.format(query=query()))
    with pytest.raises(InputError, match="no such folder"):
        view("show", path)
