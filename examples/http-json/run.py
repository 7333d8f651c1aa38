"""Readings of sensors, and the weather of their city from an HTTP API: `python run.py`."""

import json
import shutil
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import unquote

from pyspark.sql import SparkSession

from bestbefore import Engine, load_job

HERE = Path(__file__).parent


class Weather(BaseHTTPRequestHandler):
    """The API: a JSON document per city, and 404 for cities that it does not know."""

    cities = json.loads((HERE / "weather.json").read_text(encoding="utf-8"))

    def do_GET(self):
        """Answer for the city that is the last segment of the path."""
        found = self.cities.get(unquote(self.path.rpartition("/")[2]))
        body = json.dumps(found).encode()
        self.send_response(404 if found is None else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Say nothing of requests."""


def run(spark, folder):
    """The answers, a line of JSON each."""
    shutil.copytree(HERE, folder, dirs_exist_ok=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Weather)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    job = folder / "job.toml"
    job.write_text(job.read_text().replace(":8765/", f":{server.server_address[1]}/"))
    with Engine(spark).start(load_job(job)) as running:
        running.wait()
    server.shutdown()
    files = sorted(folder.glob("answers/*/*.json"))
    return [line for file in files for line in file.read_text().splitlines()]


if __name__ == "__main__":
    with TemporaryDirectory() as made:
        session = SparkSession.builder.master("local[2]").getOrCreate()
        sys.stdout.write("\n".join(run(session, Path(made))) + "\n")
