"""Property paths: the productions [88] to [96] of SPARQL 1.1."""

from collections.abc import Callable

from bestbefore.query import paths
from bestbefore.query.grammar.reader import Reader, first
from bestbefore.query.grammar.terms import IRI_FIRST, read_iri, signed_number_follows
from bestbefore.query.grammar.tokens import Kind
from bestbefore.query.paths import Path
from bestbefore.rdf.terms import IRI, RDF_TYPE

PATH_FIRST = first("a path", Kind.IRI, Kind.NAME, "a", "^", "!", "(")
_REPEATED: dict[str, Callable[[Path], Path]] = {
    "*": paths.ZeroOrMore,
    "+": paths.OneOrMore,
    "?": paths.ZeroOrOne,
}
_REPETITION = first("a path operator", *_REPEATED)

Alternatives = list[list[Path]]
"""A path as its alternatives, each with the steps that follow each other."""


def read_alternatives(reader: Reader) -> Alternatives:
    """Read [89] PathAlternative."""
    alternatives = [_read_sequence(reader)]
    while reader.token.terminal == "|":
        reader.take()
        alternatives.append(_read_sequence(reader))
    reader.want("a path operator")
    return alternatives


def _read_sequence(reader: Reader) -> list[Path]:
    """Read [90] PathSequence."""
    steps = [_read_step(reader)]
    while reader.token.terminal == "/":
        reader.take()
        steps.append(_read_step(reader))
    return steps


def _read_step(reader: Reader) -> Path:
    """Read [92] PathEltOrInverse."""
    start = reader.token
    inverse = reader.accept("^")
    path = _read_primary(reader)
    if _ends_step(reader):
        path = reader.note(_REPEATED[reader.take().text](path), start)
    return reader.note(paths.Inverse(path), start) if inverse else path


def _ends_step(reader: Reader) -> bool:
    """Whether an operator of repetition stands at the cursor; a plus may begin a number."""
    return not signed_number_follows(reader) and reader.at(_REPETITION)


def _read_primary(reader: Reader) -> Path:
    """Read [94] PathPrimary."""
    start = reader.token
    if reader.accept("("):
        path = _joined(reader, read_alternatives(reader))
        reader.expect(")")
        return path
    if reader.accept("!"):
        return reader.note(_read_negated_set(reader), start)
    return reader.note(paths.Link(_read_predicate(reader)), start)


def _joined(reader: Reader, alternatives: Alternatives) -> Path:
    """A path as one node."""
    sequences = (reader.fold(paths.Sequence, steps, reader.token) for steps in alternatives)
    return reader.fold(paths.Alternative, sequences, reader.token)


def _read_negated_set(reader: Reader) -> paths.NegatedSet:
    """Read [95] PathNegatedPropertySet after its exclamation mark."""
    forward: list[IRI] = []
    backward: list[IRI] = []

    def read_one() -> None:
        side = backward if reader.accept("^") else forward
        side.append(_read_predicate(reader))

    if not reader.accept("("):
        read_one()
    elif not reader.accept(")"):
        read_one()
        while reader.accept("|"):
            read_one()
        reader.expect(")")
    return paths.NegatedSet(tuple(forward), tuple(backward))


def _read_predicate(reader: Reader) -> IRI:
    """Read an IRI, or `a` for rdf:type."""
    if reader.at(IRI_FIRST):
        return read_iri(reader)
    reader.expect("a")
    return IRI(RDF_TYPE)
