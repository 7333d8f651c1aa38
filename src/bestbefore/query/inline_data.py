"""VALUES out of a parse tree."""

from bestbefore.query.algebra import Values
from bestbefore.query.expressions import Variable
from bestbefore.query.source import Source
from bestbefore.query.syntax import Node, Tree, Word
from bestbefore.query.text import error_at
from bestbefore.rdf.terms import IRI, Literal


def translate_values(node: Node, source: Source) -> Values:
    """The mappings of VALUES, each as wide as its list of variables."""
    names = tuple(source.variable(each) for each in node.all("var"))
    _check_distinct(names, node, source)
    rows = tuple(_row(each, source) for each in node.all("value"))
    for number, row in enumerate(rows, start=1):
        if len(row) != len(names):
            message = f"row {number} of VALUES has {len(row)} values for {len(names)} variables"
            raise error_at(source.token(node), f"{message}; write UNDEF for one that is missing")
    return Values(names, rows)


def _check_distinct(names: tuple[Variable, ...], node: Node, source: Source) -> None:
    for name in names:
        if names.count(name) > 1:
            raise error_at(source.token(node), f"?{name.name} stands twice in the list of VALUES")


def _row(tree: Tree, source: Source) -> tuple[IRI | Literal | None, ...]:
    """One row; a single variable has its values without parentheses."""
    cells = tree if isinstance(tree, tuple) else (tree,)
    return tuple(None if cell == Word("UNDEF") else source.value(cell) for cell in cells)
