"""`bestbefore policies`: what there is, what it needs, and what fits a query or a job."""

import json
import re

import pytest

from bestbefore.cli.listing import list_policies
from bestbefore.errors import InputError
from bestbefore.job import read_job
from bestbefore.maintenance import policy_names
from bestbefore.maintenance.proposers import proposers
from bestbefore.maintenance.rankers import rankers
from bestbefore.maintenance.replacement import replacements

from .test_errors import JOB, QUERY, bestbefore  # noqa: F401 - a fixture

FILTERED = QUERY.replace("\n}\n", "\n FILTER(?followers > 100000) }\n")
LINKED = QUERY.replace("?followers }", "?followers . ?user :livesIn ?city }")
NO_SERVICE = re.sub(r"SERVICE :bkg \{.*?\}", "", QUERY).replace(" ?followers", "")


def paragraph(text, beginning):
    """The lines from one that begins like this to the next empty one, as one."""
    (found,) = re.findall(
        rf"^ *{re.escape(beginning)}.*?(?=\n\n|\Z)", text, re.MULTILINE | re.DOTALL
    )
    return " ".join(found.split())


def misfits(source):
    """What is against each policy, for a query or a job with one service."""
    listed = json.loads(list_policies(source, form="json"))
    return {each["name"]: next(iter(each["misfits"].values()), None) for each in listed}


def test_every_part_is_listed_with_its_parameters_under_what_it_needs():
    text = list_policies(None, form="text")
    for name in (*rankers, *proposers, *replacements):
        assert re.search(rf"^  {re.escape(name)}(\(.*\))? ", text, re.MULTILINE)
    rankers_of_any_query = paragraph(text, "Rankers: which candidates are refreshed first")
    assert "WBM(fill=false) The possibly stale" in rankers_of_any_query
    assert "Filter The candidates" in paragraph(text, "needs a FILTER")
    assert "BOUND What a schedule" in paragraph(text, "simulator only, needs all arrivals")
    assert "Only after WSJ or BST." in paragraph(text, "simulator only, needs an answer")
    assert "Not with BOUND, WBM*, SBM-Agg, IBM-Agg." in paragraph(text, "Allocation:")
    assert all(len(line) <= 100 for line in text.splitlines())


def test_json_lists_every_combination():
    listed = {each.pop("name"): each for each in json.loads(list_policies(None, form="json"))}
    assert list(listed) == list(policy_names())
    assert listed["BST-WBM.F*"] == {
        "elects": policy_names()["BST-WBM.F*"],
        "needs": ["filter", "oracle"],
        "simulator_only": True,
    }
    assert listed["WSJ-WBM.F*"]["needs"] == ["filter"]
    for name, policy in listed.items():
        known = name.startswith("BST-") or name.endswith(("-WBM*", "-BOUND", "-Agg"))
        assert policy["simulator_only"] == known


SECTIONS = {
    "plain": (QUERY, {}),
    "filtered": (FILTERED, {}),
    "linked": (LINKED, {"view": {"refresh_key": ["city"]}}),
    "ahead": (QUERY, {"budget": {"ahead": True}}),
    "frozen": (QUERY, {"view": {"mode": "frozen"}}),
}


@pytest.mark.parametrize("case", SECTIONS)
def test_what_fits_a_job_is_what_the_job_accepts(tmp_path, case):
    query, more = SECTIONS[case]
    tables = {"query": {"text": query}, "streams": {"s": {"path": "s"}}, "services": {"bkg": {}}}
    written = "".join(
        f"[{section}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
        for section, keys in more.items()
    )
    (tmp_path / "query.rq").write_text(query)
    (tmp_path / "job.toml").write_text(JOB + written)
    found = misfits(str(tmp_path / "job.toml"))
    assert found["WST"] is None
    assert list(found) == list(policy_names())
    for name, why in found.items():
        told = refusal({**tables, **more, "policy": {"name": name}})
        assert (told is None) == (why is None)
        assert told is None or told.endswith(why)


def refusal(tables):
    """Why a job is refused."""
    try:
        read_job(tables)
    except InputError as error:
        return str(error)
    return None


def test_what_fits_a_query_is_told_without_a_job():
    assert misfits(QUERY)["WSJ-LRU.F+"].startswith("needs a FILTER ?x < number or ?x > number")
    assert misfits(FILTERED)["WSJ-LRU.F+"] is None
    text = list_policies(FILTERED, form="text")
    assert "── for SERVICE 1 <http://example.org/bkg> ──" in text
    assert "LRU.F+(alpha=0.2) The Filter list" in paragraph(text, "Rankers:")
    assert "this query does not have it" in paragraph(text, "not WBM*: needs the true changes")
    with pytest.raises(InputError, match="has no SERVICE"):
        list_policies(NO_SERVICE, form="text")


def test_the_command(bestbefore):  # noqa: F811 - the fixture
    code, out, err = bestbefore("policies")
    assert (code, out, err) == (0, list_policies(None, form="text"), "")
    code, out, err = bestbefore("policies", "job.toml", "--format", "json")
    assert (code, err) == (0, "")
    assert [each["misfits"] for each in json.loads(out) if each["name"] == "WSJ-LRU"] == [{}]
    code, out, err = bestbefore("policies", "--format", "csv")
    assert (code, out) == (2, "")
    assert err == "bestbefore: unknown format 'csv'; known: text, json\n"
