"""`bestbefore generate`: files in a folder, the folder on stdout, the rest on stderr."""

import sys

import pytest

from bestbefore.cli.main import app, guarded
from bestbefore.generators import PRESETS, generators, store_generators
from bestbefore.market import read_shape
from bestbefore.traces import read_links, read_stream


@pytest.fixture
def generate(tmp_path, monkeypatch, capsys):
    """Run the command in an empty folder; return its code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["bestbefore", "generate", *arguments])
        code = guarded(app)
        out, err = capsys.readouterr()
        return code, out, err

    run.folder = tmp_path
    return run


def refused(outcome):
    """The one line of a refusal."""
    code, out, err = outcome
    assert (code, out) == (2, "")
    (line,) = err.splitlines()
    return line


def test_it_writes_the_traces_and_says_where(generate):
    code, out, err = generate("bipartite", "--out", "traces/mn", "--set", "edges=200")
    assert (code, out) == (0, "traces/mn\n")
    stream = read_stream(generate.folder / "traces/mn/stream.csv")
    assert err.splitlines()[0] == f"wrote traces/mn/stream.csv: {len(stream)} rows"
    assert err.splitlines()[2:] == [
        "wrote traces/mn/links.csv: 200 rows",
        "wrote traces/mn/intervals.csv: 50 rows",
    ]
    assert len(read_links(generate.folder / "traces/mn/links.csv")) == 200


def test_the_seed_decides(generate):
    for folder, seed in (("a", "3"), ("b", "3"), ("c", "4")):
        assert generate("DS75", "--out", folder, "--seed", seed)[0] == 0
    a, b, c = ((generate.folder / folder / "background.csv").read_text() for folder in "abc")
    assert a == b != c


def test_durations_may_be_written_as_people_do(generate):
    generate("poisson", "--out", "t", "--set", "duration_ms=10m", "--set", "keys = 20")
    stream = read_stream(generate.folder / "t" / "stream.csv")
    assert stream.ts_ms.max() <= 600_000


def test_existing_traces_are_overwritten_by_force_only(generate):
    generate("bipartite", "--out", "t")
    before = (generate.folder / "t" / "stream.csv").read_text()
    line = refused(generate("poisson", "--out", "t"))
    assert "t/stream.csv exists; name another folder with --out, or overwrite it" in line
    assert (generate.folder / "t" / "stream.csv").read_text() == before
    (generate.folder / "t" / "notes.txt").write_text("mine")
    assert generate("poisson", "--out", "t", "--force")[0] == 0
    left = sorted(path.name for path in (generate.folder / "t").iterdir())
    assert left == ["background.csv", "intervals.csv", "notes.txt", "stream.csv"]


def test_a_mistake_leaves_existing_traces_alone(generate):
    generate("bipartite", "--out", "t")
    refused(generate("bipartite", "--out", "t", "--force", "--set", "edges=9999"))
    assert (generate.folder / "t" / "links.csv").exists()


def test_the_list_shows_every_generator_with_its_parameters(generate):
    code, out, err = generate("--list")
    assert (code, err) == (0, "")
    lines = {name: rest for name, *rest in (line.split("\t") for line in out.splitlines())}
    assert set(lines) == {*generators, *PRESETS, *store_generators}
    assert "edges=1000" in lines["bipartite"][0].split()
    assert "regular=false" in lines["twitter-like"][0].split()
    assert lines["DS75"] == ["share=0.75", "The same as DS with share=0.75."]
    assert all(summary.endswith(".") for _, summary in lines.values())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name a generator; `bestbefore generate --list` shows them"),
        (("poisson",), "name the folder for the traces: --out FOLDER"),
        (("poison", "--out", "t"), "unknown generator 'poison'; did you mean 'poisson'?"),
        (("DS", "--out", "t", "--set", "x=1"), "generator 'DS' has no parameter 'x'; it takes: "),
        (
            ("DS", "--out", "t", "--set", "share"),
            "write for example share=0.75",
        ),
        (("DS", "--out", "t", "--set", "=1"), "'=1' is not name=value; write for"),
        (("DS", "--out", "t", "--set", "keys=x"), "'DS': keys = 'x'; it must be a whole number"),
        (("DS", "--out", "t", "--set", "share=2"), "share = 2.0: it must lie between 0 and 1"),
        (("DS75", "--out", "t", "--set", "share=0.5"), "'DS75' has share = 0.75; take 'DS'"),
    ],
)
def test_mistakes(generate, arguments, message):
    assert message in refused(generate(*arguments))
    assert not (generate.folder / "t").exists()


def test_a_negative_seed(generate):
    assert generate("DS", "--out", "t", "--seed", "-1")[0] == 2


def test_out_is_no_file(generate):
    (generate.folder / "t").write_text("")
    assert "t is a file; name a folder" in refused(generate("DS", "--out", "t"))


def test_a_folder_that_cannot_be_made(generate):
    (generate.folder / "t").write_text("")
    code, out, err = generate("DS", "--out", "t/folder")
    assert (code, out) == (1, "")
    assert "cannot be written to t/folder" in err


def test_a_store_is_triples_stale_ones_and_queries(generate):
    small = ("shop", "--out", "s", "--set", "products=20", "--set", "free_queries=3")
    code, out, err = generate(*small, "--set", "bound_queries=2")
    assert (code, out) == (0, "s\n")
    data, stale = (
        (generate.folder / "s" / name).read_text().splitlines() for name in ("data.nt", "stale.nt")
    )
    assert err.splitlines() == [
        f"wrote s/data.nt: {len(data)} rows",
        f"wrote s/stale.nt: {len(stale)} rows",
        "wrote s/queries: 5 queries",
    ]
    assert len(set(data)) == len(data)
    assert set(stale) < set(data)
    queries = sorted((generate.folder / "s" / "queries").iterdir())
    assert [path.name for path in queries] == [f"q{number:04d}.rq" for number in range(5)]
    bound = [len(read_shape(path.read_text()).parts) for path in queries]
    assert all(2 <= parts <= 4 for parts in bound)
    assert "s/data.nt exists" in refused(generate(*small))
    assert generate(*small, "--force")[0] == 0
    assert "products = 0: it must be 1 or more" in refused(
        generate("shop", "--out", "t", "--set", "products=0")
    )
