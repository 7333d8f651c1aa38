"""The source of a parse tree: the tokens behind its leaves, and the terms they stand for."""

from collections.abc import Callable
from dataclasses import dataclass

from bestbefore.query.algebra import PatternTerm, Variable
from bestbefore.query.escapes import string_value
from bestbefore.query.prologue import Prologue
from bestbefore.query.syntax import Anonymous, Fixed, Leaf, Node, Tree, Word
from bestbefore.query.text import Kind, Token
from bestbefore.rdf.terms import IRI, RDF_LANG_STRING, RDF_TYPE, XSD, BlankNode, Literal


@dataclass(frozen=True, slots=True)
class Source:
    """The tokens of a query body, its first one the form, and the prologue before it."""

    tokens: tuple[Token, ...]
    prologue: Prologue

    def find(self, fits: Callable[[Token, Token], bool]) -> Token:
        """The first token after the form for which `fits(token, next token)` holds.

        A refused construct is refused wherever it stands, so its first mention is its place.
        """
        pairs = zip(self.tokens[1:], self.tokens[2:], strict=False)
        return next((token for token, following in pairs if fits(token, following)), self.tokens[0])

    def find_word(self, *words: str) -> Token:
        """The first mention of a keyword after the form."""
        return self.find(lambda token, _: token.is_word(*words))

    def token(self, leaf: Leaf) -> Token:
        """The token of a leaf."""
        return self.tokens[leaf.token]

    def term(self, tree: Tree) -> PatternTerm:
        """The term in a triple pattern, where a sign before a number belongs to the number."""
        match tree:
            case Leaf() if self.token(tree).kind is Kind.NUMBER:
                return self.number(tree, sign=self.sign_before(tree))
            case Leaf() | Fixed() | Anonymous() | Node("literal"):
                return self.operand(tree)
        raise TypeError(f"no term: {tree}")

    def operand(self, tree: Tree) -> PatternTerm:
        """The term in an expression, where a sign before a number may be an operator."""
        match tree:
            case Leaf():
                return self._leaf_term(tree)
            case Fixed(iri):
                return IRI(iri)
            case Anonymous(number):
                return BlankNode(self._fresh_label(number))
            case Node("literal"):
                return self._literal(tree)
        raise TypeError(f"no term: {tree}")

    def number(self, leaf: Leaf, *, sign: str) -> Literal:
        """A number as it is written, with the sign that belongs to it."""
        text = self.token(leaf).text
        kind = "double" if "e" in text.lower() else "decimal" if "." in text else "integer"
        return Literal(sign + text, XSD + kind)

    def sign_before(self, leaf: Leaf) -> str:
        """The sign that touches a number, if the leaf is a number and has one."""
        before, token = self.tokens[leaf.token - 1], self.token(leaf)
        if token.kind is Kind.NUMBER and before.is_mark("+", "-") and before.touches(token):
            return before.text
        return ""

    def _leaf_term(self, leaf: Leaf) -> PatternTerm:
        token = self.token(leaf)
        match token.kind:
            case Kind.IRI | Kind.NAME:
                return IRI(self.prologue.resolve_absolute(token))
            case Kind.WORD:
                return IRI(RDF_TYPE)
            case Kind.VARIABLE:
                return Variable(token.text[1:])
            case Kind.BLANK:
                return BlankNode(token.text[2:])
            case Kind.NUMBER:
                return self.number(leaf, sign="-" if leaf.negative else "")
            case _:
                raise TypeError(f"no term: {token}")

    def _literal(self, node: Node) -> Literal:
        string = node.parts["string"]
        if not isinstance(string, Leaf):
            raise TypeError(f"no literal: {node}")
        token = self.token(string)
        if token.kind is Kind.WORD:
            return Literal(token.text.lower(), XSD + "boolean")
        match node.parts.get("lang"), node.parts.get("datatype"):
            case Word(language), _:
                return Literal(string_value(token), RDF_LANG_STRING, language.lower())
            case _, Leaf() as datatype:
                iri = self.prologue.resolve_absolute(self.token(datatype))
                return Literal(string_value(token), iri)
        return Literal(string_value(token))

    def _fresh_label(self, number: int) -> str:
        """A label for a blank node that has none: unlike any label in the text."""
        mark = "anon"
        while any(
            each.kind is Kind.BLANK and each.text.startswith(f"_:{mark}") for each in self.tokens
        ):
            mark += "_"
        return f"{mark}{number}"
