"""Property paths: one that is a plain predicate is read, all others are refused."""

from collections.abc import Iterator

from bestbefore.query.source import Source
from bestbefore.query.syntax import Leaf, Node, Tree
from bestbefore.query.text import Token, unsupported_at


def simple_predicate(path: Tree, source: Source) -> Tree:
    """The predicate that a path of one step is."""
    predicate = _unwrap(path)
    if isinstance(predicate, Node):
        raise unsupported_at(
            _start(path, source), "a property path", instead="write its steps as triples"
        )
    return predicate


def _unwrap(path: Tree) -> Tree:
    match path:
        case Node("PathAlternative" | "PathSequence", {"part": (single,)}):
            return _unwrap(single)
        case Node("PathElt", {"part": single, **rest}) if "mod" not in rest:
            return _unwrap(single)
    return path


def _start(path: Tree, source: Source) -> Token:
    """The first token of a path: its first IRI, or the operators before that."""
    first = next(_leaves(path), None)
    if first is None:
        return source.find(lambda token, _: token.is_mark("!"))
    number = first.token
    while source.tokens[number - 1].is_mark("^", "!", "("):
        number -= 1
    return source.tokens[number]


def _leaves(tree: Tree) -> Iterator[Leaf]:
    match tree:
        case Leaf():
            yield tree
        case Node():
            yield from (leaf for part in tree.parts.values() for leaf in _leaves(part))
        case tuple():
            yield from (leaf for part in tree for leaf in _leaves(part))
