"""Simulated runs on Spark: spread over workers, with the same numbers."""

import bestbefore
from bestbefore.generators import make_traces


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
