"""Redirects: which are followed, so that data never decides which host is called."""

from urllib.parse import SplitResult, urljoin, urlsplit

from bestbefore.service.no_answer import NoAnswerError, excerpt
from bestbefore.service.reply import Reply

STATUSES = frozenset({301, 302, 303, 307, 308})
MOST = 3
_PORTS = {"http": 80, "https": 443}


def next_url(reply: Reply, url: str) -> str:
    """The address that a redirect from `url` leads to: another path on the same server.

    The one step to elsewhere that is taken is from http to https on the same host.
    """
    location = reply.headers.get("location", "").strip()
    try:
        target = urlsplit(urljoin(url, location))
        elsewhere = _elsewhere(urlsplit(url), target)
    except ValueError:
        elsewhere = "no address that can be read"
    if not location:
        elsewhere = "no address"
    if elsewhere is not None:
        raise NoAnswerError(
            f"{reply.title}: the service redirects to {elsewhere}, which is not followed; if you"
            " trust it, make it the endpoint"
        )
    return target._replace(fragment="").geturl()


def _elsewhere(here: SplitResult, target: SplitResult) -> str | None:
    """What makes the target another server, or None if it is the same."""
    if target.scheme not in _PORTS:
        return f"a {_shown(target.scheme)} address"
    if target.username is not None or target.password is not None:
        return "an address with a user"
    if target.hostname is None or target.hostname != here.hostname:
        return _shown(target.hostname or "no host")
    ports = here.port or _PORTS[here.scheme], target.port or _PORTS[target.scheme]
    if (here.scheme, target.scheme, *ports) == ("http", "https", 80, 443):
        return None
    if target.scheme != here.scheme:
        return f"{target.scheme} on the same host"
    return None if ports[0] == ports[1] else f"port {ports[1]} of the same host"


def _shown(foreign: str) -> str:
    return repr(excerpt(foreign.encode("utf-8", "replace")))
