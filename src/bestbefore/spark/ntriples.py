"""N-Triples and N-Quads, terms and lines, read by Spark itself, without Python workers.

Whether a text is right is asked of all of it at once, with one regular expression; what is right
can then be cut at its spaces.
"""

from bestbefore.rdf.iris import IRI_SCHEME, NOT_IN_IRI
from bestbefore.rdf.terms import XSD_STRING
from bestbefore.spark.sql import Cheap, let, quote
from bestbefore.spark.terms import is_blank, is_literal, suffix

# The number of no character, such as half of a surrogate pair, is no escape.
_UCHAR = (
    r"\\u(?![Dd][89A-Fa-f])[0-9A-Fa-f]{4}"
    r"|\\U(?!0000[Dd][89A-Fa-f])(?:000[0-9A-Fa-f]|0010)[0-9A-Fa-f]{4}"
)
# No escape brings a character into an IRI that may not stand in it.
_FORBIDDEN = r"(?:[01][0-9A-Fa-f]|2[02]|3[CcEe]|5[CcEe]|60|7[B-Db-d])"
_IRI_UCHAR = rf"(?!\\(?:u|U0000)00{_FORBIDDEN})(?:{_UCHAR})"
IRI = rf"<{IRI_SCHEME}[^{NOT_IN_IRI}]*(?:{_IRI_UCHAR}[^{NOT_IN_IRI}]*+)*+>"
_BLANK = r"_:[\p{L}\p{N}_](?:[\p{L}\p{N}_.\-]*[\p{L}\p{N}_\-])?"
_ECHAR = rf'(?:\\[tbnrf"\'\\]|{_UCHAR})'
_TAIL = rf"(?:\^\^{IRI}|@[A-Za-z]{{1,8}}(?:-[A-Za-z0-9]{{1,8}})*+)?"
NODE = rf"(?:{IRI}|{_BLANK})"


def _term(without: str = "") -> str:
    """An IRI, a blank node or a literal; some characters stand in a literal only as escapes."""
    plain = rf'[^"\\\n\r{without}]'
    return rf'(?:{IRI}|{_BLANK}|"{plain}*(?:{_ECHAR}{plain}*+)*+"{_TAIL})'


TERM, TERM_WITHOUT_TAB = _term(), _term(r"\t")
_STATEMENT = rf"{NODE} {IRI} {TERM}"
# The possessive loop does not go down with every line.
_DOCUMENT = quote(rf"^({_STATEMENT}(?: \.\n{_STATEMENT})*+) \.\n?\z")
_GAP = r"[ \t]*"
_COMMENT = r"(?:#[^\n]*)?"
_LINE = rf"(?md)^{_GAP}({NODE}){_GAP}({IRI}){_GAP}({TERM}){_GAP}%s\.{_GAP}{_COMMENT}$"
_TRIPLE_LINE = quote(_LINE % "")
_QUAD_LINE = quote(_LINE % rf"(?:{NODE}{_GAP})?")
_NO_STATEMENT = quote(rf"(?md)^{_GAP}{_COMMENT}(?:\n|\z)")

_BACKSLASH = quote("\\")
_PIECES = quote(rf"(?s){_UCHAR}|\\.|[^\\]+")
_LETTERS, _MEANINGS = quote("tbnrf"), quote("\t\b\n\r\f")
_STRING_TYPE = quote(f'"^^<{XSD_STRING}>')


def laid_out(document: str) -> str:
    """The statements of a document that has one in each line, as `s p o .`; empty if it has not.

    The last dot is left out.
    """
    return f"regexp_extract({document}, {_DOCUMENT}, 1)"


def laid_out_anew(document: Cheap, *, graphs: bool) -> str:
    """The statements of a document in any layout, as those of `laid_out`; null if one is wrong.

    With `graphs` it is an N-Quads document, and the graphs are left out. A line that is wrong stays
    as it is, and then fits no more than before.
    """
    unix = rf"translate({document}, '\r', '\n')"
    without_others = f"regexp_replace({unix}, {_NO_STATEMENT}, '')"
    line = _QUAD_LINE if graphs else _TRIPLE_LINE
    return let(
        f"regexp_replace({without_others}, {line}, '$1 $2 $3 .')",
        lambda text: f"CASE WHEN {text} = '' THEN '' ELSE nullif({laid_out(text)}, '') END",
    )


def statements(found: Cheap) -> str:
    """An array of the statements that are laid out, as `s p o`."""
    several = rf"split(replace({found}, ' .\n', '\n'), '\n')"
    return (
        rf"CASE WHEN contains({found}, '\n') THEN {several} "
        f"WHEN {found} = '' THEN array() ELSE array({found}) END"
    )


def unescaped(text: Cheap) -> str:
    """A text with what its escapes stand for."""
    pieces = f"regexp_extract_all({text}, {_PIECES}, 0)"
    plain = (
        f"CASE WHEN NOT startswith(piece, {_BACKSLASH}) THEN piece "
        "WHEN length(piece) > 2 THEN decode(unhex(lpad(substr(piece, 3), 8, '0')), 'UTF-32') "
        f"ELSE translate(substr(piece, 2), {_LETTERS}, {_MEANINGS}) END"
    )
    replaced = f"array_join(transform({pieces}, piece -> {plain}), '')"
    return f"CASE WHEN contains({text}, {_BACKSLASH}) THEN {replaced} ELSE {text} END"


def encoded(s: Cheap, p: Cheap, o: Cheap, *, scope: str | None = None) -> dict[str, str]:
    """The encodings of terms without escapes: no xsd:string, language tags in lower case.

    Blank nodes are named after a scope, if there is one.
    """
    ending = suffix(o)
    lexical = f"left({o}, length({o}) - length({ending}))"
    encoded_object = (
        f"CASE WHEN NOT {is_literal(o)} THEN {_named(o, scope)} WHEN endswith({o}, '\"') THEN {o} "
        f"WHEN endswith({o}, {_STRING_TYPE}) THEN {lexical} "
        f"WHEN startswith({ending}, '@') THEN concat({lexical}, lower({ending})) ELSE {o} END"
    )
    return {"s": _named(s, scope), "p": p, "o": encoded_object}


def _named(term: Cheap, scope: str | None) -> str:
    """An IRI, or a blank node that is named after a scope."""
    if scope is None:
        return term
    return f"CASE WHEN {is_blank(term)} THEN concat({term}, 'x', {scope}) ELSE {term} END"
