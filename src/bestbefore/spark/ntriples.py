"""N-Triples and N-Quads, terms and lines, read by Spark itself, without Python workers."""

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from bestbefore.rdf.iris import IRI_SCHEME, NOT_IN_IRI
from bestbefore.rdf.terms import XSD_STRING

# The number of no character, such as half of a surrogate pair, is no escape.
_UCHAR = (
    r"\\u(?![Dd][89A-Fa-f])[0-9A-Fa-f]{4}"
    r"|\\U(?!0000[Dd][89A-Fa-f])(?:000[0-9A-Fa-f]|0010)[0-9A-Fa-f]{4}"
)
# No escape brings a character into an IRI that may not stand in it.
_FORBIDDEN = r"(?:[01][0-9A-Fa-f]|2[02]|3[CcEe]|5[CcEe]|60|7[B-Db-d])"
_IRI_UCHAR = rf"(?!\\(?:u|U0000)00{_FORBIDDEN})(?:{_UCHAR})"
_IRI = rf"<{IRI_SCHEME}(?:[^{NOT_IN_IRI}]++|{_IRI_UCHAR})*+>"
_BLANK = r"_:[\p{L}\p{N}_](?:[\p{L}\p{N}_.\-]*[\p{L}\p{N}_\-])?"
_STRING = rf'"(?:[^"\\\n\r]++|\\[tbnrf"\'\\]|{_UCHAR})*+"'
_LITERAL = rf"{_STRING}(?:\^\^{_IRI}|@[A-Za-z]{{1,8}}(?:-[A-Za-z0-9]{{1,8}})*+)?"
_TRIPLE = rf"({_IRI}|{_BLANK})[ \t]*({_IRI})[ \t]*({_IRI}|{_BLANK}|{_LITERAL})"
_GRAPH = rf"(?:[ \t]*(?:{_IRI}|{_BLANK}))?"
_END = r"[ \t]*\.[ \t]*(?:#[^\n\r]*)?\z"
_TRIPLE_LINE = rf"^[ \t]*{_TRIPLE}{_END}"
_QUAD_LINE = rf"^[ \t]*{_TRIPLE}{_GRAPH}{_END}"
_NOTHING = r"^[ \t]*(?:#[^\n\r]*)?\z"

SUBJECT = rf"^(?:{_IRI}|{_BLANK})\z"
PREDICATE = rf"^{_IRI}\z"
OBJECT = rf"^(?:{_IRI}|{_BLANK}|{_LITERAL})\z"

_PIECES = rf"(?s){_UCHAR}|\\.|[^\\]+"
_LETTERS = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
_STRING_TYPE = rf'"\^\^<\Q{XSD_STRING}\E>$'


def triples_of(document: Column, *, graphs: bool = False) -> Column:
    """The triples of an N-Triples document as an array of (s, p, o); null if a line is wrong.

    With `graphs` it is an N-Quads document, and the graphs are left out.
    """
    line_form = _QUAD_LINE if graphs else _TRIPLE_LINE
    unix = F.when(document.contains("\r"), F.translate(document, "\r", "\n")).otherwise(document)
    lines = F.filter(F.split(unix, "\n"), lambda line: ~line.rlike(_NOTHING))
    # A line holds no line break, so one can stand between its terms; a wrong line stays whole.
    parts = F.transform(
        lines, lambda line: F.split(F.regexp_replace(line, line_form, "$1\n$2\n$3"), "\n")
    )
    only_plain_iris = ~document.contains('"') & ~document.contains("\\")
    return computed_once(
        parts,
        lambda found: F.when(
            F.forall(found, lambda terms: F.size(terms) == 3),
            F.when(only_plain_iris, F.transform(found, _triple)).otherwise(
                F.transform(found, lambda terms: _triple(F.transform(terms, canonical)))
            ),
        ),
    )


def computed_once(value: Column, use: Callable[[Column], Column]) -> Column:
    """What `use` makes of a value that it looks at more than once."""
    return F.get(F.transform(F.array(value), use), 0)


def _triple(terms: Column) -> Column:
    return F.struct(*(F.get(terms, number).alias(name) for number, name in enumerate("spo")))


def canonical(term: Column) -> Column:
    """The encoding of a term that is written in N-Triples: no escapes, no xsd:string."""
    plain = F.regexp_replace(term, _STRING_TYPE, '"')
    tagged = F.when(
        term.startswith('"') & term.rlike(r'"@[A-Za-z0-9\-]+$'),
        F.concat(
            F.regexp_extract(plain, r'(?s)^(".*"@)[^"]*$', 1),
            F.lower(F.regexp_extract(plain, r'(?s)^".*"@([^"]*)$', 1)),
        ),
    ).otherwise(plain)
    literal = F.when(tagged.contains("\\"), _unescape(tagged)).otherwise(tagged)
    # Most terms are IRIs, which need no look at their end.
    plain_iri = ~term.startswith('"') & ~term.contains("\\")
    return F.when(plain_iri, term).otherwise(literal)


def _unescape(escaped: Column) -> Column:
    pieces = F.regexp_extract_all(escaped, F.lit(f"({_PIECES})"), 1)
    return F.array_join(F.transform(pieces, _unescape_piece), "")


def _unescape_piece(piece: Column) -> Column:
    digits = F.lpad(piece.substr(F.lit(3), F.lit(8)), 8, "0")
    code_point = F.decode(F.unhex(digits), "UTF-32")
    character = F.when(piece.rlike(rf"^(?:{_UCHAR})$"), code_point)
    for letter, meaning in _LETTERS.items():
        character = character.when(piece == f"\\{letter}", meaning)
    character = character.when(piece.startswith("\\"), piece.substr(F.lit(2), F.lit(1)))
    return character.otherwise(piece)
