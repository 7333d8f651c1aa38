"""A changed job on an old checkpoint: each change is applied or refused, none is ignored."""

import logging

import pytest

from bestbefore.checkpoint.changed_job import settings_of, take_over
from bestbefore.checkpoint.state import State
from bestbefore.errors import StateError
from bestbefore.job import read_job

QUERY = """PREFIX : <http://e/> REGISTER RSTREAM :out AS SELECT ?user ?f
FROM NAMED WINDOW :w ON :s [RANGE PT10S STEP PT5S]
WHERE { WINDOW :w { ?user :by ?post } SERVICE :bkg { ?user :has ?f } FILTER(?f > 5) }"""


@pytest.fixture
def job(tmp_path):
    """Make a job with other sections than the usual ones."""
    for folder in ("stream", "other"):
        (tmp_path / folder).mkdir()

    def make(**sections):
        usual = {
            "query": {},
            "streams": {"s": {"path": "stream"}},
            "services": {"bkg": {"endpoint": "http://e/sparql"}},
            "budget": {"refreshes": 3},
        }
        tables = {**usual, **sections}
        return read_job({**tables, "query": {"text": QUERY, **tables["query"]}}, folder=tmp_path)

    return make


def change(before, after, *, begun=True):
    t0_ms = (0,) if begun else None
    state = State("q", t0_ms=t0_ms, next_evaluation=7, settings=settings_of(before))
    return take_over(state, settings_of(after), "ck")


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"query": {"t0": 1_767_225_600_000}}, r"query\.t0 = 1767225600000, .* windows have begun"),
        ({"query": {"full_windows_only": True}}, "full_windows_only = True, .*have begun"),
        ({"streams": {"s": {"path": "other"}}}, "<http://e/s> source = .*/other.*Spark's offsets"),
        ({"streams": {"s": {"path": "stream", "time": "arrival"}}}, "time = arrival, .*with data:"),
        ({"services": {"b": {"iri": "http://e/bkg"}}}, "services = b, .*made with bkg: views"),
        ({"view": {"fill": "start"}}, r"bkg\.view\.fill = start, .*was not loaded at the start"),
    ],
)
def test_what_cannot_be_applied_is_refused_with_the_reason(job, sections, message):
    with pytest.raises(StateError, match=message) as told:
        change(job(), job(**sections))
    assert str(told.value).endswith("; set it back, or use another checkpoint.path")


@pytest.mark.parametrize(
    ("sections", "key"),
    [
        ({"services": {"bkg": {"endpoint": "http://e/other"}}}, "services.bkg.endpoint"),
        ({"policy": {"name": "LRU"}}, "services.bkg.policy"),
        ({"policy": {"seed": 5}}, "services.bkg.seed"),
        ({"budget": {"refreshes": 4}}, "services.bkg.budget.refreshes"),
        ({"budget": {"refreshes": 3, "start": 50}}, "services.bkg.budget.start"),
        ({"budget": {"refreshes": 3, "per_day": 50}}, "services.bkg.limits"),
        ({"qos": {"freshness": 0.9}}, "services.bkg.qos"),
        ({"view": {"capacity": 50}}, "services.bkg.view.capacity"),
        ({"view": {"keep_windows": 50}}, "services.bkg.view.keep_windows"),
        ({"view": {"mode": "frozen"}}, "services.bkg.view.mode"),
        ({"view": {"change_interval": "1h"}}, "services.bkg.view.intervals"),
        ({"query": {"report": "non-empty"}}, "query.report"),
        ({"streams": {"s": {"path": "stream", "allowed_lateness": "9s"}}}, "allowed_lateness"),
    ],
)
def test_what_can_be_applied_is_said(job, sections, key, caplog):
    with caplog.at_level(logging.INFO, logger="bestbefore.checkpoint"):
        changed = change(job(), job(**sections))
    assert [name for name in changed if name.endswith(key)]
    (told,) = [one.message for one in caplog.records if key in one.message]
    assert "anew" in told if "endpoint" in key else "from evaluation 7 on" in told


def test_a_file_of_intervals_counts_by_what_is_in_it(job, tmp_path):
    file = tmp_path / "intervals.csv"
    file.write_text("key,interval_s\nhttp://e/a,5\n")
    before = job(view={"interval_file": "intervals.csv"})
    assert change(before, before) == frozenset()
    told = settings_of(before)
    file.write_text("key,interval_s\nhttp://e/a,6\n")
    state = State("q", settings=told)
    assert take_over(state, settings_of(before), "ck") == {"services.bkg.view.intervals"}


def test_before_there_is_a_window_it_may_begin_elsewhere(job):
    after = job(query={"t0": 1_767_225_600_000, "full_windows_only": True})
    assert change(job(), after, begun=False) == {"query.t0", "query.full_windows_only"}


def test_a_section_of_a_stream_may_be_renamed_and_nothing_is_said_of_the_same_job(job, caplog):
    with caplog.at_level(logging.INFO):
        assert change(job(), job(streams={"renamed": {"path": "stream"}})) == frozenset()
    assert caplog.records == []
    # The view may be filled on demand from now on.
    loaded = job(view={"fill": "start"})
    assert change(loaded, job()) == {"services.bkg.view.fill"}


def test_no_secret_is_among_what_the_checkpoint_remembers(job, monkeypatch):
    monkeypatch.setenv("SECRET", "hunter2")
    kafka = {
        "source": "spark",
        "format": "kafka",
        "value_format": "jsonl",
        "options": {"subscribe": "topic", "kafka.sasl.jaas.config": "hunter2"},
        "options_env": {"kafka.ssl.key.password": "SECRET"},
    }
    service = {"endpoint": "http://me:hunter2@e/sparql", "headers": {"X-Key": "hunter2"}}
    told = settings_of(job(streams={"s": kafka}, services={"bkg": service}))
    assert "topic" in str(told)
    assert "hunter2" not in str(told)
