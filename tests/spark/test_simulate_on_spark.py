"""Simulated runs on Spark: spread over workers, with the same numbers."""

import sys

import bestbefore
from bestbefore import registry
from bestbefore.generators import make_traces
from bestbefore.maintenance.rankers import rankers


def test_the_numbers_are_those_of_one_process(spark):
    options = {
        "width": "4s",
        "slide": "1s",
        "budgets": [3, 10],
        "policies": ["WST", "LRU", "IBM-BGP", "FBA(IBM-BGP)", "BST", "WBM*"],
        "seeds": 3,
        "warmup": 0.1,
    }
    traces = make_traces("bipartite", 3, duration_ms=20_000)
    here = bestbefore.simulate(traces, **options)
    there = bestbefore.simulate(traces, spark=spark, **options)
    assert len(here) == 36
    assert there == here


def test_workers_know_the_policies_of_the_user_s_own_module(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(rankers, "_entries", dict(rankers._entries))
    monkeypatch.setattr(registry, "_own_modules", {})
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "policies_of_mine.py").write_text(
        "from dataclasses import dataclass\n"
        "from bestbefore.maintenance.rankers.ranker import rankers\n"
        "@rankers.register('MINE')\n"
        "@dataclass(frozen=True)\n"
        "class Mine:\n"
        "    '''The units with the most mappings in the window.'''\n"
        "    def score(self, candidates, moment):\n"
        "        return candidates.mappings.astype(float)\n"
    )
    registry.load_module("policies_of_mine", folder=tmp_path, where="--policies")
    traces = make_traces("bipartite", 3, duration_ms=5_000)
    options = {"width": "4s", "slide": "1s", "budgets": [3], "policies": ["MINE"], "seeds": 2}
    here = bestbefore.simulate(traces, **options)
    assert bestbefore.simulate(traces, spark=spark, **options) == here
