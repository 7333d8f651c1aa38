"""A real SPARQL 1.1 server for tests and benchmarks."""

import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path


def find_oxigraph():
    """The server's executable beside this Python or on the path, or None."""
    beside = Path(sys.executable).parent / "oxigraph"
    return str(beside) if beside.exists() else shutil.which("oxigraph")


class Oxigraph:
    """A real SPARQL 1.1 server in memory."""

    def __init__(self, executable):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.base = f"http://127.0.0.1:{port}"
        command = [executable, "serve", "--bind", f"127.0.0.1:{port}"]
        self.process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self._wait()

    def update(self, text):
        body = urllib.parse.urlencode({"update": text}).encode()
        urllib.request.urlopen(self.base + "/update", body, timeout=10).close()

    def close(self):
        self.process.kill()
        self.process.wait(10)

    def _wait(self):
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            try:
                urllib.request.urlopen(self.base + "/", timeout=1).close()
            except urllib.error.HTTPError:
                return
            except OSError:
                time.sleep(0.02)
            else:
                return
        self.close()
        raise RuntimeError("oxigraph did not start within 20 s")
