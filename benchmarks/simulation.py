"""Evaluations per second of the simulator, in one process.

Nine policies × three budgets × ten seeds over 400 keys and about 156 windows. The ratio is to the
same runs without a policy (WST): what is left is the bookkeeping of the simulator itself.
"""

import time

from rich.console import Console
from rich.table import Table

from bestbefore.experiments.runs import tasks_of
from bestbefore.experiments.simulation import prepare
from bestbefore.generators import make_traces

POLICIES = (
    "WST",
    "GNR-RND",
    "GNR-LRU",
    "WSJ-RND",
    "WSJ-LRU",
    "WSJ-WBM",
    "WSJ-WBM*",
    "BST",
    "FBA(WBM)",
)
BUDGETS, SEEDS = (3, 5, 10), 10


def main() -> None:
    """Run all, and each policy alone, and print the rates."""
    simulation = prepare(make_traces("twitter-like"), width="100s", slide="60s")
    evaluations = len(simulation.scenario.evaluations)
    rates = {}
    for name in POLICIES:
        tasks = tasks_of([name], BUDGETS, SEEDS)
        started = time.perf_counter()
        simulation.series(tasks)
        rates[name] = len(tasks) * evaluations / (time.perf_counter() - started)
    runs = len(POLICIES) * len(BUDGETS) * SEEDS
    total = len(POLICIES) / sum(1 / rate for rate in rates.values())
    table = Table("policy", "evaluations/s", "× WST", title=f"{runs} runs of {evaluations} windows")
    for name, rate in rates.items():
        table.add_row(name, f"{rate:,.0f}", f"{rates['WST'] / rate:.2f}")
    table.add_row("all", f"{total:,.0f}", f"{rates['WST'] / total:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
