import numpy as np
import pytest

from bestbefore.errors import PolicyError
from bestbefore.maintenance import (
    Moment,
    Need,
    Situation,
    WindowUnits,
    elect,
    policy_names,
    resolve_policy,
)
from bestbefore.maintenance.proposers import general, window_service_join
from bestbefore.maintenance.rankers.window_based import WindowBasedMaintenance
from bestbefore.view.units import new_units


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
        ("WBM(fill=maybe)", "fill = 'maybe'; it must be true or false"),
        ("WBM(alpha=1)", "has no parameter 'alpha'; it takes: fill"),
        ("LRU(alpha=1)", "has no parameter 'alpha'; it takes: none"),
        ("WBM(fill)", "'fill' is not name=value; write for example fill=false"),
        ("WBM(fill=true,fill=false)", "fill is given twice"),
        ("MP(WSJ)", "write MP\\(proposer,ranker\\)"),
    ],
)
def test_mistakes_name_the_way_out(name, message):
    with pytest.raises(PolicyError, match=message):
        resolve_policy(name)


def test_budget_that_finds_no_room_goes_to_cached_units():
    """A cache of three that the window needs whole: what is missing cannot enter."""
    units = new_units(np.arange(6), np.ones(6, dtype=np.int64), 10)
    units.held[3:] = False
    window = WindowUnits(np.arange(6), np.full(6, 2), np.ones(6, dtype=np.int64))
    situation = Situation(Moment(100, 40, 10), 2, capacity=3)
    rng = np.random.default_rng(0)
    election = elect(resolve_policy("MP(CWSJ,LRU,FRP)"), units, window, situation, rng=rng)
    assert len(election.elected) == 2
    assert set(election.elected.tolist()) <= {0, 1, 2}
    assert len(election.evicted) == 0


def test_the_needs_of_a_policy_are_refused_with_the_reason():
    with pytest.raises(PolicyError, match="'BST' needs the true changes.* this query does not"):
        resolve_policy("BST").require((), where="this query")
    resolve_policy("WBM.F*").require((Need.FILTER,), where="this query")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("FBA(SBM-Agg)", "elects sets as a whole"),
        ("GNR-FBA(WBM)", "its candidates are those of WSJ"),
        ("FBA(WBM*)", "an oracle knows what will be"),
        ("MP(CWSJ,SBM-Agg)", "completes join keys of the window"),
        ("MP(CWSJ,WBM,FIFO)", "unknown replacement 'FIFO'; known: EFG, FRP, LRU"),
        ("LRU.F", "needs fdt, for example fdt=500"),
        ("LRU.F(fdt=-0.5)", "fdt = -0.5 is no distance"),
        ("WBM.F+(alpha=1.1)", "alpha = 1.1 is no weight"),
        ("WBM.F+(alpha=-0.1)", "alpha = -0.1 is no weight"),
    ],
)
def test_combinations_that_make_no_sense(name, message):
    with pytest.raises(PolicyError, match=message):
        resolve_policy(name)


@pytest.mark.parametrize("fdt", [0, 0.5])
@pytest.mark.parametrize("alpha", [0, 0.5, 1])
def test_a_band_of_no_width_and_weights_up_to_the_whole_are_fine(fdt, alpha):
    assert resolve_policy(f"LRU.F(fdt={fdt})").ranker.fdt == fdt
    assert resolve_policy(f"WBM.F*(alpha={alpha})").ranker.alpha == alpha


def test_fba_leaves_budget_to_a_unit_that_waits_for_the_next_evaluation():
    units = new_units(np.zeros(2, np.int64), np.ones(2, np.int64), 1_000)
    # Unit 0 serves many more mappings; it becomes stale in the next slide, when it may be asked.
    units.best_before_ms[:], units.retry_at[0] = [105, 100], 8
    window = WindowUnits(np.arange(2), np.full(2, 2), np.array([9, 1]))
    situation = Situation(Moment(100, 20, 10), budget=1, saved=-1, evaluation=7)
    policy, rng = resolve_policy("FBA(IBM-BGP)"), np.random.default_rng(0)
    assert elect(policy, units, window, situation, rng=rng).elected.tolist() == []
    units.retry_at[0] = 9
    assert elect(policy, units, window, situation, rng=rng).elected.tolist() == [1]
