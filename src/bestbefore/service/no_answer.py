"""The lack of an answer, and the words in which it is told."""

from bestbefore.errors import ServiceError

_EXCERPT = 200


class NoAnswerError(ServiceError):
    """A reply, or the lack of one, that gives no rows.

    `passing` trouble may be over at the next attempt; `refused` means that the service answered and
    did not want this very query; `unreached` that it did not answer at all; `unsent` that no
    request was left to ask it with.
    """

    def __init__(
        self,
        reason: str,
        *,
        passing: bool = False,
        refused: bool = False,
        unreached: bool = False,
        unsent: bool = False,
    ) -> None:
        self.passing, self.refused = passing, refused
        self.unreached, self.unsent = unreached, unsent
        super().__init__(reason)


def excerpt(body: bytes) -> str:
    """The beginning of a foreign text on one line, without anything a terminal would obey."""
    text = body[: 4 * _EXCERPT].decode("utf-8", "replace")
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= _EXCERPT else line[: _EXCERPT - 1] + "…"
