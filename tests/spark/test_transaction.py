"""A batch is a transaction: what a crash at each point of it leaves behind."""

import json

import pytest

from bestbefore.checkpoint.relied_on import History
from bestbefore.checkpoint.state import Commits
from bestbefore.engine import Engine
from bestbefore.errors import WorkError
from bestbefore.sealed import unseal
from bestbefore.spark import buffer
from bestbefore.spark.hadoop import HadoopStorage
from bestbefore.storage import LocalStorage

from .conftest import EX, Bench, query

U = [f"{EX}u{number}" for number in range(8)]


class Crash(Exception):
    """The end of the process, as far as the engine can tell."""


def crashing_sink(answers, batch):
    raise Crash("before the answers were written")


@pytest.fixture
def job(bench):
    bench.mention((1_000, 1), (2_000, 2), (3_000, 3), (6_000, 4))
    return bench.job(policy={"name": "WSJ-LRU"}, budget={"refreshes": 2})


def test_a_repeated_batch_takes_its_refreshes_from_the_journal(bench, service, job):
    with pytest.raises(WorkError, match="before the answers were written"):
        bench.run(job, service, sink=crashing_sink)
    (asked,) = service.asked
    # The service changes before the batch is repeated; what was fetched is what is answered.
    service.followers = {user: count + 1 for user, count in service.followers.items()}
    bench.run(job, service)
    assert service.asked == [asked]
    assert bench.rows() == {1: [(U[1], "100"), (U[2], "200"), (U[3], "300")]}


def test_a_crash_between_the_request_and_the_journal_wastes_budget_but_adds_none(
    bench, service, job
):
    answer = service.fetch

    def fetch_and_crash(keys, **limits):
        answer(keys, **limits)
        raise Crash("after the request was sent")

    service.fetch = fetch_and_crash
    with pytest.raises(WorkError, match="after the request was sent"):
        bench.run(job, service)
    service.fetch = answer
    bench.run(job, service)
    # Two requests' worth was reserved before it was sent; the repetition has nothing left.
    assert [len(keys) for keys in service.asked] == [2]
    assert bench.reports[-1].elected == 0
    assert len(bench.rows()[1]) == 3


def test_a_crash_after_the_commit_repeats_nothing(bench, service, job):
    def crashing_report(_):
        raise Crash("after the commit")

    with pytest.raises(WorkError, match="after the commit"):
        Engine(bench.spark).start(job, services={"bkg": service}, on_quality=crashing_report).wait(
            60
        )
    before = {file: file.stat().st_mtime_ns for file in bench.folder.glob("answers/*/*.json")}
    running = bench.run(job, service)
    assert {file: file.stat().st_mtime_ns for file in before} == before
    assert running.state.batch == 0
    assert len(service.asked) == 1


def test_a_batch_that_merges_segments_and_crashes_is_repeated_identically(
    spark, service, tmp_path, monkeypatch
):
    monkeypatch.setattr(buffer, "_MOST_SEGMENTS", 3)
    rows = {}
    for kind in ("undisturbed", "crashed"):
        bench = Bench(spark, tmp_path / kind)
        for second in range(1, 9):
            bench.mention((second * 1_000, second % 8))
        job = bench.job(query(width="PT6S", slide="PT1S"))
        if kind == "crashed":
            # Batch 3 merges those before it, and everything is written but for the commit.
            for stage in ("before", "after"):
                with monkeypatch.context() as crashing:
                    crashing.setattr(History, "commit", crash_at_batch(3, History.commit, stage))
                    with pytest.raises(WorkError, match="the commit"):
                        bench.run(job, service)
        running = bench.run(job, service)
        rows[kind] = bench.rows()
        assert any(one.name.endswith("-merged") for one in running.state.segments)
        # What a crash left goes with the next start; what the last two commits rely on is kept.
        bench.run(job, service)
        storage = LocalStorage(str(bench.folder / "checkpoint"))
        relied_on = {name for state in Commits(storage).kept() for name in state.files}
        assert {f"buffer/{name}" for name in storage.names("buffer")} == {
            name for name in relied_on if name.startswith("buffer/")
        }
    assert rows["crashed"] == rows["undisturbed"]
    assert len(rows["crashed"]) == 7


def crash_at_batch(batch, commit, stage):
    """A commit that ends the process at a batch, before it or after it."""

    def crashing(self, state):
        if state.batch == batch and stage == "before":
            raise Crash("before the commit")
        gone = commit(self, state)
        if state.batch == batch:
            raise Crash("after the commit")
        return gone

    return crashing


