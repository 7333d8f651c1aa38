"""The ways of keeping answers fresh that the demo compares, and the job that each of them is."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from bestbefore.demo.population import CHANGE_INTERVAL, THRESHOLD, VOCABULARY
from bestbefore.errors import InputError

WIDTH_S, SLIDE_S = 6, 1
QUERY_FILE, JOB_FILE = "influencers.rq", "job.toml"
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
"""  # noqa: S608 - SPARQL, without a word from outside


@dataclass(frozen=True, slots=True)
class Contender:
    """A policy with a budget, under the names and the colour that the demo gives it."""

    folder: str
    name: str
    title: str
    policy: str
    budget: int
    start: int
    colour: str

    def job_text(self, *, endpoint: str, t0_ms: int, seed: int) -> str:
        """The job file, in a folder of its own beside the query."""
        return f"""\
# {self.title}: written by `bestbefore demo`.
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
connections = 16

[policy]
name = "{self.policy}"
seed = {seed}

[budget]
refreshes = {self.budget}
# The view starts empty: so many more, once, to fill it with what the first window needs.
start = {self.start}

# What the endpoint states of change intervals is where learning starts from.
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
    """Never asking twice, the best refreshes of a budget, and asking for everything."""
    never = "ask for what is missing, never refresh"
    best = f"{budget} refreshes per evaluation, best first"
    return (
        Contender("never-refresh", "never refresh", never, "WST", budget, users, "#D55E00"),
        Contender("best-first", "best first", best, "EFG", budget, users, "#0072B2"),
        Contender("everything", "everything", "ask for everything", "WSJ-RND", users, 0, "#009E73"),
    )


def write_job(contender: Contender, out: Path, *, endpoint: str, t0_ms: int, seed: int) -> Path:
    """Write the query, and the job into its folder, with the folder that its stream comes into."""
    folder = out / contender.folder
    (folder / "stream").mkdir(parents=True, exist_ok=True)
    (out / QUERY_FILE).write_text(QUERY, encoding="utf-8")
    text = contender.job_text(endpoint=endpoint, t0_ms=t0_ms, seed=seed)
    (folder / JOB_FILE).write_text(text, encoding="utf-8")
    return folder / JOB_FILE


def clear_folder(contender: Contender, out: Path) -> None:
    """Remove what an earlier demo left; a folder that no demo has made is not touched."""
    folder = out / contender.folder
    if (folder / JOB_FILE).is_file():
        shutil.rmtree(folder)
    elif folder.exists():
        raise InputError(f"{folder} exists and is no demo's folder; choose another --out")
