"""Property paths out of a parse tree."""

from functools import reduce

from bestbefore.query.paths import (
    Alternative,
    Inverse,
    Link,
    NegatedSet,
    OneOrMore,
    Path,
    Sequence,
    ZeroOrMore,
    ZeroOrOne,
)
from bestbefore.query.source import Source
from bestbefore.query.syntax import Leaf, Node, Tree, Word
from bestbefore.query.text import error_at
from bestbefore.rdf.terms import IRI

_REPEATED: dict[str, type[ZeroOrMore | OneOrMore | ZeroOrOne]] = {
    "*": ZeroOrMore,
    "+": OneOrMore,
    "?": ZeroOrOne,
}


def translate_path(tree: Tree, source: Source) -> Path:  # noqa: PLR0911 - one case per node
    """The property path of a parse tree; a plain predicate is a `Link`."""
    match tree:
        case Node("PathAlternative"):
            parts = (translate_path(each, source) for each in tree.all("part"))
            return reduce(Alternative, parts)
        case Node("PathSequence"):
            parts = (translate_path(each, source) for each in tree.all("part"))
            return reduce(Sequence, parts)
        case Node("PathEltOrInverse", {"part": part}):
            return Inverse(translate_path(part, source))
        case Node("PathElt", {"part": part, "mod": Word(sign)}):
            return _REPEATED[sign](translate_path(part, source))
        case Node("PathElt", {"part": part}):
            return translate_path(part, source)
        case Node("PathNegatedPropertySet"):
            return _negated_set(tree, source)
        case Node():
            raise error_at(source.tokens[tree.token], "expected a property path here")
    return Link(_predicate(tree, source))


def _negated_set(node: Node, source: Source) -> NegatedSet:
    forward, backward = list[IRI](), list[IRI]()
    for leaf in node.all("part"):
        if not isinstance(leaf, Leaf):
            raise error_at(source.tokens[node.token], "expected an IRI after ^")
        inverse = source.tokens[leaf.token - 1].is_mark("^")
        (backward if inverse else forward).append(_predicate(leaf, source))
    return NegatedSet(tuple(forward), tuple(backward))


def _predicate(tree: Tree, source: Source) -> IRI:
    term = source.term(tree)
    if not isinstance(term, IRI):
        raise TypeError(f"no predicate: {term}")
    return term
