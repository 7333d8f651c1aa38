"""The plan of a simulation: which policies, budgets and seeds are run."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bestbefore.errors import InputError, PolicyError
from bestbefore.maintenance import Policy, resolve_policy
from bestbefore.simulator import Setting
from bestbefore.simulator.answers import AGGREGATES


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
    counts = list(dict.fromkeys(whole_number(each, "budget") for each in budgets))
    if not counts:
        raise InputError("no budget is given; name at least one, for example 3")
    chosen = _seeds(seeds)
    return [Task(name, budget, seed) for name in names for budget in counts for seed in chosen]


def whole_number(value: object, what: str, *, least: int = 0) -> int:
    """A whole number from a number or its text; anything else is an error that says so."""
    try:
        number = int(str(value))
    except ValueError:
        raise InputError(f"{what} {value!r} is not a whole number") from None
    if number < least:
        raise InputError(f"{what} {value!r} is too small; it must be {least} or more")
    return number


def _seeds(seeds: object) -> list[int]:
    if isinstance(seeds, Iterable) and not isinstance(seeds, str):
        chosen = [whole_number(each, "seed") for each in seeds]
        if not chosen:
            raise InputError("no seed is given; give a list such as [0, 1] or a number of seeds")
        return list(dict.fromkeys(chosen))
    return list(range(whole_number(seeds, "the number of seeds", least=1)))


def check_setting(setting: Setting, *, many_to_many: bool, numeric: bool) -> None:
    """Refuse a query that means nothing over these traces."""
    if setting.aggregate is not None and setting.aggregate not in AGGREGATES:
        known = ", ".join(AGGREGATES)
        raise InputError(f"unknown aggregate {setting.aggregate!r}; known: {known}")
    if setting.aggregate is not None and setting.condition is not None:
        raise InputError("a filter on the values and an aggregate of them exclude each other")
    if (setting.aggregate or setting.condition) and not numeric:
        raise InputError("a filter or an aggregate needs numbers, and the background has none")
    if setting.capacity is not None and many_to_many:
        raise InputError(
            "a cache of limited size needs a 1:1 join: of a join key that is not cached, the units "
            "are not known; leave out the links or the cache size"
        )


def check_policies(tasks: Iterable[Task], setting: Setting, *, many_to_many: bool) -> None:
    """Refuse policies that make no sense in this setting, with the reason."""
    for name in dict.fromkeys(task.policy for task in tasks):
        policy = resolve_policy(name)
        policy.require(setting.given, where="this simulation")
        _check_fetching(policy, setting, many_to_many=many_to_many)


def _check_fetching(policy: Policy, setting: Setting, *, many_to_many: bool) -> None:
    if policy.fetches_missing and many_to_many:
        raise PolicyError(
            f"policy {policy.name!r} fetches join keys that are not cached, and in an M:N join "
            "their units are not known; use WSJ before the ranker"
        )
    if setting.capacity is not None and not policy.fetches_missing:
        raise PolicyError(
            f"policy {policy.name!r} never fetches what is missing, so a cache of limited size, "
            "which starts empty, would stay so; use CWSJ, FWSJ or AW, as in MP(CWSJ,WBM,FRP)"
        )
