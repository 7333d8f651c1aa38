"""A real HTTP server with JSON, which keeps every request line as it came."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit


class JsonServer:
    """A server that answers what `answer(method, path, body)` says: a status, a body and headers.

    `path` is the raw target of the request. By default it has `facts`: a document by the last
    segment of the path or the parameter `city`, and a list of them by `cities`.
    """

    def __init__(self):
        self.facts, self.requests, self.headers = {}, [], []
        self.answer = self.look_up
        handler = type("Handler", (_Handler,), {"owner": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def look_up(self, _method, path, body):
        parts = urlsplit(path)
        query = parse_qs(parts.query, keep_blank_values=True)
        if body:
            return self._listed(json.loads(body)["ids"])
        if "cities" in query:
            return self._listed(query["cities"][0].split(","))
        (city,) = query.get("city", [unquote(parts.path.rpartition("/")[2])])
        return (200, self.facts[city], {}) if city in self.facts else (404, {}, {})

    def _listed(self, cities):
        found = [{"id": city, **self.facts[city]} for city in cities if city in self.facts]
        return 200, {"items": found}, {}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        owner = self.owner
        owner.requests.append((self.command, self.path, body.decode()))
        owner.headers.append(dict(self.headers.items()))
        status, document, headers = owner.answer(self.command, self.path, body)
        data = document if isinstance(document, bytes) else json.dumps(document).encode()
        data = b"" if status == 304 else data
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_POST = do_GET  # noqa: N815

    def log_message(self, *_):
        pass
