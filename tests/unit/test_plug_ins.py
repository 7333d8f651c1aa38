"""Policies and services of the user's own: from an installed package, or from a module."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bestbefore import registry
from bestbefore.errors import InputError, JobError, PolicyError
from bestbefore.job import explain, read_job
from bestbefore.maintenance import Need, proposers, rankers, replacement, resolve_policy
from bestbefore.registry import Registry, load_module
from bestbefore.service import ServicePattern
from bestbefore.service.kinds import fetch_within, open_service, service_kinds
from tests.unit.cli.test_simulating import BACKGROUND, STREAM
from tests.unit.job.test_job_file import QUERY, tables

RANKER = '''
from dataclasses import dataclass

from bestbefore.maintenance.rankers.ranker import CandidateSet, Moment, Scores, rankers


@rankers.register("POP")
@dataclass(frozen=True)
class MostMentioned:
    """The units with the most mappings in the window."""

    exponent: float = 1.0

    def score(self, candidates: CandidateSet, moment: Moment) -> Scores:
        return candidates.mappings.astype(float) ** self.exponent
'''
PROPOSERS = '''
from bestbefore.maintenance.proposers import Offer, Tiers, proposer


@proposer("MISS", fetches_missing=True)
def only_missing(offer: Offer) -> Tiers:
    """Only what is missing."""
    return (offer.split()[1],)


@proposer("CHEAT", needs_oracle=True)
def cheat(offer: Offer) -> Tiers:
    """Whatever is stale."""
    return (offer.stale.nonzero()[0],)
'''
SERVICE = """
from bestbefore.service import Fetched, Loaded
from bestbefore.service.kinds import service_kinds


class Table:
    def __init__(self, path, pattern):
        self.path, self.pattern = path, pattern

    def load(self):
        return Loaded((), 0, 0.0)

    def fetch(self, keys, *, requests_allowed=None):
        return Fetched({key: () for key in keys})

    def close(self):
        pass


@service_kinds.register("table")
def table(settings, pattern):
    return Table(settings["path"], pattern)
