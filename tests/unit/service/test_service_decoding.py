"""Bodies that come compressed."""

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore.service.decoding import open_decoding
from bestbefore.service.no_answer import NoAnswerError

PACKED = {
    "": lambda body: body,
    "gzip": gzip.compress,
    "x-gzip": lambda body: gzip.compress(body[:9]) + gzip.compress(body[9:]),
    "Deflate": zlib.compress,
    "deflate": lambda body: zlib.compress(body)[2:-4],
}


def unpacked(encoding, data, piece):
    decoding = open_decoding(encoding)
    pieces = [
        each for at in range(0, len(data), piece) for each in decoding.pieces(data[at : at + piece])
    ]
    decoding.close()
    return pieces


@given(
    body=st.binary(min_size=20, max_size=300) | st.integers(10_000, 70_000).map(bytes),
    encoding=st.sampled_from(sorted(PACKED)),
    piece=st.integers(2, 70_000),
)
def test_what_was_packed_is_unpacked(body, encoding, piece):
    assert b"".join(unpacked(encoding, PACKED[encoding](body), piece)) == body


def test_a_bomb_comes_in_small_pieces():
    sizes = list(map(len, unpacked("gzip", gzip.compress(bytes(30_000_000)), 1_000_000)))
    assert (sum(sizes), max(sizes)) == (30_000_000, 16 * 1024)


@pytest.mark.parametrize("encoding", ["gzip", "Deflate", "deflate"])
def test_what_was_cut_is_not_believed(encoding):
    data = PACKED[encoding](bytes(range(256)) * 9)
    for end in range(len(data)):
        with pytest.raises(NoAnswerError, match="no end|not compressed"):
            unpacked(encoding, data[:end], 50)


@pytest.mark.parametrize(("encoding", "reason"), [("br", "'br'"), ("gzip, gzip", "not asked for")])
def test_another_encoding_is_refused(encoding, reason):
    with pytest.raises(NoAnswerError, match=reason):
        open_decoding(encoding)


def test_what_is_not_packed_as_it_says_is_refused():
    for encoding in ("gzip", "deflate"):
        with pytest.raises(NoAnswerError, match="not compressed as it says"):
            unpacked(encoding, b"\xff" * 100, 10)
