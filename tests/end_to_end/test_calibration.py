"""The probability that a row is fresh is one: of rows told 0.7, about seven of ten are.

A real server holds data that change by themselves, each unit at a rate of its own that nobody is
told; the stream is replayed, and the server is brought to the time of an evaluation before it.
"""

from dataclasses import dataclass

import numpy as np

from bestbefore.engine import Engine
from bestbefore.job import read_job
from tests.spark.conftest import EX, Bench, query

T0, SLIDE_MS = 1_700_000_000_000, 5_000
CHANGES_PER_SLIDE = (0.02, 0.1, 0.5)
BINS = 5


@dataclass
class ChangingUsers:
    """Users of a server whose followers change by Poisson processes, and how they were."""

    server: object
    users: int
    rng: np.random.Generator

    def __post_init__(self):
        self.rate = self.rng.choice(CHANGES_PER_SLIDE, self.users)
        self.version = np.zeros(self.users, dtype=int)
        self.history = {}
        self.server.update(f"CLEAR ALL; INSERT DATA {{ {self._triples(range(self.users))} }}")

    def pass_slide(self, evaluation):
        """Let the slide before an evaluation pass; keep what is true then."""
        changes = self.rng.poisson(self.rate)
        gone = self._triples(changed := np.flatnonzero(changes))
        self.version += changes
        if gone:
            self.server.update(
                f"DELETE DATA {{ {gone} }}; INSERT DATA {{ {self._triples(changed)} }}"
            )
        self.history[evaluation] = self.version.copy()

    def _triples(self, users):
        return " ".join(
            f"<{EX}u{user}> <{EX}hasFollowers> {self.version[user]} ." for user in users
        )

    def is_true(self, evaluation, row):
        user = int(row["user"]["value"].removeprefix(f"{EX}u"))
        return int(row["followers"]["value"]) == self.history[evaluation][user]


def told_and_true(spark, oxigraph, folder, *, users, mentions, evaluations, budget, seed):
    """Per evaluation and row, how probably it is fresh by the answer, and whether it is."""
    rng = np.random.default_rng(seed)
    bench, world = Bench(spark, folder), ChangingUsers(oxigraph, users, rng)
    for slide in range(evaluations + 1):
        drawn = rng.choice(users, mentions, replace=False)
        bench.mention(
            *((T0 + slide * SLIDE_MS + 1 + place, user) for place, user in enumerate(drawn))
        )
    job = read_job(
        {
            "query": {"text": query(width="PT10S", slide="PT5S")},
            "streams": {"s": {"path": "stream", "files_per_batch": 1}},
            "services": {"bkg": {"endpoint": f"{oxigraph.base}/query"}},
            "budget": {"refreshes": budget},
            "sink": {"row_freshness": True},
        },
        folder=folder,
    )
    world.pass_slide(1)
    running = Engine(spark).start(
        job, on_quality=lambda record: world.pass_slide(record.evaluation + 1)
    )
    running.wait(600)
    return [
        (number, fresh, world.is_true(number, row))
        for number, answer in sorted(bench.answers().items())
        for row, fresh in zip(answer["rows"], answer["fresh"], strict=True)
    ]


def calibration_error(told, true):
    """The mean distance of what is told from the share that is true, over bins of what is told."""
    place = np.minimum((told * BINS).astype(int), BINS - 1)
    weight = np.bincount(place, minlength=BINS)
    off = np.abs(np.bincount(place, told, BINS) - np.bincount(place, true, BINS))
    assert weight.min() > 0, "a bin without rows says nothing"
    return off.sum() / weight.sum()


def test_what_rows_tell_of_their_freshness_is_calibrated(spark, oxigraph, tmp_path):
    evaluations = 45
    found = told_and_true(
        spark,
        oxigraph,
        tmp_path,
        users=100,
        mentions=40,
        evaluations=evaluations,
        budget=8,
        seed=1,
    )
    told, true = np.array([row[1:] for row in found if row[0] > evaluations / 3]).T
    # Just refreshed is fresh in a replay; what is of interest is what is told of the others.
    assert true[told == 1.0].all()
    assert calibration_error(told[told < 1.0], true[told < 1.0]) < 0.05
