"""Bodies that come compressed, unpacked a little at a time."""

import zlib
from collections.abc import Iterator
from typing import Protocol

from bestbefore.service.no_answer import NoAnswerError, excerpt

ACCEPTED = "gzip, deflate"

_PIECE_BYTES = 16 * 1024
_GZIP, _ZLIB, _RAW = 16 + zlib.MAX_WBITS, zlib.MAX_WBITS, -zlib.MAX_WBITS


class Decoding(Protocol):
    """A body on its way from what was sent to what was meant."""

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """What the next piece of the body unpacks to, in pieces of bounded size."""
        ...

    def close(self) -> None:
        """Raise `NoAnswerError` if the body is not whole."""
        ...


def open_decoding(encoding: str) -> Decoding:
    """The decoding for a Content-Encoding header."""
    match encoding.strip().lower():
        case "" | "identity":
            return _Plain()
        case "gzip" | "x-gzip":
            return _Inflated(_GZIP)
        case "deflate":
            return _Inflated(_ZLIB)
    raise NoAnswerError(
        f"the reply is compressed as {excerpt(encoding.encode())!r}, which was not asked for"
    )


class _Plain:
    def pieces(self, data: bytes) -> Iterator[bytes]:
        yield data

    def close(self) -> None:
        pass


class _Inflated:
    """Deflated data; a few bytes of it may unpack to gigabytes, which are never held at once."""

    def __init__(self, window_bits: int) -> None:
        self._window_bits = window_bits
        self._unpacking = zlib.decompressobj(window_bits)
        self._begun = False

    def pieces(self, data: bytes) -> Iterator[bytes]:
        full = False
        # After a full piece more may be waiting although all of the data was taken in.
        while data or (full and not self._unpacking.eof):
            if self._unpacking.eof:
                # A gzip file may be several, one after the other.
                self._unpacking = zlib.decompressobj(self._window_bits)
            piece = self._unpack(data)
            full = len(piece) == _PIECE_BYTES
            yield piece
            data = self._unpacking.unconsumed_tail or self._unpacking.unused_data

    def close(self) -> None:
        if not self._unpacking.eof:
            raise NoAnswerError("the reply was cut: its compressed data has no end")

    def _unpack(self, data: bytes) -> bytes:
        begun, self._begun = self._begun, True
        try:
            return self._unpacking.decompress(data, _PIECE_BYTES)
        except zlib.error:
            if begun or self._window_bits != _ZLIB:
                raise NoAnswerError("the reply is not compressed as it says") from None
            # Some services send bare deflate data, without the frame that HTTP asks for.
            self._unpacking = zlib.decompressobj(_RAW)
            return self._unpack(data)
