"""A real Spark cluster on this machine, for tests and benchmarks: a master and its workers."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

import pyspark

from bestbefore.spark.class_archive import archive_options
from tests import run_processes

SPARK_HOME = Path(pyspark.__file__).parent
ADDRESS = "127.0.0.1"
JAVA_OPTIONS = " ".join((run_processes.JAVA_OPTIONS, *archive_options()))


class StandaloneCluster:
    """A standalone master with workers of one core each; `master` is its URL.

    `pinned` workers have a core of the machine each and no other, as if they were machines of their
    own: otherwise the compiler and the garbage collector of one worker run on the other's core.
    """

    def __init__(self, folder, *, workers=2, memory="1g", pinned=False):
        port, self._page = _free_port(), _free_port()
        self.master = f"spark://{ADDRESS}:{port}"
        self._log = folder / "cluster.log"
        self._processes = []
        try:
            master = ("master.Master", "--port", port, "--webui-port", self._page)
            self._start(*master)
            self._wait(lambda state: state["status"] == "ALIVE")
            for number in range(workers):
                own = ("--work-dir", folder / f"worker{number}", "--webui-port", 0)
                options = ("--cores", 1, "--memory", memory, *own, self.master)
                self._start("worker.Worker", *options, core=number if pinned else None)
            self._wait(lambda state: state["aliveworkers"] == workers)
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """End the processes, each with those that it has started."""
        for process in reversed(self._processes):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)

    def _start(self, kind, *options, core=None):
        command = [SPARK_HOME / "bin" / "spark-class", f"org.apache.spark.deploy.{kind}"]
        with self._log.open("ab") as log:
            process = subprocess.Popen(
                [*map(str, command), "--host", ADDRESS, *map(str, options)],
                stdout=log,
                stderr=log,
                start_new_session=True,
                env={
                    **os.environ,
                    "SPARK_HOME": str(SPARK_HOME),
                    "SPARK_LOCAL_IP": ADDRESS,
                    "SPARK_DAEMON_JAVA_OPTS": JAVA_OPTIONS,
                },
            )
        self._processes.append(process)
        if core is not None:
            # At once, while the shell looks for Java: what it starts has the same core.
            os.sched_setaffinity(process.pid, {sorted(os.sched_getaffinity(0))[core]})

    def _wait(self, ready):
        """Wait until the page of the master's state says so."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            address = f"http://{ADDRESS}:{self._page}/json/"
            # Until the master knows that page, it answers with another, which is no JSON.
            with contextlib.suppress(OSError, ValueError), urllib.request.urlopen(address) as page:
                if ready(json.load(page)):
                    return
            time.sleep(0.05)
        raise RuntimeError(f"the cluster did not start; see {self._log}")


def _free_port():
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        return probe.getsockname()[1]
