"""What a user's program finds in `bestbefore`, and what importing it does not load."""

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import bestbefore
from bestbefore.job import read_job
from tests.unit.job.test_job_file import QUERY, tables

ROOT = Path(__file__).parents[2]
NAMES = {
    "engine": "Engine Figures Quality RunningQuery Sink",
    "enrichment": "HttpLookup SparqlLookup SqlLookup enrich",
    "job": "Job explain load_job read_job",
    "service": "Fetched Loaded Service",
    "query": "parse_query",
    "experiments": "simulate",
    "traces": "BackgroundTrace Links StreamTrace Traces read_traces write_traces",
    "errors": "BestbeforeError InputError JobError PolicyError QueryError ServiceError StateError "
    "UnsupportedSparql WorkError",
}


def test_the_list():
    names = {name for room in NAMES.values() for name in room.split()}
    assert set(bestbefore.__all__) == {*names, "__version__"}
    assert dir(bestbefore) == sorted(bestbefore.__all__)
    for room, found in NAMES.items():
        for name in found.split():
            assert getattr(bestbefore, name).__module__.startswith(f"bestbefore.{room}"), name
    with pytest.raises(AttributeError, match="module 'bestbefore' has no attribute 'Enigne'"):
        bestbefore.Enigne  # noqa: B018


def loaded_after(statement):
    """The modules of others that a statement loads in a Python of its own."""
    code = f"{statement}\nimport sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {"pyspark", "aiohttp", "numpy", "rdflib"} & set(done.stdout.split())


def test_importing_loads_nothing_before_it_is_used():
    assert loaded_after("import bestbefore; dir(bestbefore); bestbefore.__version__") == set()
    assert loaded_after("from bestbefore import simulate") == {"numpy"}
    assert "pyspark" not in loaded_after("from bestbefore import Fetched, Service, parse_query")


def test_the_version_is_that_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/bestbefore/__init__.py"
    assert bestbefore.__version__.count(".") == 2


def test_a_wheel_says_that_it_is_typed(tmp_path):
    code = f"import hatchling.build as b; print(b.build_wheel({str(tmp_path)!r}))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    name = done.stdout.split()[-1]
    assert name.startswith(f"bestbefore-{bestbefore.__version__}-")
    assert "bestbefore/py.typed" in zipfile.ZipFile(tmp_path / name).namelist()


def test_explain_tells_of_jobs_queries_and_texts():
    text = bestbefore.explain(QUERY)
    assert text.startswith("── query ──\n")
    assert "join key: ?user, bound by <http://example.org/w>" in text
    assert bestbefore.explain(bestbefore.parse_query(QUERY)) == text
    of_job = bestbefore.explain(read_job(tables()))
    assert "policy.name = EFG" in of_job
    assert of_job.endswith(text)
