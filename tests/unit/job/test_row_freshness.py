"""Which queries can tell of every row how probably it is fresh."""

import pytest

from bestbefore.errors import JobError
from bestbefore.job import read_job
from bestbefore.job.explanation import explain

WINDOW = "WINDOW :w { ?user :isMentionedIn ?post }"
SERVICE = "SERVICE :bkg { ?user :hasFollowers ?followers }"
MORE = "SERVICE :more { ?post :language ?language }"
SAME = "SERVICE :more { ?user :language ?language }"


def job(form, where, *, operator="RSTREAM", **view):
    text = f"""PREFIX : <http://example.org/>
        REGISTER {operator} :out AS {form}
        FROM NAMED WINDOW :w ON :mentions [RANGE PT10M STEP PT1M]
        WHERE {{ {where} }}"""
    named = [name for name in ("bkg", "more") if f":{name}" in text]
    return read_job(
        {
            "query": {"text": text},
            "streams": {"mentions": {"path": "stream"}},
            "services": {name: {"endpoint": "http://127.0.0.1:1/query"} for name in named},
            "sink": {"row_freshness": True},
            **({"view": view} if view else {}),
        }
    )


@pytest.mark.parametrize(
    ("form", "where"),
    [
        ("SELECT ?user ?followers", f"{WINDOW} {SERVICE}"),
        ("SELECT DISTINCT ?followers", f"{WINDOW} {SERVICE} {MORE}"),
        (
            "SELECT ?user ?followers",
            f"{WINDOW} {SERVICE} OPTIONAL {{ WINDOW :w {{ ?a :b ?user }} }}",
        ),
        ("SELECT ?user", WINDOW),
        ("CONSTRUCT { ?user :has ?followers }", f"{WINDOW} {SERVICE}"),
        ("SELECT (SUM(?followers) AS ?sum)", f"{WINDOW} {SERVICE}"),
        ("SELECT ?user (MAX(?followers) AS ?n)", f"{WINDOW} {SERVICE} {SAME} }} GROUP BY ?user #"),
    ],
)
def test_what_is_joined_tells_it(form, where):
    assert "sink.row_freshness = True" in explain(job(form, where))


@pytest.mark.parametrize(
    ("form", "where", "reason"),
    [
        ("ASK", f"{WINDOW} {SERVICE}", "ASK"),
        ("SELECT *", f"{WINDOW} OPTIONAL {{ {SERVICE} }}", "stands in OPTIONAL"),
        ("SELECT *", f"{WINDOW} MINUS {{ {SERVICE} }}", "stands in MINUS"),
        (
            "SELECT (COUNT(*) AS ?n)",
            f"{WINDOW} {SERVICE} {MORE}",
            "a group has rows of bkg and more, of several units",
        ),
        (
            "SELECT (SUM(?followers) AS ?sum)",
            f"{{ SELECT ?followers {{ {WINDOW} {SERVICE} }} }}",
            r"does not select \?user",
        ),
        (
            "SELECT (MAX(?sum) AS ?most)",
            f"{{ SELECT ?post (SUM(?followers) AS ?sum) {{ {WINDOW} {SERVICE} }} GROUP BY ?post }}",
            r"does not select \?user",
        ),
    ],
)
def test_what_would_be_guessed_is_refused(form, where, reason):
    with pytest.raises(JobError, match=rf"sink\.row_freshness = true: .*{reason}"):
        job(form, where)


def test_a_row_that_went_cannot_tell():
    with pytest.raises(JobError, match="DSTREAM"):
        job("SELECT *", f"{WINDOW} {SERVICE}", operator="DSTREAM")


def test_the_units_of_a_group_are_named_by_the_refresh_key():
    service = "SERVICE :bkg { ?user :in ?team . ?team :size ?size }"
    shown, hidden = (
        f"{{ SELECT {names} {{ {WINDOW} {service} }} }}" for names in ("?team ?size", "?user ?size")
    )
    form, view = "SELECT (SUM(?size) AS ?sum)", {"refresh_key": ["team"], "fill": "start"}
    job(form, shown, **view)
    with pytest.raises(JobError, match=r"does not select \?team"):
        job(form, hidden, **view)
