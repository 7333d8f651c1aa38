"""A stream of mentions of users whose followers change with every request, and its true answers."""

import json
import os
from collections import Counter, defaultdict
from dataclasses import dataclass
from random import Random

from tests.unwilling_endpoint import iri

T0, WIDTH_MS, SLIDE_MS = 1_700_000_000_000, 15_000, 5_000
USERS, COMMON = 60, 6
QUERY = """PREFIX : <http://e/>
REGISTER RSTREAM :out AS SELECT ?user ?post ?followers
FROM NAMED WINDOW :w ON :s [RANGE PT15S STEP PT5S]
WHERE { WINDOW :w { ?user :by ?post } OPTIONAL { SERVICE :a { ?user :followers ?followers } } }
"""


def write_job(folder, endpoint, *, refreshes, query=(), stream=(), service=(), limits=()):
    """The job file of that query in a folder, with more settings as pairs."""
    sections = {
        "query": [("text", QUERY), *query],
        "streams.s": [("path", "stream"), ("files_per_batch", 1), *stream],
        "services.a": [("endpoint", endpoint), *service],
        "services.a.limits": limits,
        "budget": [("refreshes", refreshes)],
        "view": [("change_interval", "1s")],
    }
    job = folder / "job.toml"
    job.write_text(
        "".join(
            f"[{name}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in pairs)
            for name, pairs in sections.items()
        )
    )
    return job


@dataclass(frozen=True)
class Mentions:
    """A stream of (time, user, post), a file of it per slide, and the content of its windows."""

    events: tuple
    files: int

    def write(self, folder):
        """The stream as a folder of files that Spark takes one by one."""
        folder.mkdir()
        for number in range(self.files):
            self.write_file(folder, number)

    def write_file(self, folder, number):
        lines = [
            json.dumps({"ts": at, "data": f"<{user}> <http://e/by> <{post}> ."})
            for at, user, post in self.events
            if (at - T0) // SLIDE_MS == number
        ]
        file = folder / f"{number:05d}.jsonl"
        draft = folder.parent / f".{file.name}"
        draft.write_text("\n".join(lines) + "\n")
        os.utime(draft, (1_000_000_000 + number,) * 2)
        draft.rename(file)

    def windows(self):
        """The (user, post) pairs of every window until the last element has left, by evaluation."""
        first, last = self.events[0][0], self.events[-1][0]
        closings = range(-(-first // SLIDE_MS) * SLIDE_MS, last + WIDTH_MS, SLIDE_MS)
        return {
            number: (
                at,
                {(user, post) for time, user, post in self.events if at - WIDTH_MS < time <= at},
            )
            for number, at in enumerate(closings, 1)
        }


def mentions(seed, files, *, per_file=10):
    """Mentions of some users who come again and again, and of others who come once."""
    rng, events = Random(seed), []
    for number in range(files):
        for at in sorted(rng.sample(range(1, SLIDE_MS), per_file)):
            often = rng.random() < 0.5
            user = rng.randrange(COMMON) if often else rng.randrange(COMMON, USERS)
            post = f"http://e/post/{number}x{at}"
            events.append((T0 + number * SLIDE_MS + at, iri(user), post))
    return Mentions(tuple(events), files)


def check_answers(findings, about, answers, windows, ever):
    """Every evaluation once, with its window's content, and of each user what was true at a time.

    `ever(user)` are all states that a user's values were ever in; one that the view lacks has none.
    """
    times = Counter(answer["evaluation"] for answer in answers)
    if lost := sorted(set(windows) - set(times)):
        findings.found("lost", f"{about}: evaluations {lost}", times=len(lost))
    if repeated := {number: count for number, count in times.items() if count > 1}:
        findings.found("repeated", f"{about}: evaluations {repeated}", times=len(repeated))
    if not any("followers" in row for answer in answers for row in answer["rows"]):
        findings.found("wrong", f"{about}: no answer has anything of the service")
    for answer in answers:
        number = answer["evaluation"]
        pairs, values = defaultdict(list), defaultdict(lambda: defaultdict(list))
        for row in answer["rows"]:
            user, post = row["user"]["value"], row["post"]["value"]
            pairs[user, post].append(row)
            if "followers" in row:
                values[user][post].append(row["followers"]["value"])
        if (answer["at"], set(pairs)) != windows.get(number):
            findings.found("wrong", f"{about}: evaluation {number} has another window")
        for user, by_post in values.items():
            states = {tuple(sorted(one)) for one in by_post.values()}
            if len(states) > 1 or not states <= ever(user):
                findings.found("untrue", f"{about}: evaluation {number} says {states} of {user}")
