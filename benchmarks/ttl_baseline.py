"""The demo's query as one would write it without bestbefore: a dictionary as TTL cache."""

import json
import time
import urllib.request
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.query import StreamingQuery

EX = "http://example.org/demo/"
HEADERS = {"Content-Type": "application/sparql-query", "Accept": "application/sparql-results+json"}


@dataclass
class TtlCache:
    """The followers of users, asked for again once older than a TTL, `most` at a time."""

    endpoint: str
    ttl_s: float
    most: int | None = None
    clock: Callable[[], float] = time.time
    known: dict[str, tuple[float, int]] = field(default_factory=dict)

    def refresh(self, users: list[str]) -> list[str]:
        """Ask for those of the users that are missing or expired, the oldest first."""
        age = {user: self.clock() - self.known.get(user, (0.0, 0))[0] for user in users}
        expired = [user for user in users if age[user] >= self.ttl_s]
        asked = sorted(expired, key=lambda user: -age[user])[: self.most]
        if asked:
            self.ask(f"VALUES ?user {{ {' '.join(f'<{user}>' for user in asked)} }}")
        return asked

    def ask(self, which: str = "") -> None:
        """Ask for all users, or for some in one request."""
        query = f"SELECT * {{ {which} ?user <{EX}hasFollowers> ?followers }}"
        request = urllib.request.Request(self.endpoint, query.encode(), HEADERS)  # noqa: S310
        asked_at = self.clock()
        with urllib.request.urlopen(request, timeout=10) as reply:  # noqa: S310
            for row in json.load(reply)["results"]["bindings"]:
                self.known[row["user"]["value"]] = asked_at, int(row["followers"]["value"])


def start(spark: SparkSession, cache: TtlCache, stream: Path, out: Path) -> StreamingQuery:
    """Answer every window once it is closed: a JSON line in the file of its batch."""
    lines = spark.readStream.schema("ts LONG, data STRING").json(str(stream))
    user = F.regexp_extract("data", f"^<([^>]+)> <{EX}isMentionedIn>", 1).alias("user")
    mentions = lines.select(F.timestamp_millis("ts").alias("time"), user)
    window = F.window("time", "6 seconds", "1 second")
    windows = mentions.withWatermark("time", "0 seconds").groupBy(window, "user").count()

    def answer(batch: DataFrame, number: int) -> None:
        users_at = defaultdict(list)
        for row in batch.select(F.unix_millis("window.end").alias("at"), "user").collect():
            users_at[row.at].append(row.user)
        with (out / f"{number}.jsonl").open("w") as file:
            for at, users in sorted(users_at.items()):
                asked = cache.refresh(users)
                found = [(user, cache.known[user][1]) for user in users if user in cache.known]
                rows = [(user, followers) for user, followers in found if followers > 100_000]
                file.write(json.dumps({"at": at, "asked": len(asked), "rows": rows}) + "\n")

    writer = windows.writeStream.outputMode("append").foreachBatch(answer)
    writer = writer.option("checkpointLocation", str(out / "checkpoint"))
    return writer.trigger(processingTime="100 milliseconds").start()
