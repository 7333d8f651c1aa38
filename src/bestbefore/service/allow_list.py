"""Which hosts and addresses a client may connect to."""

import socket
from fnmatch import fnmatchcase
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from aiohttp.abc import AbstractResolver, ResolveResult

from bestbefore.errors import InputError
from bestbefore.service.no_answer import NoAnswerError

Network = IPv4Network | IPv6Network


def check_host(host: str, patterns: tuple[str, ...]) -> None:
    """Refuse a host that no pattern of a list, such as `*.example.org`, allows."""
    name = host.rstrip(".").lower()
    if patterns and not any(fnmatchcase(name, pattern.lower()) for pattern in patterns):
        raise InputError(
            f"the host {host!r} is not in allow_hosts ({', '.join(patterns)}); add it if you"
            " trust it"
        )


def check_literal_address(host: str, networks: tuple[Network, ...]) -> None:
    """Refuse a host that is an address itself, and not one of the allowed."""
    try:
        ip_address(host)
    except ValueError:
        return
    if not is_allowed(host, networks):
        raise InputError(
            f"the address {host} is not in allow_addresses ({', '.join(map(str, networks))})"
        )


def read_networks(texts: tuple[str, ...]) -> tuple[Network, ...]:
    """The networks that texts such as `10.0.0.0/8` mean."""
    try:
        return tuple(map(ip_network, texts))
    except ValueError as error:
        raise InputError(
            f"allow_addresses: {error}; write networks such as 10.0.0.0/8 or single addresses"
        ) from None


def is_allowed(address: str, networks: tuple[Network, ...]) -> bool:
    """Whether an address is in one of the networks; without any, every address is."""
    parsed = ip_address(address.partition("%")[0])
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is not None:
        parsed = parsed.ipv4_mapped
    return not networks or any(parsed in network for network in networks)


class AllowedAddresses(AbstractResolver):
    """A resolver that knows allowed addresses only, so that they are what is connected to."""

    def __init__(self, resolver: AbstractResolver, networks: tuple[Network, ...]) -> None:
        self._resolver, self._networks = resolver, networks

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """The allowed ones of a host's addresses."""
        found = await self._resolver.resolve(host, port, family)
        allowed = [each for each in found if is_allowed(each["host"], self._networks)]
        if found and not allowed:
            raise NoAnswerError(
                f"{host} is {found[0]['host']}, which is not in allow_addresses", unreached=True
            )
        return allowed

    async def close(self) -> None:
        """Give back what the resolver holds."""
        await self._resolver.close()
