import pytest

from bestbefore.errors import PolicyError
from bestbefore.maintenance import policy_names, resolve_policy
from bestbefore.maintenance.proposers import general, window_service_join
from bestbefore.maintenance.rankers.window_based import WindowBasedMaintenance


def test_a_ranker_alone_means_wsj_before_it():
    assert resolve_policy("WBM").proposer is window_service_join


def test_proposer_and_ranker_by_either_spelling():
    for name in ("GNR-WBM", "MP(GNR,WBM)", "MP(GNR, WBM)"):
        policy = resolve_policy(name)
        assert policy.proposer is general
        assert policy.ranker == WindowBasedMaintenance()


def test_parameters():
    assert resolve_policy("WSJ-WBM(fill=true)").ranker == WindowBasedMaintenance(fill=True)
    assert resolve_policy("MP(WSJ,WBM(fill=false))").ranker == WindowBasedMaintenance(fill=False)


def test_every_listed_name_resolves_to_a_policy_of_that_name():
    for name, summary in policy_names().items():
        assert resolve_policy(name).name == name
        assert summary


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("WSJ-WMB", "unknown policy 'WSJ-WMB'; did you mean 'WSJ-WBM'"),
        ("wsj-wbm", "did you mean 'WSJ-WBM'"),
        ("XYZ-WBM", "unknown policy 'XYZ-WBM'"),
        ("", "unknown policy ''; known: "),
        ("WBM(fill=maybe)", "fill = 'maybe' is not a bool"),
        ("WBM(alpha=1)", "has no parameter 'alpha'; it takes: fill"),
        ("LRU(alpha=1)", "has no parameter 'alpha'; it takes: none"),
        ("MP(WSJ)", "write MP\\(proposer,ranker\\)"),
    ],
)
def test_mistakes_name_the_way_out(name, message):
    with pytest.raises(PolicyError, match=message):
        resolve_policy(name)
