"""The ways of keeping answers fresh that the demo compares, and the job that each of them is."""

from dataclasses import dataclass
from pathlib import Path

from bestbefore.demo.population import CHANGE_INTERVAL, THRESHOLD, VOCABULARY

WIDTH_S, SLIDE_S = 6, 1
QUERY_FILE = "influencers.rq"
QUERY = f"""\
PREFIX : <{VOCABULARY}>

REGISTER RSTREAM :influencers AS
SELECT DISTINCT ?user ?followers
FROM NAMED WINDOW :w ON :mentions [RANGE PT{WIDTH_S}S STEP PT{SLIDE_S}S]
WHERE {{
  WINDOW :w {{ ?user :isMentionedIn ?post }}
  SERVICE :bkg {{ ?user :hasFollowers ?followers }}
  FILTER (?followers > {THRESHOLD})
}}
"""


@dataclass(frozen=True, slots=True)
class Contender:
    """A policy with a budget, under the name that the demo gives it."""

    folder: str
    name: str
    policy: str
    budget: int

    def job_text(self, *, endpoint: str, t0_ms: int, seed: int) -> str:
        """The job file, in a folder of its own beside the query."""
        return f"""\
# {self.name}: written by `bestbefore demo`.
# The endpoint below ended with the demo. To use this job as a start for yours, name your own,
# take out t0 (it fixes the grid of the windows) and begin with an empty checkpoint folder.

[query]
file = "../{QUERY_FILE}"
trigger = "100ms"
t0 = {t0_ms}

[streams.mentions]
path = "stream"
format = "jsonl"
payload = "ntriples"

[services.bkg]
endpoint = "{endpoint}"
units_per_request = 1
connections = 8

[policy]
name = "{self.policy}"
seed = {seed}

[budget]
refreshes = {self.budget}

[view]
interval_predicate = "{CHANGE_INTERVAL}"
interval_unit = "s"

[sink]
path = "answers"
quality = "quality"

[checkpoint]
path = "checkpoint"
"""


def contenders(*, users: int, budget: int) -> tuple[Contender, ...]:
    """Never refreshing, the best refreshes of a budget, and asking for everything."""
    return (
        Contender("never-refresh", "never refresh", "WST", 0),
        Contender("best-first", f"{budget} refreshes, best first", "WSJ-WBM", budget),
        Contender("ask-everything", "ask for everything", "WSJ-RND", users),
    )


def write_job(contender: Contender, out: Path, *, endpoint: str, t0_ms: int, seed: int) -> Path:
    """Write the job into its folder, with the folder that its stream comes into."""
    folder = out / contender.folder
    (folder / "stream").mkdir(parents=True, exist_ok=True)
    path = folder / "job.toml"
    path.write_text(
        contender.job_text(endpoint=endpoint, t0_ms=t0_ms, seed=seed), encoding="utf-8"
    )
    return path
