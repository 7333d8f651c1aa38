"""Policies by name: `WSJ-WBM`, `GNR-LRU`, `WST`, `WBM(fill=true)`, `MP(WSJ,WBM)`.

A ranker alone means WSJ before it; a proposer alone elects at random from its candidates.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields

from bestbefore.errors import PolicyError, nearest
from bestbefore.maintenance.proposers import Proposer, proposers
from bestbefore.maintenance.rankers import Ranker, rankers

DEFAULT_PROPOSER = "WSJ"
_NO_REFRESH = "WST"
_CALL = re.compile(r"(?P<name>[^()\s]+)\s*(?:\((?P<arguments>[^()]*)\))?")
_PROCESS = re.compile(r"MP\((?P<parts>.*)\)", re.IGNORECASE | re.DOTALL)
_BOOLEANS = {"true": True, "false": False}

Parameter = bool | int | float | str


@dataclass(frozen=True, slots=True)
class Policy:
    """A maintenance process: a proposer and a ranker, under the papers' name."""

    name: str
    proposer: Proposer
    ranker: Ranker


def resolve_policy(name: str) -> Policy:
    """The policy behind a name; an unknown name is answered with the nearest ones."""
    text = name.strip()
    if process := _PROCESS.fullmatch(text):
        parts = [part.strip() for part in process["parts"].split(",", maxsplit=1)]
        if len(parts) != 2:
            raise PolicyError(f"{name!r}: write MP(proposer,ranker), for example MP(WSJ,WBM)")
        return _compose(name, *parts)
    if text == _NO_REFRESH:
        return Policy(text, proposers[text], rankers["RND"]())
    proposer, _, ranker = text.partition("-")
    if proposer in proposers and ranker:
        return _compose(name, proposer, ranker)
    return _compose(name, DEFAULT_PROPOSER, text)


def policy_names() -> dict[str, str]:
    """Every combination that can be named without parameters, with what it elects."""
    names = {_NO_REFRESH: _summary(proposers[_NO_REFRESH])}
    for proposer, propose in proposers.items():
        for ranker, kind in rankers.items():
            if proposer != _NO_REFRESH:
                names[f"{proposer}-{ranker}"] = f"{_summary(kind)} From: {_summary(propose)}"
    return names


def _compose(name: str, proposer: str, ranker: str) -> Policy:
    call = _CALL.fullmatch(ranker)
    if proposer not in proposers or not call or call["name"] not in rankers:
        known = {*policy_names(), *rankers, *proposers}
        raise PolicyError(f"unknown policy {name!r}; {nearest(name, known)}")
    kind = rankers[call["name"]]
    return Policy(name, proposers[proposer], kind(**_parameters(name, kind, call["arguments"])))


def _parameters(name: str, kind: type[Ranker], text: str | None) -> Mapping[str, Parameter]:
    accepted = {each.name: each.type for each in fields(kind)}  # type: ignore[arg-type]
    given: dict[str, Parameter] = {}
    for part in filter(None, (each.strip() for each in (text or "").split(","))):
        key, equals, value = (each.strip() for each in part.partition("="))
        if not equals or key not in accepted:
            options = ", ".join(accepted) or "none"
            raise PolicyError(f"policy {name!r} has no parameter {key!r}; it takes: {options}")
        given[key] = _value(name, key, value, wanted=accepted[key])
    return given


def _value(name: str, key: str, text: str, *, wanted: object) -> Parameter:
    try:
        if wanted is bool:
            return _BOOLEANS[text.lower()]
        return float(text) if wanted is float else int(text)
    except (KeyError, ValueError):
        kind = getattr(wanted, "__name__", wanted)
        raise PolicyError(f"policy {name!r}: {key} = {text!r} is not a {kind}") from None


def _summary(thing: object) -> str:
    return (thing.__doc__ or "").strip().splitlines()[0]
