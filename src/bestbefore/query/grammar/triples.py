"""Triples: the productions [52] to [55] and [75] to [106] of SPARQL 1.1.

Links, inverses, sequences and alternatives become triples, joins and unions; closures and negated
sets stay (SPARQL 1.1 section 18.2.2.4). What a path passes through is a hidden variable.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby

from bestbefore.query.algebra import (
    BGP,
    Join,
    PathPattern,
    Pattern,
    PatternTerm,
    TriplePattern,
    Union,
    walk,
    with_children,
)
from bestbefore.query.grammar import terms
from bestbefore.query.grammar.paths import PATH_FIRST, Alternatives, read_alternatives
from bestbefore.query.grammar.reader import Reader, first
from bestbefore.query.grammar.tokens import Kind, Token
from bestbefore.query.paths import Alternative, Inverse, Link, Path, Sequence
from bestbefore.rdf.terms import IRI, RDF, RDF_TYPE, BlankNode

Step = TriplePattern | PathPattern | Union
Verb = PatternTerm | Alternatives

TRIPLES_FIRST = first(
    "a triple",
    *(Kind.VARIABLE, Kind.BLANK, "(", "["),
    *(*terms.IRI_FIRST.terminals, *terms.LITERAL_FIRST.terminals),
)
_FIRST, _REST, _NIL = (IRI(RDF + name) for name in ("first", "rest", "nil"))


@dataclass(frozen=True, slots=True)
class _Block:
    """A block of triples as it is read: each triple comes before those inside its brackets."""

    reader: Reader
    steps: list[Step]
    with_paths: bool


def read_triples_block(reader: Reader, steps: list[Step]) -> None:
    """Read [55] TriplesBlock."""
    _read_block(_Block(reader, steps, with_paths=True))


def read_triples_template(reader: Reader) -> tuple[TriplePattern, ...]:
    """Read [52] TriplesTemplate with its braces; no paths stand in it."""
    steps: list[Step] = []
    reader.expect("{")
    if not reader.at("}"):
        _read_block(_Block(reader, steps, with_paths=False))
    reader.expect("}")
    return tuple(step for step in steps if isinstance(step, TriplePattern))


def _read_block(block: _Block) -> None:
    _read_same_subject(block)
    while block.reader.accept(".") and block.reader.at(TRIPLES_FIRST):
        _read_same_subject(block)


def _read_same_subject(block: _Block) -> None:
    """Read [81] TriplesSameSubjectPath; brackets with something in them are triples already."""
    subject, inner = _read_node(block)
    block.steps.extend(inner)
    if not inner or _verb_follows(block):
        _read_property_list(block, subject)


def _verb_follows(block: _Block) -> bool:
    reader = block.reader
    if reader.at(Kind.VARIABLE):
        return True
    if block.with_paths:
        return reader.at(PATH_FIRST)
    return reader.at(terms.IRI_FIRST) or reader.at("a")


def _read_property_list(block: _Block, subject: PatternTerm) -> None:
    """Read [83] PropertyListPathNotEmpty."""
    reader = block.reader
    while True:
        _read_objects(block, subject, _read_verb(block))
        if not reader.accept(";"):
            return
        while reader.accept(";"):
            pass
        if not _verb_follows(block):
            return


def _read_verb(block: _Block) -> Verb:
    """Read [78] Verb, or where paths may stand [84] VerbPath or [85] VerbSimple."""
    reader = block.reader
    if reader.at(Kind.VARIABLE):
        return terms.read_variable(reader)
    if reader.at(terms.IRI_FIRST) and not block.with_paths:
        return terms.read_iri(reader)
    if not block.with_paths:
        reader.expect("a")
        return IRI(RDF_TYPE)
    if not reader.at(PATH_FIRST):
        raise reader.unexpected()
    match read_alternatives(reader):
        case [[Link(predicate)]]:
            return predicate
        case alternatives:
            return alternatives


def _read_objects(block: _Block, subject: PatternTerm, verb: Verb) -> None:
    """Read [86] ObjectListPath."""
    reader = block.reader
    while True:
        start = reader.token
        object_, inner = _read_node(block)
        if isinstance(verb, list):
            block.steps.extend(_expand_all(subject, verb, object_, reader, start))
        else:
            block.steps.append(TriplePattern(subject, verb, object_))
        block.steps.extend(inner)
        if not reader.accept(","):
            return


def _read_node(block: _Block) -> tuple[PatternTerm, list[Step]]:
    """Read [105] GraphNodePath: a term, and the triples inside it if it is in brackets."""
    reader = block.reader
    if reader.at(Kind.VARIABLE):
        return terms.read_variable(reader), []
    if reader.at(terms.IRI_FIRST):
        return terms.read_iri(reader), []
    if reader.at(terms.LITERAL_FIRST):
        return terms.read_literal(reader), []
    if reader.token.kind is Kind.BLANK:
        return terms.read_blank_node(reader), []
    if reader.token.terminal == "[":
        return _read_property_brackets(block)
    if reader.token.terminal == "(":
        return _read_collection(block)
    raise reader.unexpected()


def _read_property_brackets(block: _Block) -> tuple[PatternTerm, list[Step]]:
    """Read [101] BlankNodePropertyListPath, or `[]`."""
    reader, node = block.reader, BlankNode(block.reader.new_label())
    inside = replace(block, steps=[])
    reader.expect("[")
    if not reader.at("]"):
        _read_property_list(inside, node)
    reader.expect("]")
    return node, inside.steps


def _read_collection(block: _Block) -> tuple[PatternTerm, list[Step]]:
    """Read [103] CollectionPath, or `()`."""
    reader, cells, inside = block.reader, list[Step](), list[Step]()
    reader.expect("(")
    if reader.accept(")"):
        return _NIL, []
    head = cell = BlankNode(reader.new_label())
    while True:
        item, inner = _read_node(block)
        inside += inner
        cells.append(TriplePattern(cell, _FIRST, item))
        if reader.accept(")"):
            return head, [*cells, TriplePattern(cell, _REST, _NIL), *inside]
        rest = BlankNode(reader.new_label())
        cells.append(TriplePattern(cell, _REST, rest))
        cell = rest


def _expand_all(
    subject: PatternTerm, paths: Alternatives, object_: PatternTerm, reader: Reader, token: Token
) -> list[Step]:
    """The steps that mean some alternatives."""
    sides = [_expand_sequence(subject, steps, object_, reader, token) for steps in paths]
    if len(sides) == 1:
        return sides[0]
    joined = (reader.fold(Join, _patterns(side), token) for side in sides)
    union = reader.fold(Union, joined, token)
    return [union] if isinstance(union, Union) else []


def _expand_sequence(
    subject: PatternTerm, steps: list[Path], object_: PatternTerm, reader: Reader, token: Token
) -> list[Step]:
    between = [reader.new_variable("p") for _ in steps[1:]]
    ends = [subject, *reversed(between), object_]
    return [
        step
        for start, path, end in zip(ends, steps, ends[1:], strict=False)
        for step in _expand(start, path, end, reader, token)
    ]


def _expand(
    subject: PatternTerm, path: Path, object_: PatternTerm, reader: Reader, token: Token
) -> list[Step]:
    match path:
        case Link(predicate):
            return [TriplePattern(subject, predicate, object_)]
        case Inverse(inner):
            return _expand(object_, inner, subject, reader, token)
        case Sequence(left, right):
            return _expand_sequence(subject, [left, right], object_, reader, token)
        case Alternative(left, right):
            return _expand_all(subject, [[left], [right]], object_, reader, token)
    return [reader.note(PathPattern(subject, path, object_), token)]


def patterns_of(steps: list[Step], reader: Reader, token: Token) -> list[Pattern]:
    """The patterns that triples with nothing but FILTERs between them mean, to be joined.

    A blank node that has to join several of them is a hidden variable.
    """
    patterns = list(_patterns(steps))
    shared: dict[str, PatternTerm] = {
        label: reader.new_variable("b") for label in _shared_labels(patterns)
    }
    patterns = [_with_variables(pattern, shared) for pattern in patterns] if shared else patterns
    return [reader.note(pattern, token) for pattern in patterns]


def _patterns(steps: Iterable[Step]) -> Iterator[Pattern]:
    """The patterns of some steps: triples next to each other are one basic graph pattern."""
    for are_triples, run in groupby(steps, key=lambda step: isinstance(step, TriplePattern)):
        if are_triples:
            yield BGP(tuple(step for step in run if isinstance(step, TriplePattern)))
        else:
            yield from (step for step in run if not isinstance(step, TriplePattern))


def _shared_labels(patterns: list[Pattern]) -> list[str]:
    """The labels of blank nodes that stand in more than one basic graph pattern or path."""
    seen, shared = set[str](), dict[str, None]()
    for node in (node for pattern in patterns for node in walk(pattern)):
        labels = {term.label for term in _ends(node) if isinstance(term, BlankNode)}
        shared |= dict.fromkeys(sorted(labels & seen))
        seen |= labels
    return list(shared)


def _ends(node: Pattern) -> tuple[PatternTerm, ...]:
    match node:
        case BGP(patterns):
            return tuple(term for triple in patterns for term in triple.terms)
        case PathPattern(subject, _, object_):
            return (subject, object_)
    return ()


def _with_variables(pattern: Pattern, shared: dict[str, PatternTerm]) -> Pattern:
    def term(old: PatternTerm) -> PatternTerm:
        return shared.get(old.label, old) if isinstance(old, BlankNode) else old

    match pattern:
        case BGP(patterns):
            return BGP(tuple(TriplePattern(*map(term, triple.terms)) for triple in patterns))
        case PathPattern(subject, path, object_):
            return PathPattern(term(subject), path, term(object_))
    return with_children(pattern, lambda inner: _with_variables(inner, shared))
