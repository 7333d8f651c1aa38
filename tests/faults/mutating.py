"""Texts turned into others that nobody would write: bytes and tokens changed at random."""

import re

_TOKEN = re.compile(rb'"[^"\n]*"|<[^>\s]*>|\w+|\s+|.', re.DOTALL)
NASTY = (
    b"\x00",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    "\u202e\u2028".encode(),
    b"\\u0000",
    b"\\uD800",
    b"\\U00110000",
    b"9" * 5_000,
    b"-" * 400,
    b"(" * 3_000,
    b"{" * 3_000,
    b"[" * 3_000,
    b"!" * 3_000,
    b"1e999999999",
    b"PT" + b"9" * 400 + b"S",
    b"-0",
    b"nan",
    b"inf",
    b"'''",
    b'"""',
    b"#",
    b"\r",
    b"\n\n",
    b"\t",
    b"= = =",
    b"0x7fffffffffffffff",
    b"9999-99-99T99:99:99Z",
    b"~/..",
    b"a" * 20_000,
)


def mutated(rng, text, corpus):
    """A text with one to four changes; others of the corpus lend their parts."""
    for _ in range(rng.choice([1, 1, 2, 4])):
        text = rng.choice(_CHANGES)(rng, text, corpus)
    return text


def _flip(rng, text, _):
    at = rng.randrange(len(text) + 1)
    return text[:at] + bytes([rng.randrange(256)]) + text[at + 1 :]


def _cut(rng, text, _):
    first, last = sorted(rng.choices(range(len(text) + 1), k=2))
    return text[:first] + text[min(last, first + 40) :]


def _truncate(rng, text, _):
    return text[: rng.randrange(len(text) + 1)]


def _insert(rng, text, _):
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(NASTY) + text[at:]


def _repeat(rng, text, _):
    first, last = sorted(rng.choices(range(len(text) + 1), k=2))
    part = text[first : min(last, first + 60)]
    return text[:first] + part * rng.choice([2, 3, 50]) + text[last:]


def _splice(rng, text, corpus):
    other = rng.choice(corpus)
    return text[: rng.randrange(len(text) + 1)] + other[rng.randrange(len(other) + 1) :]


def _tokens(change):
    def changed(rng, text, corpus):
        tokens = _TOKEN.findall(text) or [b""]
        at = rng.randrange(len(tokens))
        return b"".join(change(rng, tokens, at, corpus))

    return changed


def _without(_, tokens, at, __):
    return tokens[:at] + tokens[at + 1 :]


def _twice(_, tokens, at, __):
    return tokens[: at + 1] + tokens[at:]


def _swapped(rng, tokens, at, _):
    other = rng.randrange(len(tokens))
    tokens[at], tokens[other] = tokens[other], tokens[at]
    return tokens


def _foreign(rng, tokens, at, corpus):
    tokens[at] = rng.choice(_TOKEN.findall(rng.choice(corpus)) or [b""])
    return tokens


def _nasty(rng, tokens, at, _):
    tokens[at] = rng.choice(NASTY)
    return tokens


_CHANGES = (
    _flip,
    _cut,
    _truncate,
    _insert,
    _repeat,
    _splice,
    *map(_tokens, (_without, _twice, _swapped, _foreign, _foreign, _nasty)),
)
