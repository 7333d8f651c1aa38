"""The source of a parse tree: the tokens behind its leaves, and the terms they stand for."""

from dataclasses import dataclass

from bestbefore.query.algebra import PatternTerm, Variable
from bestbefore.query.escapes import string_value
from bestbefore.query.hidden import read_name
from bestbefore.query.notes import Notes
from bestbefore.query.prologue import Prologue
from bestbefore.query.syntax import Anonymous, Fixed, Leaf, Node, Tree, Word
from bestbefore.query.text import Kind, Token
from bestbefore.rdf.terms import IRI, RDF_LANG_STRING, RDF_TYPE, XSD, BlankNode, Literal


@dataclass(frozen=True, slots=True)
class Source:
    """The tokens of a query body, its first one the form, the prologue before it, and notes."""

    tokens: tuple[Token, ...]
    prologue: Prologue
    notes: Notes

    def token(self, tree: Leaf | Node) -> Token:
        """The token of a leaf, or the first one of a node."""
        return self.tokens[tree.token]

    def variable(self, tree: Tree) -> Variable:
        """The variable of a leaf that can be nothing else."""
        term = self.operand(tree)
        if not isinstance(term, Variable):
            raise TypeError(f"no variable: {term}")
        return term

    def value(self, tree: Tree) -> IRI | Literal:
        """The term in a place where only IRIs and literals can stand."""
        term = self.term(tree)
        if not isinstance(term, IRI | Literal):
            raise TypeError(f"no value: {term}")
        return term

    def name(self, leaf: Leaf) -> IRI | Variable:
        """The name of a graph or a service, which may be relative: data may not mention it."""
        token = self.token(leaf)
        if token.kind is Kind.VARIABLE:
            return self.variable(leaf)
        return IRI(self.prologue.resolve(token))

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
                return Variable(read_name(token.text[1:]))
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
