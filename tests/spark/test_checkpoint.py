"""A checkpoint goes on with a job that needs no more than it kept, however that is spelled."""

import re

import pytest

from bestbefore.checkpoint.state import FORMAT
from bestbefore.errors import StateError
from bestbefore.sealed import seal, unseal

from .conftest import EX, PREFIX, TableService, query

U = [f"{EX}u{number}" for number in range(8)]


def with_stream(bench, name, **sections):
    return bench.job(streams={name: {"path": "stream", "files_per_batch": 1}}, **sections)


def commits_of(bench):
    return sorted((bench.folder / "checkpoint" / "commits").iterdir())


def test_another_query_or_another_format_is_refused(bench, service):
    bench.mention((1_000, 1), (6_000, 2))
    bench.run(bench.job(), service)
    with pytest.raises(StateError, match="belongs to another query"):
        bench.run(bench.job(query("SELECT ?user")), service)
    (commit,) = commits_of(bench)
    written = commit.read_text()
    commit.write_text(written.replace(f'"format": {FORMAT}', '"format": 99'))
    told = f"format 99, this version reads {FORMAT}: upgrade bestbefore"
    with pytest.raises(StateError, match=told):
        bench.run(bench.job(), service)
    commit.write_text(written.replace(f'"format": {FORMAT}', '"format": 4'))
    told = f"format 4, this version reads {FORMAT}: finish with an older"
    with pytest.raises(StateError, match=told):
        bench.run(bench.job(), service)


def test_a_stream_section_may_be_renamed(bench, service):
    """Its elements, its watermark and what was kept of it are those of the stream's IRI."""
    bench.mention((1_000, 1), (4_000, 2), (6_000, 3))
    first = bench.run(with_stream(bench, "s"), service)
    assert first.state.latest == {f"{EX}s": 6_000}
    # Nothing of the second file closes the window (0, 10]: its time is known from before.
    bench.mention((5_500, 4), (11_000, 5))
    second = bench.run(with_stream(bench, "renamed"), service)
    assert second.state.latest == {f"{EX}s": 11_000}
    assert second.state.late == 1
    assert bench.rows() == {
        1: [(U[1], "100"), (U[2], "200")],
        2: [(U[1], "100"), (U[2], "200"), (U[3], "300")],
    }


def test_a_query_may_be_written_otherwise(bench, service):
    """The checkpoint's text may be that of a version that prints queries in another way."""
    bench.mention((1_000, 1), (6_000, 2))
    bench.run(bench.job(), service)
    (commit,) = commits_of(bench)
    state = unseal(commit.read_bytes(), "it")
    state["query"] = re.sub(r"\s+", "\n  ", query())
    assert PREFIX.strip().split()[0] in state["query"]
    commit.write_bytes(seal(state))
    bench.mention((11_000, 3))
    bench.run(bench.job(), service)
    assert sorted(bench.rows()) == [1, 2]


def test_wider_needs_are_refused_with_the_reason_and_narrower_go_on(bench, service):
    bench.mention((1_000, 1), (6_000, 2))
    whole = bench.job(query={"text": query(), "report": "non-empty"})
    bench.run(whole, service)
    bench.mention((11_000, 3))
    bench.run(bench.job(), service)
    assert sorted(bench.rows()) == [1, 2]
    with pytest.raises(
        StateError,
        match=f"keeps only a part of the stream <{EX}s>.* query.report = 'non-empty' looks at "
        "whole windows: leave the report as it was",
    ):
        bench.run(whole, service)


def test_what_an_older_version_left_out_is_named(bench, service):
    bench.mention((1_000, 1), (6_000, 2))
    bench.run(bench.job(), service)
    (commit,) = commits_of(bench)
    state = unseal(commit.read_bytes(), "it")
    assert state["needed"] == {"shapes": {f"{EX}s": [[None, f"<{EX}isMentionedIn>", None]]}}
    state["needed"]["shapes"][f"{EX}s"] = [[None, f"<{EX}isMentionedIn>", f"<{EX}p1>"]]
    commit.write_bytes(seal(state))
    with pytest.raises(StateError, match=f"the query looks at _ <{EX}isMentionedIn> _ too"):
        bench.run(bench.job(), service)


def test_another_endpoint_starts_the_view_anew(bench, service):
    bench.mention((1_000, 1), (6_000, 2))
    bench.run(bench.job(), service)
    bench.mention((11_000, 3))
    other = TableService({f"<{user}>": 7 for user in U[:3]})
    elsewhere = bench.job(services={"bkg": {"endpoint": "http://127.0.0.1:9/other"}})
    bench.run(elsewhere, other)
    # No row of the first endpoint is left, although the budget could not have replaced them all.
    assert bench.rows()[2] == [(U[1], "7"), (U[2], "7")]
    bench.mention((16_000, 3))
    bench.run(elsewhere, other)
    assert bench.rows()[3] == [(U[2], "7")]


def test_another_change_interval_holds_for_the_units_that_are_there(bench, service):
    def intervals(running):
        return set(running.processor.answering.served[0].view.units.interval_ms.tolist())

    bench.mention((1_000, 1), (6_000, 2))
    assert intervals(bench.run(bench.job(view={"change_interval": "10s"}), service)) == {10_000}
    bench.mention((11_000, 3))
    stated = bench.job(view={"change_interval": "7s"})
    assert intervals(bench.run(stated, service)) == {7_000}
    bench.mention((16_000, 3))
    assert intervals(bench.run(stated, service)) == {7_000}
    with pytest.raises(StateError, match="full_windows_only = True, .* its windows have begun"):
        bench.run(bench.job(query={"text": query(), "full_windows_only": True}), service)
