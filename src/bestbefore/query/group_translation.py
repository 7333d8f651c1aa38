"""Groups out of a parse tree: what stands between braces, as section 18.2.2 of SPARQL 1.1 says.

FILTERs apply to the whole group wherever they stand, triples that only FILTERs separate form one
BGP, the elements are put together from left to right, and the empty BGP is left out of joins.
"""

from collections.abc import Iterable
from functools import reduce
from itertools import groupby

from bestbefore.query.algebra import (
    Extend,
    Filter,
    Graph,
    Join,
    LeftJoin,
    Minus,
    Pattern,
    Service,
    Union,
    Window,
    variables,
)
from bestbefore.query.depth import check_number
from bestbefore.query.expression_translation import Context, translate_expression
from bestbefore.query.expressions import And, Expression, Variable
from bestbefore.query.inline_data import translate_values
from bestbefore.query.select_translation import EMPTY, translate_select
from bestbefore.query.source import Source
from bestbefore.query.syntax import Leaf, Node, Tree
from bestbefore.query.text import Token, error_at, unsupported_at
from bestbefore.query.triples import translate_triples


def translate_group(tree: Tree, source: Source) -> Pattern:
    """The pattern between two braces: of a group, or of a subquery."""
    if isinstance(tree, Node) and tree.name == "SubSelect":
        where = translate_group(tree.parts["where"], source)
        _, pattern = translate_select(tree, where, expression_context(source, "a subquery"))
        return source.notes.at(source.token(tree), pattern)
    pattern, condition = _parts(tree, source)
    if condition is None:
        return pattern
    return source.notes.at(_first_filter(tree, source), Filter(condition, pattern))


def _first_filter(tree: Tree, source: Source) -> Token:
    filters = (
        part for part in _all_parts(tree) if isinstance(part, Node) and part.name == "Filter"
    )
    return source.token(next(filters))


def expression_context(source: Source, place: str) -> Context:
    """The context of an expression in which no aggregate may stand."""
    return Context(source, translate_group, place)


def join(left: Pattern, right: Pattern) -> Pattern:
    """The join of two patterns, one of which may be the empty one."""
    return right if left == EMPTY else left if right == EMPTY else Join(left, right)


def conjunction(conditions: list[Expression]) -> Expression | None:
    """All conditions as one, if there are any."""
    return And(tuple(conditions)) if len(conditions) > 1 else next(iter(conditions), None)


def _parts(tree: Tree, source: Source) -> tuple[Pattern, Expression | None]:
    """What a group is made of: its pattern, and the condition of its FILTERs."""
    parts = [part for part in _all_parts(tree) if isinstance(part, Node)]
    elements = [part for part in parts if part.name != "Filter"]
    pattern: Pattern = EMPTY
    runs = _runs(elements)
    check_number(runs)
    for run in runs:
        pattern = _with_run(pattern, run, source)
    context = expression_context(source, "FILTER")
    filters = [part.parts["expr"] for part in parts if part.name == "Filter"]
    return pattern, conjunction([translate_expression(each, context) for each in filters])


def _all_parts(tree: Tree) -> tuple[Tree, ...]:
    if not isinstance(tree, Node):
        raise TypeError(f"no group: {tree}")
    return (tree,) if tree.name == "SubSelect" else tree.all("part")


def _runs(elements: Iterable[Node]) -> list[list[Node]]:
    """The elements, with triples that follow each other in one run."""
    grouped = groupby(elements, key=lambda each: each.name == "TriplesBlock")
    runs: list[list[Node]] = []
    for triples, run in grouped:
        runs += [[*run]] if triples else ([each] for each in run)
    return runs


def _with_run(group: Pattern, run: list[Node], source: Source) -> Pattern:
    """A group with what comes next in it."""
    element = run[0]
    match element:
        case Node("TriplesBlock"):
            return reduce(join, translate_triples(run, source), group)
        case Node("OptionalGraphPattern", {"graph": Node("SubSelect") as inner}):
            return LeftJoin(group, translate_group(inner, source))
        case Node("OptionalGraphPattern", {"graph": inner}):
            return LeftJoin(group, *_parts(inner, source))
        case Node("MinusGraphPattern", {"graph": inner}):
            return Minus(group, translate_group(inner, source))
        case Node("Bind"):
            return _bound(group, element, source)
    return join(group, _element(element, source))


def _bound(group: Pattern, node: Node, source: Source) -> Pattern:
    leaf, variable = node.parts["var"], source.variable(node.parts["var"])
    expression = translate_expression(node.parts["expr"], expression_context(source, "BIND"))
    if variable in variables(group) and isinstance(leaf, Leaf):
        message = f"BIND cannot set ?{variable.name}, which the group before it uses"
        raise error_at(source.token(leaf), f"{message}; choose another name")
    return source.notes.at(source.token(node), Extend(group, variable, expression))


def _element(node: Node, source: Source) -> Pattern:
    match node:
        case Node("GroupOrUnionGraphPattern"):
            check_number(node.all("graph"))
            sides = [translate_group(each, source) for each in node.all("graph")]
            return reduce(Union, sides)
        case Node("InlineData"):
            return translate_values(node, source)
        case Node("GraphGraphPattern", {"term": Leaf() as name, "graph": group}):
            pattern = _named(name, translate_group(group, source), source)
            return source.notes.at(source.token(node), pattern)
    raise TypeError(f"no pattern: {node}")


def _named(leaf: Leaf, pattern: Pattern, source: Source) -> Pattern:
    """The clause `WINDOW name {…}`, `SERVICE name {…}` or `GRAPH name {…}`."""
    before, name = source.tokens[leaf.token - 1], source.name(leaf)
    if before.is_word("GRAPH"):
        return Graph(name, pattern)
    iri = name if isinstance(name, Variable) else name.value
    if not before.is_word("WINDOW"):
        return Service(iri, pattern, silent=before.is_word("SILENT"))
    if isinstance(iri, Variable):
        token = source.token(leaf)
        raise unsupported_at(token, f"WINDOW {token.text}", instead="name it by its IRI")
    return Window(iri, pattern)
