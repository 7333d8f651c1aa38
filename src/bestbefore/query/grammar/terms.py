"""Terms: the productions [106] to [138] of SPARQL 1.1, read into RDF terms and variables."""

from bestbefore.query.algebra import Variable
from bestbefore.query.grammar.prologue import read_name, string_value
from bestbefore.query.grammar.reader import Reader, first
from bestbefore.query.grammar.tokens import NUMBERS, Kind, Token
from bestbefore.rdf.terms import IRI, RDF_LANG_STRING, XSD, BlankNode, Literal

IRI_FIRST = first("an IRI", Kind.IRI, Kind.NAME)
LITERAL_FIRST = first("a literal", Kind.STRING, Kind.NUMBER, "+", "-", "TRUE", "FALSE")


def read_variable(reader: Reader) -> Variable:
    """Read [108] Var."""
    return variable_of(reader.expect(Kind.VARIABLE))


def variable_of(token: Token) -> Variable:
    """The variable of a token."""
    return Variable(read_name(token.text[1:]))


def read_iri(reader: Reader) -> IRI:
    """Read [136] iri, of something that data can mention."""
    return IRI(reader.prologue.resolve_absolute(reader.expect(IRI_FIRST)))


def read_name_iri(reader: Reader) -> str:
    """Read [136] iri, of a graph, a stream or a service: it may be relative."""
    return reader.prologue.resolve(reader.expect(IRI_FIRST))


def read_variable_or_name(reader: Reader) -> Variable | IRI:
    """Read [107] VarOrIri, the name of a graph, a service or something to describe."""
    return read_variable(reader) if reader.at(Kind.VARIABLE) else IRI(read_name_iri(reader))


def read_literal(reader: Reader) -> Literal:
    """Read [129] RDFLiteral, [130] NumericLiteral or [134] BooleanLiteral."""
    token = reader.expect(LITERAL_FIRST)
    if token.kind is Kind.STRING:
        return _read_suffix(reader, string_value(token))
    if token.terminal in ("TRUE", "FALSE"):
        return Literal(token.text.lower(), XSD + "boolean")
    if token.kind is Kind.NUMBER:
        return number_of(token)
    if not token.touches(reader.token):
        raise reader.missing(f"a number right after the sign {token}")
    return number_of(reader.expect(Kind.NUMBER), token.text)


def _read_suffix(reader: Reader, lexical: str) -> Literal:
    if language := reader.accept(Kind.LANGUAGE):
        return Literal(lexical, RDF_LANG_STRING, language.text[1:].lower())
    if reader.accept("^^"):
        return Literal(lexical, read_iri(reader).value)
    return Literal(lexical)


def number_of(token: Token, sign: str = "") -> Literal:
    """A number as it is written, with the sign that belongs to it."""
    kind = next(name for name, form in NUMBERS.items() if form.fullmatch(token.text))
    return Literal(sign + token.text, XSD + kind)


def signed_number_follows(reader: Reader) -> bool:
    """Whether a sign stands at the cursor and touches a number."""
    token, following = reader.token, reader.following
    is_sign = token.terminal in ("+", "-")
    return is_sign and following.kind is Kind.NUMBER and token.touches(following)


def read_blank_node(reader: Reader) -> BlankNode:
    """Read [138] BlankNode with a label."""
    token = reader.expect(Kind.BLANK)
    reader.claim(token)
    return BlankNode(token.text[2:])
