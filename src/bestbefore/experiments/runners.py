"""Where runs are run: one after the other here, or many at once on Spark."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from bestbefore.experiments.plan import Task
from bestbefore.maintenance import resolve_policy
from bestbefore.registry import load_module, own_modules
from bestbefore.simulator import Scenario, Setting, run
from bestbefore.simulator.series import Series

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Progress = Callable[[int, int], object]


def run_here(
    scenario: Scenario, setting: Setting, tasks: Sequence[Task], progress: Progress | None
) -> list[Series]:
    """The series of each task, run one after the other."""
    done: list[Series] = []
    for task in tasks:
        done.append(_run(scenario, setting, task))
        if progress is not None:
            progress(len(done), len(tasks))
    return done


def run_on_spark(
    scenario: Scenario, setting: Setting, tasks: Sequence[Task], spark: "SparkSession"
) -> list[Series]:
    """The series of each task, run where Spark has room; the scenario is sent once per worker."""
    context = spark.sparkContext
    shared = context.broadcast((scenario, setting))
    modules = own_modules()

    def run_some(part: Iterable[tuple[int, Task]]) -> Iterable[tuple[int, Series]]:
        for name, folder in modules.items():
            load_module(name, folder=folder, where="policies of your own")
        return [(number, _run(*shared.value, task)) for number, task in part]

    slices = min(len(tasks), 4 * context.defaultParallelism)
    found = context.parallelize(_dealt(tasks, slices), slices).mapPartitions(run_some).collect()
    shared.unpersist()
    return [series for _, series in sorted(found, key=lambda each: each[0])]


def _dealt(tasks: Sequence[Task], slices: int) -> list[tuple[int, Task]]:
    """The numbered tasks in an order that gives every slice some of each policy."""
    return [
        (number, tasks[number])
        for first in range(slices)
        for number in range(first, len(tasks), slices)
    ]


def _run(scenario: Scenario, setting: Setting, task: Task) -> Series:
    policy = resolve_policy(task.policy)
    return run(scenario, policy, budget=task.budget, seed=task.seed, setting=setting)
