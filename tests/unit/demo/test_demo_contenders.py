import pytest

from bestbefore.demo.contenders import QUERY, clear_folder, write_job
from bestbefore.errors import InputError
from bestbefore.job import load_job
from bestbefore.query import parse_query, plan


def test_the_query_is_the_papers_one():
    found = plan(parse_query(QUERY))
    (window,), (service,) = found.windows, found.services
    assert [variable.name for variable in service.join_key] == ["user"]
    assert (window.window.width_ms, window.window.slide_ms) == (6000, 1000)


def test_every_contender_is_a_job_that_can_be_loaded(cast, tmp_path):
    endpoint = "http://127.0.0.1:1/sparql"
    jobs = [
        load_job(write_job(each, tmp_path, endpoint=endpoint, t0_ms=1_700_000_000_000, seed=7))
        for each in cast
    ]
    assert [job.services[0].policy.name for job in jobs] == ["WST", "EFG", "WSJ-RND"]
    assert [job.services[0].budget for job in jobs] == [16, 16, 400]
    assert len({job.checkpoint for job in jobs}) == 3
    assert {job.services[0].client.units_per_request for job in jobs} == {1}


def test_what_an_earlier_demo_left_is_removed(cast, tmp_path):
    write_job(cast[0], tmp_path, endpoint="http://127.0.0.1:1/", t0_ms=0, seed=7)
    clear_folder(cast[0], tmp_path)
    assert not (tmp_path / cast[0].folder).exists()
    clear_folder(cast[0], tmp_path)


def test_a_folder_that_no_demo_made_is_left_alone(cast, tmp_path):
    treasure = tmp_path / cast[0].folder / "treasure.txt"
    treasure.parent.mkdir()
    treasure.write_text("mine")
    with pytest.raises(InputError, match="choose another --out"):
        clear_folder(cast[0], tmp_path)
    assert treasure.read_text() == "mine"
