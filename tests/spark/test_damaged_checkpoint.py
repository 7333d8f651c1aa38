"""A checkpoint that lost something says so, and is repaired where that can be done."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bestbefore.checkpoint.inspection import Mend, inspect, request_files
from bestbefore.checkpoint.repair import repair
from bestbefore.cli.main import app
from bestbefore.errors import DamagedState
from bestbefore.sealed import seal
from bestbefore.storage import LocalStorage

from .conftest import EX, Bench, TableService, query

FOLLOWERS = {f"<{EX}u{number}>": number * 100 for number in range(8)}
ISTREAM = query().replace("RSTREAM", "ISTREAM")


class Crash(Exception):
    pass


@pytest.fixture(scope="module")
def ended(spark, tmp_path_factory):
    """A run that ended in its fifth batch, after it had fetched and before it committed."""
    bench = Bench(spark, tmp_path_factory.mktemp("ended"))
    for number in range(6):
        bench.mention((1_000 + number * 5_000, number), (2_000 + number * 5_000, number + 1))
    limits = {"bkg": {"endpoint": "http://127.0.0.1:9/none", "limits": {"per_day": 1_000}}}
    job = bench.job(ISTREAM, services=limits)

    def sink(answers, batch):
        if batch == 4:
            raise Crash
        answers.write.mode("overwrite").json(f"{bench.folder}/answers/batch={batch:012d}")

    with pytest.raises(Exception, match="stopped|Crash"):
        bench.run(job, TableService(FOLLOWERS), sink=sink)
    return bench, job


@pytest.fixture
def copy(ended, tmp_path):
    """The run with a checkpoint of its own."""
    bench, job = ended
    for folder in ("checkpoint", "answers"):
        shutil.copytree(bench.folder / folder, tmp_path / folder)
    sink = replace(job.sink, path=f"{tmp_path}/answers", quality=f"{tmp_path}/quality")
    own = Bench(bench.spark, tmp_path)
    return own, replace(job, checkpoint=f"{tmp_path}/checkpoint", sink=sink)


@pytest.fixture(scope="module")
def answers(ended, tmp_path_factory):
    """What the run answers if nothing is wrong."""
    bench, job = ended
    folder = tmp_path_factory.mktemp("undisturbed")
    sink = replace(job.sink, path=f"{folder}/answers", quality=f"{folder}/quality")
    own = Bench(bench.spark, folder)
    own.run(replace(job, checkpoint=f"{folder}/checkpoint", sink=sink), TableService(FOLLOWERS))
    return own.rows()


def storage(job):
    return LocalStorage(job.checkpoint)


def ledgers(job):
    return request_files(job, lambda _: storage(job))


def tree(folder):
    files = (file for file in Path(folder).rglob("*") if file.is_file() and file.name != "lock")
    return {str(file): file.read_bytes() for file in files}


def every_file(checkpoint):
    """The files that a next run relies on, by their names in the checkpoint."""
    root = Path(checkpoint)
    names = sorted(str(file.relative_to(root)) for file in root.rglob("*") if file.is_file())
    old = ("spark/commits/", "quarantine/", "lock", "spark.log")
    return [
        name
        for name in names
        if not name.startswith(old) and "/." not in name and not name.endswith("_SUCCESS")
    ]


def flip(content):
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 4]) + content[middle + 1 :]


WAYS = {
    "deleted": None,
    "emptied": lambda _: b"",
    "truncated": lambda content: content[: len(content) // 2],
    "altered": flip,
    "garbage": lambda content: b"\xff\x00" * (len(content) // 2 + 1),
}
# What only the commit before relied on, and what the batch under way writes again.
UNUSED = (
    *("commits/batch-000000000002", "answered/batch-000000000002"),
    *("buffer/batch-000000000001", "buffer/batch-000000000004"),
    *("spark/offsets/0", "spark/offsets/1"),
)
# A crash a moment earlier leaves a batch without these.
NOT_YET = ("services/bkg/journal/batch-000000000004", "spark/offsets/4")


def test_the_run_ended_in_the_middle_of_a_batch(ended):
    _, job = ended
    files = every_file(job.checkpoint)
    kinds = {name.split("/")[0] for name in files}
    assert kinds >= {"commits", "buffer", "answered", "services", "limits", "spark", "run.json"}
    assert any("journal/batch-000000000004" in name for name in files)
    assert not any("commits/batch-000000000004" in name for name in files)
    assert inspect(storage(job)) == []


@pytest.mark.parametrize("way", WAYS)
def test_whatever_happens_to_a_file_is_found_and_named(copy, way):
    _, job = copy
    root, missed = Path(job.checkpoint), []
    for name in every_file(root):
        before = (root / name).read_bytes()
        damage = WAYS[way]
        (root / name).unlink() if damage is None else (root / name).write_bytes(damage(before))
        found = [one.file for one in inspect(storage(job), ledgers(job))]
        if not {name, str(Path(name).parent), str(root / name)} & set(found):
            missed.append(name)
        (root / name).write_bytes(before)
    fine = (*UNUSED, *NOT_YET) if way == "deleted" else UNUSED
    assert [name for name in missed if not name.startswith(fine)] == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("buffer/batch-000000000003", "buffer/batch-000000000003 is missing (1 file, "),
        ("commits", "commits lacks the commit of Spark's batch 3"),
        ("spark/offsets", "spark/offsets/3 is missing"),
        ("spark/sources", "spark/sources/0/"),
        ("services/bkg/journal", "services/bkg/journal/batch-0000000000"),
        ("services/bkg/view", "services/bkg/view/initial is missing"),
        ("services/bkg/ledger.json", "services/bkg/ledger.json is missing"),
        ("limits", "limits/"),
        ("run.json", "run.json is missing"),
    ],
)
def test_a_run_refuses_to_go_on_and_writes_nothing(copy, name, message):
    own, job = copy
    path = Path(job.checkpoint) / name
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    before = tree(own.folder)
    with pytest.raises(DamagedState) as told:
        own.run(job, TableService(FOLLOWERS))
    assert f"the checkpoint {job.checkpoint} is damaged: " in str(told.value)
    assert message in str(told.value)
    assert "use another checkpoint.path" in str(told.value)
    assert "\n" not in str(told.value)
    assert told.value.exit_code == 1
    assert tree(own.folder) == before


def test_commits_of_which_nothing_is_left_are_missed_by_what_was_answered(copy):
    own, job = copy
    for name in ("commits", "spark", "services", "buffer"):
        shutil.rmtree(f"{job.checkpoint}/{name}")
    job = replace(job, sink=replace(job.sink, quality=None))
    owner = {"run": "r", "query": "q", "checkpoint": job.checkpoint}
    LocalStorage(job.checkpoint).write("run.json", seal({"run": "r"}))
    LocalStorage(job.sink.path).write("_bestbefore.json", seal(owner))
    with pytest.raises(DamagedState, match="has lost its commits: .* wrote as batch 3"):
        own.run(job, TableService(FOLLOWERS))


@pytest.mark.parametrize(
    ("damaged", "mends"),
    [
        (["commits/batch-000000000003.json"], [Mend.GO_BACK]),
        (["run.json"], [Mend.RUN]),
        (["spark/metadata"], [Mend.METADATA]),
        (["spark/offsets/[23]"], [Mend.OFFSETS]),
        (["spark/offsets/4"], [Mend.STRAY]),
        (["services/bkg/ledger.json"], [Mend.LEDGER]),
        (["services/bkg/journal/batch-000000000004/*"], [Mend.FORGET]),
    ],
)
def test_what_can_be_mended_without_loss_goes_on_to_the_same_answers(copy, answers, damaged, mends):
    own, job = copy
    for pattern in damaged:
        for file in Path(job.checkpoint).glob(pattern):
            file.unlink() if mends == [Mend.STRAY] else file.write_bytes(flip(file.read_bytes()))
    mended = repair(storage(job))
    assert {damage.mend for damage in mended} == set(mends)
    own.run(job, TableService(FOLLOWERS))
    assert own.rows() == answers


def test_what_a_crash_a_moment_earlier_would_not_have_left_is_not_missed(copy, answers):
    own, job = copy
    for name in (*NOT_YET, "spark/offsets/.4.crc"):
        path = Path(job.checkpoint) / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    own.run(job, TableService(FOLLOWERS))
    assert own.rows() == answers


def test_a_deleted_commit_is_repeated(copy, answers):
    own, job = copy
    (Path(job.checkpoint) / "commits/batch-000000000003.json").unlink()
    assert [damage.mend for damage in repair(storage(job))][:1] == [Mend.REPEAT]
    own.run(job, TableService(FOLLOWERS))
    assert own.rows() == answers


def test_a_view_starts_anew_and_elements_are_given_up_only_if_that_is_accepted(copy, answers):
    own, job = copy
    root = Path(job.checkpoint)
    for file in (*root.glob("services/bkg/view/*/units.parquet"), *root.glob("answered/*/*")):
        file.write_bytes(b"")
    shutil.rmtree(root / "buffer/batch-000000000002")
    before = tree(root)
    with pytest.raises(DamagedState, match=r"a repair would .* --accept-loss"):
        repair(storage(job))
    assert tree(root) == before
    mended = repair(storage(job), accept_loss=True)
    assert {damage.mend for damage in mended} == {Mend.VIEW, Mend.ANSWERED, Mend.SEGMENT}
    service = TableService(FOLLOWERS)
    own.run(job, service)
    found = own.rows()
    assert found.keys() == answers.keys()
    # The last window holds no element of the lost segment.
    assert found[max(found)] == answers[max(answers)]


def test_the_command_tells_what_is_wrong_and_mends_it(copy, tmp_path):
    _, job = copy
    file = tmp_path / "job.toml"
    file.write_text(
        f"[query]\ntext = '''{ISTREAM}'''\n[streams.s]\npath = '{tmp_path}'\n"
        "[services.bkg]\nendpoint = 'http://127.0.0.1:9/none'\nlimits = { per_day = 1000 }\n"
    )
    run = CliRunner()
    good = run.invoke(app, ["checkpoint", "check", str(file)])
    assert good.exit_code == 0
    assert "whole: batch 3 is committed" in good.stdout
    (limits,) = Path(job.checkpoint).glob("limits/*.json")
    limits.unlink()
    (Path(job.checkpoint) / "run.json").unlink()
    bad = run.invoke(app, ["checkpoint", "check", str(file)])
    assert isinstance(bad.exception, DamagedState)
    assert "is damaged: 2 files" in str(bad.exception)
    assert "run.json is missing\ta repair would write the id" in bad.stdout
    assert f"{limits} is missing\ta repair would count what the service is asked" in bad.stdout
    refused = run.invoke(app, ["checkpoint", "repair", str(file)])
    assert "--accept-loss" in str(refused.exception)
    mended = run.invoke(app, ["checkpoint", "repair", str(file), "--accept-loss"])
    assert mended.exit_code == 0
    assert len(mended.stdout.splitlines()) == 2
    assert run.invoke(app, ["checkpoint", "check", str(file)]).exit_code == 0
