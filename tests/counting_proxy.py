"""A proxy in front of a real SPARQL server, which counts what passes."""

import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


class CountingProxy(ThreadingHTTPServer):
    """Passes requests on to a server, and knows what they asked for and how much came back."""

    def __init__(self, target):
        super().__init__(("127.0.0.1", 0), _Passing)
        self.target, self.asked, self.bytes = target, [], 0
        Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/query"


class _Passing(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        query = urllib.parse.parse_qs(body.decode())["query"][0]
        self.server.asked.append(query)
        kept = {name: self.headers[name] for name in ("Content-Type", "Accept")}
        passed = urllib.request.Request(self.server.target, body, kept)
        with urllib.request.urlopen(passed, timeout=20) as reply:
            content, kind = reply.read(), reply.headers["Content-Type"]
        self.server.bytes += len(content)
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass
