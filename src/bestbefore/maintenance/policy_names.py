"""Policies by name: `WSJ-WBM`, `WST`, `LRU.F+(alpha=0.2)`, `FBA(IBM-BGP)`, `price(EFG)`,
`MP(CWSJ,WBM,FRP)`.

A ranker alone means WSJ before it; a proposer alone elects at random from its candidates.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from bestbefore.errors import InputError, PolicyError, nearest
from bestbefore.maintenance.allocation import Allocation
from bestbefore.maintenance.policy import Policy
from bestbefore.maintenance.proposers import proposers
from bestbefore.maintenance.rankers import rankers
from bestbefore.maintenance.replacement import replacements
from bestbefore.parameters import Parameter, Value, parameters_of, read_values
from bestbefore.registry import POLICIES, Registry, load_entry_points

_DEFAULT_PROPOSER, _DEFAULT_RANKER, _DEFAULT_REPLACEMENT = "WSJ", "RND", "FRP"
_CALL = re.compile(r"(?P<name>[^()\s]+)\s*(?:\((?P<arguments>[^()]*)\))?")
_PROCESS = re.compile(r"MP\((?P<parts>.*)\)", re.DOTALL)
_ALLOCATED = re.compile(r"(?P<allocation>FBA|price)\((?P<ranker>.*)\)", re.DOTALL)
_SUMMARIES = {
    Allocation.FBA: "Budget moves to the evaluations where it yields most.",
    Allocation.PRICE: "Budget is saved for the evaluations where it yields most; none is borrowed.",
}

T = TypeVar("T")


def resolve_policy(name: str) -> Policy:
    """The policy behind a name; an unknown name is answered with the nearest ones."""
    load_entry_points(POLICIES)
    proposer, ranker, replacement = _parts(name.strip(), name)
    allocated = _ALLOCATED.fullmatch(ranker)
    policy = Policy(
        name,
        proposers[proposer],
        ranker=_made(name, rankers, allocated["ranker"].strip() if allocated else ranker),
        replacement=_made(name, replacements, replacement),
        allocation=Allocation(allocated["allocation"]) if allocated else Allocation.FIXED,
    )
    policy.check()
    return policy


@dataclass(frozen=True, slots=True)
class Part:
    """What policies are made of: how it is written, what it does, and a policy that has it."""

    name: str
    summary: str
    policy: Policy


def ranker_parts() -> Iterator[Part]:
    """Every ranker with all its parameters, after WSJ."""
    load_entry_points(POLICIES)
    for name, kind in rankers.items():
        written = name + _arguments(parameters_of(kind).values())
        after = [proposer for proposer in _ranked() if _resolves(f"{proposer}-{written}")]
        only = "" if after == _ranked() else f" Only after {' or '.join(after)}."
        if after:
            yield Part(written, summary(kind) + only, resolve_policy(written))


def proposer_parts() -> Iterator[Part]:
    """Every proposer, with RND after it."""
    load_entry_points(POLICIES)
    for name, proposer in proposers.items():
        yield Part(name, summary(proposer.select), resolve_policy(name))


def allocation_parts() -> Iterator[Part]:
    """The ways to move budget in time, and the rankers that each is not for."""
    for how, what in _SUMMARIES.items():
        without = [
            name
            for name, kind in rankers.items()
            if not _resolves(f"{how}({name}{_examples(kind)})")
        ]
        told = f"{what} Not with {', '.join(without)}."
        yield Part(f"{how}(ranker)", told, resolve_policy(f"{how}(WBM)"))


def replacement_parts() -> Iterator[Part]:
    """Every replacement with all its parameters."""
    for name, kind in replacements.items():
        written = name + _arguments(parameters_of(kind).values())
        yield Part(written, summary(kind), resolve_policy(f"MP(CWSJ,WBM,{written})"))


def policy_names() -> dict[str, str]:
    """Every combination of a proposer with a ranker that makes sense, with what it elects."""
    load_entry_points(POLICIES)
    names = {"WST": summary(proposers["WST"].select)}
    for proposer in _ranked():
        for ranker, kind in rankers.items():
            name = f"{proposer}-{ranker}{_examples(kind)}"
            if _resolves(name):
                names[name] = f"{summary(kind)} From: {summary(proposers[proposer].select)}"
    for how, told in _SUMMARIES.items():
        for ranker, kind in rankers.items():
            name = f"{how}({ranker}{_examples(kind)})"
            if _resolves(name):
                names[name] = f"{summary(kind)} {told}"
    return names


def split_names(text: str) -> list[str]:
    """The names of a list; a comma within parentheses belongs to a name.

    >>> split_names("WSJ-WBM, MP(CWSJ,WBM,FRP)")
    ['WSJ-WBM', 'MP(CWSJ,WBM,FRP)']
    """
    names, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            names.append("")
        else:
            names[-1] += letter
    return [name.strip() for name in names]


def summary(thing: object) -> str:
    """The first line of what a proposer or a ranker says of itself."""
    return next(iter((thing.__doc__ or "").strip().splitlines()), "(not described)")


def _parts(text: str, name: str) -> tuple[str, str, str]:
    """The names of proposer, ranker and replacement that a policy's name is made of."""
    if process := _PROCESS.fullmatch(text):
        parts = split_names(process["parts"])
        if len(parts) not in (2, 3) or parts[0] not in proposers:
            raise PolicyError(
                f"{name!r}: write MP(proposer,ranker) or MP(proposer,ranker,replacement), for "
                f"example MP(CWSJ,WBM,FRP); the proposers are {', '.join(proposers)}"
            )
        return parts[0], parts[1], parts[2] if len(parts) == 3 else _DEFAULT_REPLACEMENT
    if text in proposers:
        return text, _DEFAULT_RANKER, _DEFAULT_REPLACEMENT
    proposer, _, ranker = text.partition("-")
    if proposer in proposers and ranker:
        return proposer, ranker, _DEFAULT_REPLACEMENT
    return _DEFAULT_PROPOSER, text, _DEFAULT_REPLACEMENT


def _made(name: str, registry: Registry[type[T]], text: str) -> T:
    call = _CALL.fullmatch(text)
    if not call or call["name"] not in registry:
        if registry.kind == replacements.kind:
            raise PolicyError(f"{name!r}: unknown replacement {text!r}; {nearest(text, registry)}")
        known = {*policy_names(), *rankers, *proposers}
        raise PolicyError(f"unknown policy {name!r}; {nearest(name, known)}")
    kind = registry[call["name"]]
    return kind(**_parameters(name, kind, call["arguments"]))


def _parameters(name: str, kind: type, text: str | None) -> Mapping[str, Value]:
    given = filter(None, (part.strip() for part in (text or "").split(",")))
    try:
        return read_values(f"policy {name!r}", kind, given)
    except InputError as error:
        raise PolicyError(str(error)) from None


def _ranked() -> list[str]:
    """The proposers that leave something to a ranker."""
    return [name for name in proposers if name != "WST"]


def _examples(kind: type) -> str:
    return _arguments(each for each in parameters_of(kind).values() if each.required)


def _arguments(parameters: Iterable[Parameter]) -> str:
    written = ",".join(parameter.assignment for parameter in parameters)
    return f"({written})" if written else ""


def _resolves(name: str) -> bool:
    try:
        resolve_policy(name)
    except PolicyError:
        return False
    return True
