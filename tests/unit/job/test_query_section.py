import pytest

from bestbefore.errors import JobError, UnsupportedSparql
from bestbefore.job import read_job
from bestbefore.job.explanation import describe_job

from .test_job_file import QUERY, tables


def test_windows_of_so_many_elements_stand_alone():
    text = (
        "PREFIX : <http://example.org/> REGISTER RSTREAM :q AS SELECT * "
        "FROM NAMED WINDOW :a ON :s [ELEMENTS 5] FROM NAMED WINDOW :b ON :s [RANGE 5s] "
        "WHERE { WINDOW :a { ?x :p ?y } WINDOW :b { ?x :q ?z } }"
    )
    sections = {"query": {"text": text}, "streams": {"s": {"source": "dataframe"}}}
    with pytest.raises(UnsupportedSparql, match="window <http://example.org/a> counts elements"):
        read_job(sections)


def test_windows_of_so_many_elements_have_no_width_to_stand_for_change_intervals():
    text = (
        "PREFIX : <http://example.org/> REGISTER RSTREAM :q AS SELECT * "
        "FROM NAMED WINDOW :w ON :s [ELEMENTS 5] "
        "WHERE { WINDOW :w { ?x :p ?y } SERVICE :bkg { ?x :q ?z } }"
    )
    sections = {
        "query": {"text": text},
        "streams": {"s": {"source": "dataframe"}},
        "services": {"bkg": {"endpoint": "http://127.0.0.1:9/none"}},
        "budget": {"refreshes": 2},
    }
    with pytest.raises(JobError, match="counts elements.* give view.change_interval"):
        read_job(sections)
    assert read_job({**sections, "view": {"change_interval": "1h"}}).services[0].budget == 2


def test_modes_arrive():
    live = read_job(tables(query={"text": QUERY, "trigger": "2s", "heartbeat": "500ms"}))
    assert (live.is_live, live.heartbeat_ms) == (True, 500)
    assert "query.heartbeat = PT0.5S" in describe_job(live)[0][1]
    assert not read_job(tables()).is_live
    assert not read_job(tables(query={"text": QUERY, "trigger": "until-end"})).is_live


def test_no_heartbeat_without_a_silence():
    with pytest.raises(JobError, match=r"query.heartbeat = '0s': a stream is silent only after"):
        read_job(tables(query={"text": QUERY, "heartbeat": "0s"}))
