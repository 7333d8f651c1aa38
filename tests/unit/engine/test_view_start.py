"""The first load of the view from a real server, with change intervals from each source."""

import pytest

from bestbefore.checkpoint.state import State
from bestbefore.engine.view_start import open_view, service_pattern
from bestbefore.errors import InputError
from bestbefore.job import read_job
from bestbefore.service import ServiceClient
from bestbefore.storage import LocalStorage

EX = "http://example.org/"
QUERY = f"""PREFIX : <{EX}>
REGISTER RSTREAM :out AS SELECT ?user ?n FROM NAMED WINDOW :w ON :s [RANGE 20s STEP 5s]
WHERE {{ WINDOW :w {{ ?user :by ?post }} SERVICE :bkg {{ ?user :hasFollowers ?n }} }}"""


@pytest.fixture
def opened(oxigraph, tmp_path):
    """Open the view of a job with the given [view] section; return intervals and rows by user."""
    oxigraph.update(
        f"CLEAR ALL; INSERT DATA {{ <{EX}a> <{EX}hasFollowers> 7 ; <{EX}every> 90 . "
        f"<{EX}b> <{EX}hasFollowers> 8 ; <{EX}every> 'PT2M' . <{EX}c> <{EX}hasFollowers> 9 }}"
    )

    def open_with(**section):
        job = read_job(
            {
                "query": {"text": QUERY},
                "streams": {"s": {"source": "dataframe"}},
                "services": {"bkg": {"endpoint": f"{oxigraph.base}/query"}},
                "view": {"fill": "start", **section},
            },
            folder=tmp_path,
        )
        storage = LocalStorage(str(tmp_path / "checkpoint"))
        with ServiceClient(job.services[0].client, service_pattern(job.services[0])) as client:
            view, _ = open_view(job.services[0], storage, client, State("q"), clock=lambda: 7)
        rows = {key: view.rows_of(unit) for unit, key in enumerate(view.keys)}
        users = [key[0].removeprefix(f"<{EX}").removesuffix(">") for key in view.keys]
        assert all(len(each) == 1 and len(each[0]) == 2 for each in rows.values())
        return dict(zip(users, view.units.interval_ms.tolist(), strict=True))

    return open_with


def test_without_any_they_are_learned_and_all_units_begin_alike(opened):
    found = opened()
    assert set(found) == {"a", "b", "c"}
    assert len(set(found.values())) == 1
    assert found == opened(change_interval="learned")


def test_from_a_predicate_at_the_endpoint(opened):
    found = opened(interval_predicate=f"{EX}every", change_interval="1h")
    assert found == {"a": 90_000, "b": 120_000, "c": 3_600_000}


def test_from_a_column(opened):
    found = opened(interval_variable="?n", interval_unit="m")
    assert found == {"a": 420_000, "b": 480_000, "c": 540_000}


def test_from_a_file(opened, tmp_path):
    (tmp_path / "intervals.csv").write_text(f"key,interval_s\n{EX}b,5\n{EX}stranger,1\n")
    found = opened(interval_file="intervals.csv", change_interval="30s")
    assert found == {"a": 30_000, "b": 5_000, "c": 30_000}


def test_plain_numbers_of_a_file_need_a_unit_in_its_header_or_in_the_job(opened, tmp_path):
    (tmp_path / "intervals.csv").write_text(f"key,interval\n{EX}b,5\n")
    with pytest.raises(InputError, match="line 2: interval = '5' has no unit"):
        opened(interval_file="intervals.csv")
    found = opened(interval_file="intervals.csv", interval_unit="m", change_interval="30s")
    assert found == {"a": 30_000, "b": 300_000, "c": 30_000}


LINKED = f"""PREFIX : <{EX}>
REGISTER RSTREAM :out AS SELECT ?user ?item ?n FROM NAMED WINDOW :w ON :s [RANGE 20s STEP 5s]
WHERE {{ WINDOW :w {{ ?user :by ?post }}
         SERVICE :bkg {{ ?user :bids ?item . ?item :price ?n }} }}"""


def test_a_real_server_is_asked_for_units_by_their_refresh_key(oxigraph, tmp_path):
    oxigraph.update(
        f"CLEAR ALL; INSERT DATA {{ <{EX}x> <{EX}price> 7 ; <{EX}every> 90 . "
        f"<{EX}y> <{EX}price> 8 . <{EX}a> <{EX}bids> <{EX}x>, <{EX}y> . "
        f"<{EX}b> <{EX}bids> <{EX}x> }}"
    )
    job = read_job(
        {
            "query": {"text": LINKED},
            "streams": {"s": {"source": "dataframe"}},
            "services": {"bkg": {"endpoint": f"{oxigraph.base}/query"}},
            "view": {"refresh_key": ["item"], "interval_predicate": f"{EX}every"},
        },
        folder=tmp_path,
    )
    storage = LocalStorage(str(tmp_path / "checkpoint"))
    with ServiceClient(job.services[0].client, service_pattern(job.services[0])) as client:
        view, _ = open_view(job.services[0], storage, client, State("q"), clock=lambda: 7)
        fetched = client.fetch([(f"<{EX}x>",)])
    assert sorted(view.keys) == [(f"<{EX}x>",), (f"<{EX}y>",)]
    assert view.units.interval_ms[view.numbers([(f"<{EX}x>",)])].tolist() == [90_000]
    assert fetched.requests == 1
    assert sorted(row[0] for row in fetched.rows[(f"<{EX}x>",)]) == [f"<{EX}a>", f"<{EX}b>"]
    assert len(view.joined(view.join_numbers([(f"<{EX}a>",)]))[1]) == 2
