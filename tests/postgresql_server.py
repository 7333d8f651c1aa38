"""A real PostgreSQL server for tests, where one is installed."""

import importlib.util
import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path


def find_postgresql():
    """Whether server and driver are installed."""
    needed = ("initdb", "postgres", *(["runuser"] if os.geteuid() == 0 else []))
    tools = all(map(shutil.which, needed))
    return tools and importlib.util.find_spec("psycopg") is not None


class Postgresql:
    """A server in a folder of its own, on a port of 127.0.0.1; `dsn` leads to it."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="bestbefore-pg-"))
        # PostgreSQL does not run as root.
        self._as = ["runuser", "-u", "nobody", "--"] if os.geteuid() == 0 else []
        if self._as:
            shutil.chown(self.folder, "nobody")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        data = str(self.folder / "data")
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": self.folder}
        made = [
            *self._as,
            "initdb",
            "-D",
            data,
            "-U",
            "me",
            "--auth=trust",
            "--no-sync",
            "-E",
            "UTF8",
        ]
        subprocess.run(made, check=True, **quiet)
        options = ["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"]
        serve = ["postgres", "-D", data, "-p", str(port), "-k", "", *options]
        self.process = subprocess.Popen([*self._as, *serve], **quiet)
        self.dsn = f"postgresql://me:verysecret@127.0.0.1:{port}/postgres"
        self._wait()

    def execute(self, statement, values=None):
        import psycopg  # noqa: PLC0415 - it may not be installed

        with psycopg.connect(self.dsn) as connection, connection.cursor() as cursor:
            cursor.execute(statement, values)
            return cursor.fetchall() if cursor.description else []

    def close(self):
        self.process.terminate()
        self.process.wait(10)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _wait(self):
        deadline = time.monotonic() + 20
        while True:
            try:
                self.execute("SELECT 1")
            except Exception:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
            else:
                return
