"""Triples out of a parse tree: basic graph patterns, and what property paths become.

Links, inverses, sequences and alternatives become triples, joins and unions; closures and negated
sets stay (SPARQL 1.1 section 18.2.2.4). What a path passes through is a hidden variable.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import reduce
from itertools import groupby
from typing import assert_never

from bestbefore.query.algebra import (
    BGP,
    Join,
    PathPattern,
    Pattern,
    PatternTerm,
    TriplePattern,
    Union,
    walk,
)
from bestbefore.query.paths import Alternative, Inverse, Link, Path, Sequence
from bestbefore.query.property_paths import translate_path
from bestbefore.query.rebuilding import with_children
from bestbefore.query.source import Source
from bestbefore.query.syntax import Leaf, Node, Tree
from bestbefore.query.text import Kind
from bestbefore.rdf.terms import BlankNode

Step = TriplePattern | PathPattern | Union


def translate_template(blocks: Iterable[Tree], source: Source) -> tuple[TriplePattern, ...]:
    """The triples of a CONSTRUCT template, in which no paths stand."""
    return tuple(
        TriplePattern(source.term(subject), source.term(predicate), source.term(object_))
        for subject, predicate, object_ in _threes(blocks)
    )


def translate_triples(nodes: list[Node], source: Source) -> list[Pattern]:
    """The patterns that triples without anything but FILTERs between them mean, to be joined.

    A blank node that has to join several of them is a hidden variable.
    """
    blocks = [block for node in nodes for block in node.all("triples")]
    tokens = [source.token(leaf) for block in blocks for leaf in _leaves(block)]
    labels = [token for token in tokens if token.kind is Kind.BLANK]
    source.notes.claim(labels, nodes[0].token)
    steps = [step for three in _threes(blocks) for step in _steps(three, source)]
    patterns = list(_patterns(steps))
    shared: dict[str, PatternTerm] = {
        label: source.notes.new_variable("b") for label in _shared_labels(patterns)
    }
    patterns = [_with_variables(each, shared) for each in patterns] if shared else patterns
    place = tokens[0] if tokens else source.tokens[nodes[0].token]
    return [source.notes.at(place, each) for each in patterns]


def _threes(blocks: Iterable[Tree]) -> Iterator[tuple[Tree, Tree, Tree]]:
    """Subject, predicate and object, which follow each other in rdflib's blocks."""
    terms = [term for block in blocks if isinstance(block, tuple) for term in block]
    return zip(terms[::3], terms[1::3], terms[2::3], strict=True)


def _leaves(tree: Tree) -> Iterator[Leaf]:
    match tree:
        case Leaf():
            yield tree
        case Node():
            yield from (leaf for part in tree.parts.values() for leaf in _leaves(part))
        case tuple():
            yield from (leaf for part in tree for leaf in _leaves(part))


def _steps(three: tuple[Tree, Tree, Tree], source: Source) -> list[Step]:
    subject, path, object_ = three
    ends = source.term(subject), source.term(object_)
    if isinstance(path, Node):
        return _expand(ends[0], translate_path(path, source), ends[1], source)
    return [TriplePattern(ends[0], source.term(path), ends[1])]


def _expand(subject: PatternTerm, path: Path, object_: PatternTerm, source: Source) -> list[Step]:
    match path:
        case Link(predicate):
            return [TriplePattern(subject, predicate, object_)]
        case Inverse(inner):
            return _expand(object_, inner, subject, source)
        case Sequence(left, right):
            middle = source.notes.new_variable("p")
            first = _expand(subject, left, middle, source)
            return first + _expand(middle, right, object_, source)
        case Alternative(left, right):
            sides = (_expand(subject, side, object_, source) for side in (left, right))
            return [Union(*(reduce(Join, _patterns(side)) for side in sides))]
        case _:
            return [PathPattern(subject, path, object_)]
    assert_never(path)


def _patterns(steps: Iterable[Step]) -> Iterator[Pattern]:
    """The patterns of some steps: triples next to each other are one BGP."""
    for are_triples, run in groupby(steps, key=lambda each: isinstance(each, TriplePattern)):
        if are_triples:
            yield BGP(tuple(each for each in run if isinstance(each, TriplePattern)))
        else:
            yield from (each for each in run if not isinstance(each, TriplePattern))


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
            return tuple(term for each in patterns for term in (each.subject, each.object))
        case PathPattern(subject, _, object_):
            return (subject, object_)
    return ()


def _with_variables(pattern: Pattern, shared: dict[str, PatternTerm]) -> Pattern:
    def term(old: PatternTerm) -> PatternTerm:
        return shared.get(old.label, old) if isinstance(old, BlankNode) else old

    match pattern:
        case BGP(patterns):
            return BGP(
                tuple(
                    replace(each, subject=term(each.subject), object=term(each.object))
                    for each in patterns
                )
            )
        case PathPattern(subject, path, object_):
            return PathPattern(term(subject), path, term(object_))
    return with_children(pattern, lambda each: _with_variables(each, shared))
