"""`bestbefore policies`: what policies are made of, what each needs, and which fit a query."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from textwrap import wrap

from bestbefore.cli.explaining import read_source
from bestbefore.errors import InputError
from bestbefore.job import Job
from bestbefore.job.job import ServiceSettings
from bestbefore.job.services import check_needs, check_service
from bestbefore.maintenance import Policy, policy_names, resolve_policy
from bestbefore.maintenance.policy_names import (
    Part,
    allocation_parts,
    proposer_parts,
    ranker_parts,
    replacement_parts,
)
from bestbefore.query import plan
from bestbefore.query.plan import ServicePlan

_WIDTH = 100
_WRITTEN = (
    "A policy is a ranker, alone or after a proposer (WSJ if none is named): WBM, GNR-LRU. "
    "FBA(WBM) also moves budget in time, MP(CWSJ,WBM,FRP) says who leaves a full view."
)
_PARTS = {
    "Rankers: which candidates are refreshed first": ranker_parts,
    "Proposers: which units are candidates": proposer_parts,
    "Allocation: when the budget is spent": allocation_parts,
    "Replacements: who leaves a full view": replacement_parts,
}

Misfit = Callable[[Policy], str | None]
"""Why a policy does not fit a SERVICE, None if it does."""


def list_policies(source: str | None, *, form: str) -> str:
    """The policies as text or JSON; with a job or a query, which of them fit and why others not."""
    if form not in ("text", "json"):
        raise InputError(f"unknown format {form!r}; known: text, json")
    misfits = {} if source is None else _misfits(source)
    return _as_json(misfits) if form == "json" else _as_text(misfits)


def _misfits(source: str) -> Mapping[str, Misfit]:
    """What each SERVICE of a job or a query says of a policy, by the service's name."""
    what = read_source(source)
    found: dict[str, Misfit]
    if isinstance(what, Job):
        found = {service.name: partial(_misfit_of_job, service) for service in what.services}
    else:
        clauses = plan(what).services
        found = {
            f"SERVICE {clause.number + 1} <{clause.iri}>": partial(_misfit_of_query, clause)
            for clause in clauses
        }
    if not found:
        raise InputError("the query has no SERVICE, so there is no view for a policy to maintain")
    return found


def _misfit_of_job(service: ServiceSettings, policy: Policy) -> str | None:
    return _refusal(policy, lambda: check_service(replace(service, policy=policy)))


def _misfit_of_query(clause: ServicePlan, policy: Policy) -> str | None:
    return _refusal(policy, lambda: check_needs(policy, clause))


def _refusal(policy: Policy, check: Callable[[], None]) -> str | None:
    try:
        check()
    except InputError as error:
        return str(error).removeprefix(f"policy {policy.name!r} ")
    return None


def _as_json(misfits: Mapping[str, Misfit]) -> str:
    """Every combination of a proposer with a ranker."""
    described = [_described(*policy, misfits) for policy in policy_names().items()]
    return json.dumps(described, indent=1, ensure_ascii=False) + "\n"


def _described(name: str, elects: str, misfits: Mapping[str, Misfit]) -> dict[str, object]:
    policy = resolve_policy(name)
    described: dict[str, object] = {
        "name": name,
        "elects": elects,
        "needs": sorted(need.name.lower() for need in policy.needs),
        "simulator_only": policy.simulator_only,
    }
    if misfits:
        found = {service: misfit(policy) for service, misfit in misfits.items()}
        described["misfits"] = {service: why for service, why in found.items() if why is not None}
    return described


def _as_text(misfits: Mapping[str, Misfit]) -> str:
    lines = _wrapped(_WRITTEN)
    for service, misfit in misfits.items() or [(None, _condition)]:
        lines += [] if service is None else ["", f"── for {service} ──"]
        for title, parts in _PARTS.items():
            groups = _grouped(parts(), misfit)
            lines += ["", title, *_told(groups.pop(None, []))]
            for why, members in groups.items():
                if service is None:
                    lines += ["", *_wrapped(f"{why}:", "  "), *_told(members)]
                else:
                    names = ", ".join(part.name for part in members)
                    lines += ["", *_wrapped(f"not {names}: {why}", "  ")]
    return "\n".join(lines) + "\n"


def _condition(policy: Policy) -> str | None:
    """What a policy needs beyond view and stream."""
    if not policy.needs:
        return None
    needs = f"needs {' and '.join(sorted(policy.needs))}"
    return f"simulator only, {needs}" if policy.simulator_only else needs


def _grouped(parts: Iterable[Part], misfit: Misfit) -> dict[str | None, list[Part]]:
    """The parts by what is against them, those that a query can have first."""
    groups: dict[str | None, list[Part]] = {}
    for part in sorted(parts, key=lambda part: part.policy.simulator_only):
        groups.setdefault(misfit(part.policy), []).append(part)
    return groups


def _told(parts: Iterable[Part]) -> list[str]:
    return [line for part in parts for line in _wrapped(part.summary, f"  {part.name:<25} ")]


def _wrapped(text: str, before: str = "") -> list[str]:
    """The lines of a text, all of them as far indented as its beginning is."""
    after = " " * len(before)
    return wrap(
        text, _WIDTH, initial_indent=before, subsequent_indent=after, break_on_hyphens=False
    )
