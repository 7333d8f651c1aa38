"""A SPARQL endpoint that misbehaves in every way that anyone has thought of."""

import asyncio
import gzip
import json
from functools import cache

from tests.sparql_results import TSV, XML, in_tsv, in_xml
from tests.unit.service.conftest import result
from tests.unwilling_endpoint import PREDICATES, TROUBLE, UnwillingEndpoint

MOST_ROWS, MOST_BYTES = 200, 100_000
WAYS = (
    "wrong_type",
    "no_keys",
    "nothing_bound",
    "too_many",
    "hostile",
    "spoilt",
    "huge",
    "bomb",
    "elsewhere",
    "charset",
    "duplicates",
    "deep",
    "in_xml",
    "in_tsv",
    "doctype",
    "no_http",
    "long_header",
    "odd_status",
    "endless",
    "announced",
    "packed",
)
HOSTILE = {**TROUBLE, "answer": 60, **dict.fromkeys(WAYS, 3), "hang": 0.3, "endless": 0.3}
NO_TERMS = (
    {"type": "uri", "value": "http://e/a b"},
    {"type": "uri", "value": 'http://e/"><x'},
    {"type": "uri", "value": "http://e/\n"},
    {"type": "uri", "value": "relative"},
    {"type": "uri", "value": ""},
    {"type": "uri", "value": "http://e/\ud800"},
    {"type": "literal", "value": "\udfff"},
    {"type": "literal", "value": "x", "xml:lang": "no tag"},
    {"type": "literal", "value": "x", "xml:lang": "en\n"},
    {"type": "literal", "value": "x", "datatype": "integer"},
    {"type": "literal", "value": "x", "datatype": "http://e/> ."},
    {"type": "bnode", "value": "a\nb"},
    {"type": "bnode", "value": ""},
)
OTHER_PLACES = (
    "http://127.0.0.2:9/sparql",
    "http://user@127.0.0.1/",
    "//example.invalid/sparql",
    "file:///etc/passwd",
    "ftp://127.0.0.1/",
    "https://127.0.0.1/",
    "javascript:alert(1)",
    "http://[::1",
    "http://127.0.0.1:99999/",
    "",
)


@cache
def bomb():
    """A few kilobytes that unpack to many megabytes of JSON."""
    begin = b'{"head": {"vars": ["user", "followers", "likes"]}, "results": {"bindings": ['
    return gzip.compress(begin + b" " * 50_000_000)