def test_the_view_survives_with_its_ages_and_best_before_times(bench, service, job):
    first = bench.run(job, service).processor.answering.served[0].view
    again = bench.run(job, service).processor.answering.served[0].view
    assert again.keys == first.keys
    for column in ("refreshed_ms", "best_before_ms", "interval_ms", "row_count"):
        assert getattr(again.units, column).tolist() == getattr(first.units, column).tolist()
    # What was loaded at the start is as old as the slide before the first evaluation.
    assert set(first.units.refreshed_ms.tolist()) == {0, 5_000}


def test_snapshots_replace_journals_and_old_segments_go(bench, service, job, monkeypatch):
    monkeypatch.setattr("bestbefore.engine.served_view._SNAPSHOT_EVERY", 3)
    for number in range(4):
        bench.mention((11_000 + number * 5_000, number % 8))
    running = bench.run(job, service)
    checkpoint = bench.folder / "checkpoint"
    assert running.state.view("bkg").snapshot_batch == 2
    assert len(list((checkpoint / "services/bkg/view").iterdir())) == 1
    # What the commit before relied on is kept, so that one may go back to it.
    assert all(int(each.name[-12:]) > 1 for each in (checkpoint / "services/bkg/journal").iterdir())
    assert len(list((checkpoint / "buffer").iterdir())) <= 4
    ledger = unseal((checkpoint / "services/bkg/ledger.json").read_bytes(), "it")
    assert len(ledger["evaluations"]) <= 1
    assert len(list((checkpoint / "commits").iterdir())) == 2
    ages = running.processor.answering.served[0].view.units.refreshed_ms.tolist()
    assert (
        bench.run(job, service).processor.answering.served[0].view.units.refreshed_ms.tolist()
        == ages
    )


def test_many_small_batches_in_one_window_are_merged_into_one_segment(bench, service, monkeypatch):
    monkeypatch.setattr("bestbefore.spark.buffer._MOST_SEGMENTS", 2)
    for number in range(4):
        bench.mention((1_000 + number * 10, number))
    bench.mention((6_000, 0))
    running = bench.run(bench.job(), service)
    assert len(running.state.segments) <= 2
    assert len(bench.rows()[1]) == 4


@pytest.mark.parametrize("windows", [1, 100])
def test_a_batch_takes_three_jobs_however_many_windows_are_due(bench, service, windows):
    bench.mention((1_000, 1), (1_000 + windows * 5_000, 2))
    running = bench.run(bench.job(), service)
    tracker = bench.spark.sparkContext.statusTracker()
    jobs = tracker.getJobIdsForGroup(str(running.query.runId))
    assert len(bench.reports) == windows
    # One makes the elements durable, job A reads the windows, job B joins and writes.
    assert len(jobs) == 3


@pytest.mark.parametrize("put", [frozenset(), frozenset({"file"})], ids=["renamed", "put"])
def test_state_on_a_hadoop_file_system(bench, service, monkeypatch, put):
    monkeypatch.setattr("bestbefore.engine.engine.storage_at", HadoopStorage)
    monkeypatch.setattr("bestbefore.spark.hadoop.PUT_SCHEMES", put)
    bench.mention((1_000, 1), (6_000, 2))
    bench.mention((11_000, 3))
    job = bench.job(checkpoint={"path": f"file://{bench.folder}/remote"})
    bench.run(job, service)
    again = bench.run(job, service)
    assert again.state.next_evaluation == 3
    assert sorted(bench.rows()) == [1, 2]
    storage = HadoopStorage(bench.spark, f"file://{bench.folder}/remote")
    storage.write("x/y", b"\x00\xff")
    storage.write("x/y", b"two")
    assert storage.read("x/y") == b"two"
    assert storage.names("x") == ["y"]
    storage.delete("x")
    assert storage.read("x/y") is None


def test_answers_through_other_spark_sinks(bench, service):
    bench.mention((1_000, 1), (6_000, 2))
    bench.run(bench.job(sink={"format": "parquet", "path": "p"}), service)
    table = bench.spark.read.parquet(str(bench.folder / "p"))
    assert [row["rows"][0]["user"]["value"] for row in table.collect()] == [U[1]]
    appended = bench.job(
        sink={"format": "json", "mode": "append", "path": "j", "quality": "q2"},
        checkpoint={"path": "c2"},
    )
    bench.run(appended, service)
    (file,) = [each for each in bench.folder.glob("j/part-*.json") if each.read_text()]
    assert json.loads(file.read_text())["evaluation"] == 1


def test_answers_on_stdout(bench, service, capsys):
    bench.mention((1_000, 1), (11_000, 2))
    bench.run(bench.job(sink={"format": "stdout"}), service)
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["evaluation"] for line in lines] == [1, 2]
