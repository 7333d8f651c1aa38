"""What `make mutants` takes for a mutant, and how it knows which tests execute it."""

import runpy
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MUTATIONS = runpy.run_path(str(ROOT / "scripts" / "mutations.py"))
SOURCE = '''"""A module."""

LEAST: int | None = 3


def share(part: float, whole: float, *, exact: bool = False) -> float | None:
    """The share of 1."""
    if not whole or part < 0:
        return None
    found = part / whole
    return found if exact else min(1.0, found)
'''


@pytest.fixture
def found(tmp_path):
    file = tmp_path / "shares.py"
    file.write_text(SOURCE, encoding="utf-8")
    return MUTATIONS["mutants"](tmp_path, file)


def test_each_comparison_operator_and_constant_is_turned_and_nothing_else(found):
    assert [(mutant.number, mutant.statement, mutant.change) for mutant in found] == [
        (3, None, "3 → 4"),
        (6, None, "False → True"),
        (8, 8, "not whole or part < 0 → not whole and part < 0"),
        (8, 8, "not whole → whole"),
        (8, 8, "part < 0 → part <= 0"),
        (8, 8, "part < 0 → part < 1"),
        (10, 10, "part / whole → part * whole"),
        (11, 11, "min → max"),
        (11, 11, "min(1.0, found) → min(2.0, found)"),
    ]
    assert len({mutant.name for mutant in found}) == len(found)


def test_a_mutant_differs_from_the_source_in_one_place(found):
    made = {mutant.change: mutant.source(SOURCE) for mutant in found}
    assert len(set(made.values())) == len(found)
    scope = {}
    exec(made["part < 0 → part <= 0"], scope)
    assert scope["share"](0.0, 2.0) is None
    assert scope["share"](1.0, 2.0) == 0.5


def test_a_name_stays_when_lines_move(found, tmp_path):
    file = tmp_path / "shares.py"
    file.write_text(SOURCE.replace("LEAST", "# More.\n\nLEAST"), encoding="utf-8")
    moved = MUTATIONS["mutants"](tmp_path, file)
    assert [mutant.name for mutant in moved] == [mutant.name for mutant in found]
    assert [mutant.number - 2 for mutant in moved] == [mutant.number for mutant in found]


def test_marks_tell_which_statements_were_executed(monkeypatch):
    monkeypatch.setattr(sys, "passed_marks", set(), raising=False)
    scope = {}
    exec(MUTATIONS["marked"](SOURCE, 5_000), scope)
    assert sys.passed_marks == set()
    scope["share"](1.0, 0.0)
    assert {mark - 5_000 for mark in sys.passed_marks} >= {8, 9}
    assert not {5_010, 5_011} & sys.passed_marks
    assert scope["share"](3.0, 2.0) == 1.0
    assert {5_010, 5_011} <= sys.passed_marks


def test_every_equivalent_mutant_exists_and_has_a_reason():
    text = (ROOT / "tests" / "equivalent_mutants.toml").read_text(encoding="utf-8")
    source = ROOT / "src" / "bestbefore"
    for entry in tomllib.loads(text)["mutants"]:
        file = source / entry["mutant"].split(" | ")[0]
        names = {mutant.name for mutant in MUTATIONS["mutants"](source, file)}
        assert entry["mutant"] in names
        assert entry["reason"].endswith(".")
