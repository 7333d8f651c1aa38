"""The same rows from the data alone."""

import json
import runpy
from datetime import datetime, timedelta
from pathlib import Path

HERE = Path(__file__).parent
WIDTH, SLIDE = timedelta(seconds=10), timedelta(seconds=5)


def rows():
    """The enriched rows of all evaluations."""
    users = runpy.run_path(str(HERE / "run.py"))["USERS"]
    lines = (HERE / "stream/clicks.json").read_text().splitlines()
    clicks = [json.loads(line) for line in lines]
    for click in clicks:
        click["time"] = datetime.fromisoformat(click["time"]).replace(tzinfo=None)
    # A window (start, end] ends with the first click, whose time is a multiple of the slide.
    found, end = [], clicks[0]["time"]
    while end <= clicks[-1]["time"] + WIDTH:
        for click in (one for one in clicks if end - WIDTH < one["time"] <= end):
            known = users.get(click["user"]) or []
            shown = {**click, "time": str(click["time"]), "until": str(end)}
            found += [{**shown, **one} for one in (known if isinstance(known, list) else [known])]
        end += SLIDE
    return found