class HostileEndpoint(UnwillingEndpoint):
    """An endpoint in trouble that also lies, and sends what no client should have to read."""

    def begin(self, seed, *, users, now_ms=lambda: 0, trouble=HOSTILE):
        super().begin(seed, users=users, now_ms=now_ms, trouble=trouble)

    def give_wrong_type(self, _query, body):
        kinds = ("text/plain", "application/octet-stream", XML, TSV, "text/html", "no/\u00e9type")
        return self.raw(body, content_type=self.rng.choice(kinds))

    def give_no_keys(self, query, _body):
        return self._rows_instead(query, [(None, "1"), (None, "2")])

    def give_nothing_bound(self, query, _body):
        return self._rows_instead(query, [(None, None)] * 3)

    def give_too_many(self, _query, body):
        reply = json.loads(body)
        rows = reply["results"]["bindings"]
        more = self.rng.choice([MOST_ROWS, MOST_ROWS + 1, 3 * MOST_ROWS])
        reply["results"]["bindings"] = (rows or [{}]) * more
        return self.raw(json.dumps(reply))

    def give_hostile(self, _query, body):
        """The truth, and beside it rows of what is no term."""
        reply = json.loads(body)
        rows, name = reply["results"]["bindings"], reply["head"]["vars"][-1]
        for row in list(rows):
            rows.insert(self.rng.randrange(len(rows)), {**row, name: self.rng.choice(NO_TERMS)})
        return self.raw(json.dumps(reply))

    def give_spoilt(self, _query, body):
        """Rows of which none holds only terms."""
        reply = json.loads(body)
        for row in reply["results"]["bindings"]:
            row[self.rng.choice(list(row))] = self.rng.choice(NO_TERMS)
        return self.raw(json.dumps(reply) if reply["results"]["bindings"] else b"")

    def give_huge(self, _query, body):
        return self.raw(body[:-2] + b" " * (2 * MOST_BYTES) + body[-2:])

    def give_bomb(self, _query, _body):
        return self.raw(bomb(), Content_Encoding="gzip")

    def give_packed(self, _query, body):
        packed = gzip.compress(body)
        return self.raw(
            self.rng.choice([packed, packed[:-3], packed[5:], body]), Content_Encoding="gzip"
        )

    def give_elsewhere(self, _query, _body):
        place = self.rng.choice(OTHER_PLACES)
        return self.status(self.rng.choice([301, 302, 303, 307, 308]), Location=place)

    def give_charset(self, _query, body):
        text = body.decode().replace('"head"', '"h\u00e9": 1, "head"')
        code = self.rng.choice(["utf-16", "latin-1", "utf-32-be", "cp037"])
        return self.raw(text.encode(code))

    def give_duplicates(self, query, body):
        """The truth, contradicted by a second member of the same name."""
        false = json.dumps(self._false_rows(query))
        text = body.decode()
        if self.rng.random() < 0.7 and '"}' in text:
            before, _, after = text.rpartition('"}')
            return self.raw(f'{before}", "value": "9999"}}{after}')
        return self.raw(text[:-1] + f', "results": {false}}}')

    def give_deep(self, _query, _body):
        return self.raw(self.rng.choice([b"[" * 90_000, b'{"head": ' * 10_000, b'{"a": [' * 9_000]))

    def give_in_xml(self, _query, body):
        return self.raw(self._written(body, in_xml), content_type=XML)

    def give_in_tsv(self, _query, body):
        return self.raw(self._written(body, in_tsv), content_type=TSV)

    def give_doctype(self, _query, body):
        entity = '<!DOCTYPE s [<!ENTITY x SYSTEM "file:///etc/passwd">]><sparql'
        text = self._written(body, in_xml).replace("<sparql", entity, 1)
        return self.raw(text, content_type=XML)

    def give_no_http(self, _query, _body):
        junk = self.rng.choice(
            [
                b"\x00\xff\x16\x03 no HTTP at all\r\n\r\n",
                b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n{}",
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}",
                b"HTTP/9.9 two hundred\r\n\r\n",
                b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 7\r\n\r\n{}{}{}",
            ]
        )

        async def behave(request):
            request.transport.write(junk)
            await asyncio.sleep(0)
            request.transport.abort()
            return await self.refuse_connection(request)

        return behave

    def give_long_header(self, _query, body):
        return self.raw(body, X_Long="a" * 100_000)

    def give_odd_status(self, _query, body):
        async def behave(request):
            response = await self.raw(body)(request)
            response.set_status(self.rng.choice([201, 202, 203, 204, 206, 299, 300, 304, 418, 599]))
            return response

        return behave

    def give_endless(self, _query, body):
        return self.trickle([body[:-3], b" " * 100], pause_s=0.001, again=10_000)

    def give_announced(self, _query, body):
        rows = len(json.loads(body)["results"]["bindings"])
        if self.rng.random() < 0.5 or not rows:
            return self.raw(body, X_SQL_State="S1TAT")
        return self.raw(body, X_SPARQL_MaxRows=str(rows))

    def _rows_instead(self, query, rows):
        if "VALUES" not in query:
            return self.status(500)
        return self.rows(rows, variables=("user", PREDICATES["likes" in query]))

    def _false_rows(self, query):
        name = PREDICATES["likes" in query]
        return result([("http://e/u/1", "9999")], variables=("user", name))["results"]

    def _written(self, body, write):
        reply = json.loads(body)
        return write(reply["results"]["bindings"], reply["head"]["vars"])
