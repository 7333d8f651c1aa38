"""IRIs made from strings (RFC 3986 section 5.2) as Spark SQL."""

import re

from bestbefore.rdf.iris import IRI_SCHEME, NOT_IN_IRI
from bestbefore.spark.sql import Cheap, once, quote

_BASE = re.compile(
    r"(?P<scheme>[^:/?#]+:)(?P<authority>//[^/?#]*)?(?P<path>[^?#]*)(?P<query>\?[^#]*)?"
)
_ABSOLUTE = quote(f"^{IRI_SCHEME}")
# A relative path may not begin with what looks like a scheme.
_WRONG = quote("^[^/?#]*:")
_FORBIDDEN = quote(f"[{NOT_IN_IRI}]")


@once
def iri(reference: Cheap, base: str | None) -> str:
    """The encoded IRI of a text, resolved against a base; null if it can be none."""
    resolved = f" ELSE concat('<', {_resolved(reference, base)}, '>')" if base else ""
    return (
        f"CASE WHEN {reference} RLIKE {_FORBIDDEN} THEN NULL "
        f"WHEN {reference} RLIKE {_ABSOLUTE} THEN concat('<', {reference}, '>') "
        f"WHEN {reference} RLIKE {_WRONG} THEN NULL{resolved} END"
    )


def _resolved(reference: Cheap, base: str) -> str:
    found = _BASE.match(base)
    if found is None:
        return reference
    scheme, path = quote(found["scheme"]), found["path"]
    origin = quote(found["scheme"] + (found["authority"] or ""))
    folder = path[: path.rfind("/") + 1] or ("/" if found["authority"] else "")
    here = found["scheme"] + (found["authority"] or "") + path
    own = f"regexp_extract({reference}, '^[^?#]*', 0)"
    rest = f"regexp_extract({reference}, '[?#].*$', 0)"
    return (
        f"CASE WHEN startswith({reference}, '//') THEN concat({scheme}, {reference}) "
        f"WHEN startswith({reference}, '/') THEN concat({origin}, {_plain(own)}, {rest}) "
        f"WHEN {reference} = '' OR startswith({reference}, '#') "
        f"THEN concat({quote(here + (found['query'] or ''))}, {reference}) "
        f"WHEN startswith({reference}, '?') THEN concat({quote(here)}, {reference}) "
        f"ELSE concat({origin}, {_plain(f'concat({quote(folder)}, {own})')}, {rest}) END"
    )


@once
def _plain(path: Cheap) -> str:
    """A path without `.` and `..`."""
    step = (
        "(kept, segment) -> CASE WHEN segment = '.' THEN kept "
        "WHEN segment = '..' THEN slice(kept, 1, greatest(size(kept) - 1, 1)) "
        "ELSE array_append(kept, segment) END"
    )
    walked = f"aggregate(slice(split({path}, '/'), 2, 10000), array(''), {step})"
    # A path that ends in a dot segment ends in a slash.
    ending = f"IF({path} RLIKE '/[.]{{1,2}}$', '/', '')"
    return f"IF({path} RLIKE '(^|/)[.]', concat(array_join({walked}, '/'), {ending}), {path})"
