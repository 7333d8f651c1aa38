"""A cursor over tokens, for the clauses that are read one token after the other."""

from dataclasses import dataclass

from bestbefore.errors import QueryError
from bestbefore.query.text import Kind, Token, error_at


@dataclass(slots=True)
class Cursor:
    """A place among the tokens of a query, which ends with the end token."""

    tokens: tuple[Token, ...]
    position: int = 0

    @property
    def token(self) -> Token:
        """The token at the cursor."""
        return self.tokens[self.position]

    def take(self) -> Token:
        """The token at the cursor, which moves on; the end is never passed."""
        token = self.token
        self.position = min(self.position + 1, len(self.tokens) - 1)
        return token

    def take_words(self, *words: str) -> bool:
        """Whether these keywords follow; if they do, the cursor moves past them."""
        following = self.tokens[self.position : self.position + len(words)]
        found = len(following) == len(words) and all(map(Token.is_word, following, words))
        self.position += len(words) if found else 0
        return found

    def expect(self, *kinds: Kind, wanted: str) -> Token:
        """The token at the cursor, which must be of one of these kinds."""
        if self.token.kind not in kinds:
            raise self.error(wanted)
        return self.take()

    def expect_word(self, word: str, *, wanted: str) -> Token:
        """The token at the cursor, which must be this keyword."""
        if not self.token.is_word(word):
            raise self.error(wanted)
        return self.take()

    def error(self, wanted: str) -> QueryError:
        """The error that something else stands at the cursor."""
        return error_at(self.token, f"expected {wanted}, found {self.token}")
