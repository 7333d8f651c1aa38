"""IRIs: which texts are absolute ones, and what relative references mean (RFC 3986 section 5).

An absolute IRI stays as it is written, dot segments and all, as RDF compares IRIs by their text.
"""

import re

# As regular expressions of Java and of Python: how an IRI begins, and what it never holds. Java
# looks single characters up in one table, but goes through ranges one by one.
CONTROLS = "".join(f"\\x{code:02x}" for code in range(0x20))
IRI_SCHEME = r"[A-Za-z][A-Za-z0-9+.\-]*:"
NOT_IN_IRI = CONTROLS + r" <>\"{}|^`\\"
FORBIDDEN_IN_IRI, SCHEME = re.compile(f"[{NOT_IN_IRI}]"), re.compile(IRI_SCHEME)
_PARTS = re.compile(
    rf"(?P<scheme>{IRI_SCHEME})?(?P<authority>//[^/?#]*)?(?P<path>[^?#]*)"
    r"(?P<query>\?[^#]*)?(?P<fragment>#.*)?",
    re.DOTALL,
)


def is_absolute_iri(text: str) -> bool:
    """Whether a text is an IRI with a scheme and without forbidden characters."""
    return bool(SCHEME.match(text)) and not FORBIDDEN_IN_IRI.search(text)


def resolve_iri(reference: str, base: str) -> str:
    """The IRI that a reference means where a base is in force (RFC 3986 section 5.2.2).

    >>> resolve_iri("../g?y#", "http://a/b/c/d;p?q")
    'http://a/b/g?y#'
    """
    if SCHEME.match(reference):
        return reference
    scheme, authority, path, query, _ = _split(base)
    _, own_authority, own_path, own_query, fragment = _split(reference)
    if own_authority:
        authority, path, query = own_authority, _without_dots(own_path), own_query
    elif own_path:
        path, query = _without_dots(_merged(authority, path, own_path)), own_query
    else:
        query = own_query or query
    if not authority and path.startswith("//"):
        # Without an authority two slashes would begin one (section 4.2).
        path = f"/.{path}"
    return f"{scheme}{authority}{path}{query}{fragment}"


def _split(text: str) -> tuple[str, ...]:
    """Scheme, authority, path, query and fragment, each with the mark that tells it apart."""
    parts = _PARTS.fullmatch(text)
    return tuple(part or "" for part in parts.groups()) if parts else ("", "", text, "", "")


def _merged(authority: str, path: str, own_path: str) -> str:
    """A relative path in the folder of the base's path (section 5.2.3)."""
    if own_path.startswith("/"):
        return own_path
    if authority and not path:
        return f"/{own_path}"
    return path[: path.rfind("/") + 1] + own_path


def _without_dots(path: str) -> str:
    """A path without the segments `.` and `..` (section 5.2.4)."""
    rooted, segments = path.startswith("/"), path.removeprefix("/").split("/")
    kept: list[str] = []
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", "..") and (kept or rooted):
        kept.append("")
    return ("/" if rooted else "") + "/".join(kept)
