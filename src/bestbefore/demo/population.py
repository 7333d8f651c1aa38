"""The users of the demo's world: how many followers they have, and when that changes."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

VOCABULARY = "http://example.org/demo/"
FOLLOWERS = f"{VOCABULARY}hasFollowers"
CHANGE_INTERVAL = f"{VOCABULARY}changeInterval"

THRESHOLD = 100_000
_FASTEST_S, _SLOWEST_S = 3.0, 60.0


@dataclass(frozen=True, slots=True)
class User:
    """One entity of the endpoint: its followers at the start and its change interval."""

    number: int
    followers: int
    interval_s: float

    @property
    def iri(self) -> str:
        """The name of the user in stream and endpoint."""
        return f"{VOCABULARY}user/{self.number}"


@dataclass(frozen=True, slots=True)
class Change:
    """A user has another number of followers from `offset_ms` after the start on."""

    offset_ms: int
    user: User
    followers: int


def users(count: int, *, seed: int) -> list[User]:
    """Users on both sides of the query's threshold, with change intervals from seconds to minutes.

    Intervals are spread evenly on a logarithmic scale: some users change all the time, others
    hardly ever, which is what makes choosing worth while.
    """
    rng = np.random.default_rng([seed, 1])
    followers = THRESHOLD * np.exp(rng.normal(0.6, 0.6, count))
    interval_s = np.exp(rng.uniform(np.log(_FASTEST_S), np.log(_SLOWEST_S), count))
    return [
        User(number, int(many), round(float(pace), 2))
        for number, (many, pace) in enumerate(zip(followers, interval_s, strict=True), start=1)
    ]


def changes(population: list[User], *, span_ms: int, seed: int) -> list[Change]:
    """All changes of a stretch of time, in order; each user's come as a Poisson process."""
    found: list[Change] = []
    for user in population:
        rng = np.random.default_rng([seed, 2, user.number])
        followers, offset_ms = user.followers, 0.0
        while (offset_ms := offset_ms + rng.exponential(user.interval_s * 1000)) < span_ms:
            followers = _changed(followers, rng)
            found.append(Change(int(offset_ms), user, followers))
    return sorted(found, key=lambda change: change.offset_ms)


def _changed(followers: int, rng: np.random.Generator) -> int:
    """A number a little above or below, never the same."""
    step = 1 + int(rng.exponential(0.01) * followers)
    return followers - step if rng.random() < 0.5 and followers > step else followers + step


def insertion(population: list[User]) -> str:
    """The SPARQL UPDATE that makes the world what it is at the start."""
    triples = "\n".join(
        f"<{user.iri}> <{FOLLOWERS}> {user.followers} ; <{CHANGE_INTERVAL}> {user.interval_s:.2f} ."
        for user in population
    )
    return f"DELETE WHERE {{ ?s ?p ?o }} ;\nINSERT DATA {{\n{triples}\n}}"


def update(due: Mapping[str, int]) -> str:
    """The SPARQL UPDATE that gives users, named by their IRIs, the numbers that are due."""
    rows = " ".join(f"(<{iri}> {followers})" for iri, followers in due.items())
    before, after = f"{{ ?user <{FOLLOWERS}> ?old }}", f"{{ ?user <{FOLLOWERS}> ?new }}"
    chosen = f"WHERE {{ VALUES (?user ?new) {{ {rows} }} ?user <{FOLLOWERS}> ?old }}"
    return f"DELETE {before} INSERT {after} {chosen}"