"""
TRACES = ("--stream", "s.csv", "--background", "b.csv")
WINDOW = ("--width", "10s", "--slide", "5s")
SIMULATE = ("simulate", *TRACES, *WINDOW, "--budget", "1", "--seeds", "1", "--format", "json")


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder for modules; what they register is forgotten after the test."""
    kinds = (rankers.rankers, proposers.proposers, replacement.replacements, service_kinds)
    for kind in kinds:
        monkeypatch.setattr(kind, "_entries", dict(kind._entries))
    monkeypatch.setattr(registry, "_own_modules", {})
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def command(folder, *arguments, path=()):
    """Run `bestbefore` in a Python of its own, with traces in the folder it runs in."""
    (folder / "s.csv").write_text(STREAM)
    (folder / "b.csv").write_text(BACKGROUND)
    source = str(Path(registry.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", "from bestbefore.cli.main import main; main()", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([source, *map(str, path)])},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def installed(folder, module, text, *, group="bestbefore.policies"):
    """A package with an entry point, as pip leaves it in site-packages."""
    (folder / f"{module}.py").write_text(text)
    info = folder / "my_package-1.0.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{group}]\nmine = {module}\n")
    return folder


def test_a_ranker_of_an_installed_package_is_simulated(tmp_path):
    site = tmp_path / "site"
    site.mkdir()
    installed(site, "their_policies", RANKER)
    arguments = [*SIMULATE, "--policy", "POP(exponent=2),GNR-POP,FBA(POP)"]
    code, out, err = command(tmp_path, *arguments, path=[site])
    assert (code, err) == (0, "")
    assert [each["policy"] for each in json.loads(out)] == [
        "POP(exponent=2)",
        "GNR-POP",
        "FBA(POP)",
    ]
    assert all(each["refreshes"] > 0 for each in json.loads(out))
    _, out, _ = command(tmp_path, "policies", path=[site])
    assert re.search(
        r"\n  POP\(exponent=1.0\) +The units with the most mappings in the window.\n", out
    )


def test_a_broken_plug_in_is_named_in_one_line(tmp_path):
    site = tmp_path / "site"
    site.mkdir()
    installed(site, "their_policies", "import no_such_module")
    code, out, err = command(tmp_path, *SIMULATE, "--policy", "LRU", path=[site])
    assert (code, out) == (2, "")
    assert err == (
        "bestbefore: the plug-in 'mine' of my-package (bestbefore.policies): 'their_policies' "
        "cannot be loaded: ModuleNotFoundError: No module named 'no_such_module'\n"
    )


def test_a_module_named_on_the_command_line(tmp_path):
    (tmp_path / "mine.py").write_text(RANKER)
    code, out, err = command(tmp_path, *SIMULATE, "--policy", "POP", "--policies", "mine")
    assert (code, err) == (0, "")
    assert json.loads(out)[0]["policy"] == "POP"
    code, out, err = command(tmp_path, "policies", "--policies", "mine", "--format", "json")
    assert "GNR-POP" in [each["name"] for each in json.loads(out)]
    code, out, err = command(tmp_path, "policies", "--policies", "yours")
    assert code == 2
    assert err == (
        "bestbefore: --policies: 'yours' cannot be loaded: "
        "ModuleNotFoundError: No module named 'yours'\n"
    )


def test_a_module_named_in_a_job_file(home):
    (home / "mine.py").write_text(RANKER)
    policy = {"module": "mine", "name": "POP(exponent=3)"}
    job = read_job(tables(policy=policy), folder=home)
    assert job.services[0].policy.ranker.exponent == 3
    with pytest.raises(PolicyError, match="unknown policy 'PIP'"):
        read_job(tables(policy={**policy, "name": "PIP"}), folder=home)
    with pytest.raises(InputError, match="^policy.module: 'ours' cannot be loaded: Module"):
        read_job(tables(policy={"module": "ours"}), folder=home)
    (home / "wrong.py").write_text("1 / 0")
    with pytest.raises(InputError, match="'wrong' cannot be loaded: ZeroDivisionError: division"):
        read_job(tables(policy={"module": "wrong"}), folder=home)


def test_a_second_module_of_the_same_name_is_not_taken_for_the_first(home):
    for name in ("one", "two"):
        (home / name).mkdir()
        (home / name / "mine.py").write_text(RANKER)
    load_module("mine", folder=home / "one", where="policy.module")
    load_module("mine", folder=home / "one", where="policy.module")
    with pytest.raises(InputError, match="'mine' was loaded from .*one before.*another name"):
        load_module("mine", folder=home / "two", where="policy.module")


def test_a_proposer_says_itself_what_it_does(home):
    (home / "mine.py").write_text(PROPOSERS)
    capacity = {"view": {"capacity": 5}}
    job = read_job(tables(policy={"module": "mine", "name": "MISS-LRU"}, **capacity), folder=home)
    assert job.services[0].policy.fetches_missing
    assert resolve_policy("CHEAT-LRU").needs == {Need.ORACLE}
    with pytest.raises(PolicyError, match="policy 'CHEAT' needs the true changes"):
        read_job(tables(policy={"module": "mine", "name": "CHEAT"}), folder=home)


def test_a_service_of_another_kind(home):
    (home / "mine.py").write_text(SERVICE)
    section = {"kind": "table", "module": "mine", "path": "people.csv", "budget": {"refreshes": 3}}
    job = read_job(tables(services={"bkg": section}), folder=home)
    (settings,) = job.services
    assert settings.budget == 3
    assert "client.kind = table\nclient.settings = {'path': 'people.csv'}" in explain(job)
    twice = QUERY.replace("SERVICE", "SERVICE :bkg { ?user :likes ?post } SERVICE")
    both = read_job(tables(query={"text": twice}, services={"bkg": section}), folder=home).services
    assert both[0].client == both[1].client == settings.client
    pattern = ServicePattern(settings.plan.service.pattern, ("user",), ("user",))
    service = open_service(settings.client, pattern)
    assert (service.path, service.pattern) == ("people.csv", pattern)
    assert fetch_within(service, [("<u>",)], deadline_s=1.0).rows == {("<u>",): ()}
    del section["path"]
    job = read_job(tables(services={"bkg": section}), folder=home)
    with pytest.raises(JobError, match="a service of kind 'table' cannot be opened: KeyError"):
        open_service(job.services[0].client, pattern)
    with pytest.raises(JobError, match="services.bkg.kind = 'tabel' is no kind .*mean 'table'"):
        read_job(tables(services={"bkg": {**section, "kind": "tabel"}}), folder=home)


def test_a_kind_of_service_of_an_installed_package(home, monkeypatch):
    installed(home, "their_services", SERVICE, group="bestbefore.services")
    monkeypatch.syspath_prepend(str(home))
    registry.load_entry_points.cache_clear()
    job = read_job(tables(services={"bkg": {"kind": "table", "path": "p"}}))
    assert job.services[0].client.kind == "table"
    registry.load_entry_points.cache_clear()


def test_a_name_belongs_to_one_plug_in_that_may_be_entered_anew():
    names = Registry("thing")

    class One:
        pass

    names.register("a")(One)
    again = type("One", (), {"__module__": __name__, "__qualname__": One.__qualname__})
    assert names.register("a")(again) is names["a"] is again
    with pytest.raises(PolicyError, match="thing 'a' is registered twice: by .*One and by .*Path"):
        names.register("a")(Path)
