"""Simulated runs: which there are, which are refused, and where they run: here or on Spark."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bestbefore.errors import InputError, PolicyError, excerpt
from bestbefore.maintenance import resolve_policy
from bestbefore.registry import load_module, own_modules
from bestbefore.simulator import Scenario, Setting, run
from bestbefore.simulator.answers import AGGREGATES
from bestbefore.simulator.result import Series

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MOST, _MOST_SEEDS = 10**12, 10**6

Progress = Callable[[int, int], object]
"""What is called with the number of runs that are done and of all runs."""


@dataclass(frozen=True, slots=True)
class Task:
    """One run: the name of a policy, its budget and its seed."""

    policy: str
    budget: int
    seed: int


def tasks_of(policies: Sequence[str], budgets: Sequence[object], seeds: object) -> list[Task]:
    """Every policy with every budget and every seed, in that order."""
    names = list(dict.fromkeys(policies))
    if not names:
        raise InputError("no policy is given; name at least one, for example WSJ-WBM")
    counts = list(dict.fromkeys(whole_number(budget, "budget") for budget in budgets))
    if not counts:
        raise InputError("no budget is given; name at least one, for example 3")
    chosen = _seeds(seeds)
    return [Task(name, budget, seed) for name in names for budget in counts for seed in chosen]


def whole_number(value: object, what: str, *, least: int = 0, most: int = _MOST) -> int:
    """A whole number from a number or its text; anything else is an error that says so."""
    try:
        number = int(str(value))
    except ValueError:
        raise InputError(f"{what} {excerpt(value)} is not a whole number") from None
    if number < least:
        raise InputError(f"{what} {excerpt(value)} is too small; it must be {least} or more")
    if number > most:
        raise InputError(f"{what} {excerpt(value)} is too large; it must be {most} or less")
    return number


def _seeds(seeds: object) -> list[int]:
    if isinstance(seeds, Iterable) and not isinstance(seeds, str):
        chosen = [whole_number(seed, "seed") for seed in seeds]
        if not chosen:
            raise InputError("no seed is given; give a list such as [0, 1] or a number of seeds")
        return list(dict.fromkeys(chosen))
    return list(range(whole_number(seeds, "the number of seeds", least=1, most=_MOST_SEEDS)))


@dataclass(frozen=True)
class Simulation:
    """Traces, window and query, ready for any policy; a query that means nothing is refused."""

    scenario: Scenario
    setting: Setting

    def __post_init__(self) -> None:
        setting = self.setting
        if setting.aggregate is not None and setting.aggregate not in AGGREGATES:
            known = ", ".join(AGGREGATES)
            raise InputError(f"unknown aggregate {setting.aggregate!r}; known: {known}")
        if setting.aggregate is not None and setting.condition is not None:
            raise InputError("a filter on the values and an aggregate of them exclude each other")
        numeric = not np.isnan(self.scenario.background.number).all()
        if (setting.aggregate or setting.condition) and not numeric:
            raise InputError("a filter or an aggregate needs numbers, and the background has none")
        if setting.capacity is not None and self.scenario.many_to_many:
            raise InputError(
                "a cache of limited size needs a 1:1 join: of a join key that is not cached, the "
                "units are not known; leave out the links or the cache size"
            )

    def check(self, tasks: Iterable[Task]) -> None:
        """Refuse policies that make no sense here, with the reason."""
        for name in dict.fromkeys(task.policy for task in tasks):
            policy = resolve_policy(name)
            policy.require(self.setting.given, where="this simulation")
            if policy.fetches_missing and self.scenario.many_to_many:
                raise PolicyError(
                    f"policy {policy.name!r} fetches join keys that are not cached, and in an M:N "
                    "join their units are not known; use WSJ before the ranker"
                )
            if self.setting.capacity is not None and not policy.fetches_missing:
                raise PolicyError(
                    f"policy {policy.name!r} never fetches what is missing, so a cache of limited "
                    "size, which starts empty, would stay so; use CWSJ, FWSJ or AW, as in "
                    "MP(CWSJ,WBM,FRP)"
                )

    def series(
        self,
        tasks: Sequence[Task],
        *,
        spark: "SparkSession | None" = None,
        progress: Progress | None = None,
    ) -> list[Series]:
        """What came of each evaluation, task by task: one after the other, or spread by Spark."""
        self.check(tasks)
        if spark is not None:
            return _run_on_spark(self, tasks, spark)
        done: list[Series] = []
        for task in tasks:
            done.append(self.run_task(task))
            if progress is not None:
                progress(len(done), len(tasks))
        return done

    def run_task(self, task: Task) -> Series:
        """What came of each evaluation of one run."""
        policy, budget, seed = resolve_policy(task.policy), task.budget, task.seed
        return run(self.scenario, policy, budget=budget, seed=seed, setting=self.setting)


def _run_on_spark(
    simulation: Simulation, tasks: Sequence[Task], spark: "SparkSession"
) -> list[Series]:
    """The series of each task, run where Spark has room; the traces are sent once per worker."""
    context = spark.sparkContext
    shared = context.broadcast(simulation)
    modules = own_modules()

    def run_some(part: Iterable[tuple[int, Task]]) -> Iterable[tuple[int, Series]]:
        for name, folder in modules.items():
            load_module(name, folder=folder, where="policies of your own")
        return [(number, shared.value.run_task(task)) for number, task in part]

    slices = min(len(tasks), 4 * context.defaultParallelism)
    found = context.parallelize(_dealt(tasks, slices), slices).mapPartitions(run_some).collect()
    shared.unpersist()
    return [series for _, series in sorted(found, key=lambda numbered: numbered[0])]


def _dealt(tasks: Sequence[Task], slices: int) -> list[tuple[int, Task]]:
    """The numbered tasks in an order that gives every slice some of each policy."""
    return [
        (number, tasks[number])
        for first in range(slices)
        for number in range(first, len(tasks), slices)
    ]
