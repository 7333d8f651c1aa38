"""Where a client may connect to."""

import asyncio

import pytest
from aiohttp.abc import AbstractResolver

from bestbefore.errors import InputError
from bestbefore.service import ClientSettings
from bestbefore.service.allow_list import AllowedAddresses, is_allowed, read_networks
from bestbefore.service.no_answer import NoAnswerError


@pytest.mark.parametrize(
    ("host", "patterns"),
    [
        ("query.wikidata.org", ("query.wikidata.org",)),
        ("QUERY.wikidata.org", ("Query.Wikidata.org",)),
        ("a.example.org", ("x.org", "*.example.org")),
        ("anything", ()),
    ],
)
def test_a_host_of_the_list_is_allowed(host, patterns):
    ClientSettings(f"http://{host}/sparql", allow_hosts=patterns)


@pytest.mark.parametrize(
    "host", ["example.org", "example.org.evil.com", "xexample.org", "10.0.0.1"]
)
def test_another_host_is_refused(host):
    with pytest.raises(InputError, match="is not in allow_hosts"):
        ClientSettings(f"http://{host}/sparql", allow_hosts=("*.example.org",))


@pytest.mark.parametrize(
    ("address", "allowed"),
    [
        ("10.1.2.3", True),
        ("11.1.2.3", False),
        ("::ffff:10.1.2.3", True),
        ("::ffff:11.1.2.3", False),
        ("fd00::1", True),
        ("fe80::1%eth0", False),
        ("192.0.2.7", True),
    ],
)
def test_addresses_are_in_networks(address, allowed):
    networks = read_networks(("10.0.0.0/8", "fd00::/8", "192.0.2.7"))
    assert is_allowed(address, networks) is allowed
    assert is_allowed(address, ())


def test_an_endpoint_that_is_an_address_is_checked_at_once():
    ClientSettings("http://[fd00::1]:80/", allow_addresses=("fd00::/8",))
    with pytest.raises(InputError, match=r"the address 127.0.0.1 is not in allow_addresses \(10"):
        ClientSettings("http://127.0.0.1/", allow_addresses=("10.0.0.0/8",))
    with pytest.raises(InputError, match="allow_addresses: .*; write networks such as"):
        ClientSettings("http://h/", allow_addresses=("10.0.0.0/99",))


class Names(AbstractResolver):
    """A resolver that says something else each time it is asked."""

    def __init__(self, *answers):
        self.answers = list(answers)

    async def resolve(self, host, port=0, family=0):
        return [{"hostname": host, "host": address} for address in self.answers.pop(0)]

    async def close(self):
        pass


def test_every_answer_of_the_resolver_is_checked():
    names = Names(["10.0.0.1", "127.0.0.1"], ["127.0.0.1"], [])
    resolver = AllowedAddresses(names, read_networks(("10.0.0.0/8",)))
    assert [each["host"] for each in asyncio.run(resolver.resolve("h"))] == ["10.0.0.1"]
    with pytest.raises(NoAnswerError, match="h is 127.0.0.1, which is not in allow_addresses"):
        asyncio.run(resolver.resolve("h"))
    assert asyncio.run(resolver.resolve("h")) == []
