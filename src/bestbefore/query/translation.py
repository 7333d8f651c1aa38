"""The algebra out of a parse tree, as section 18.2 of SPARQL 1.1 defines it.

In a group, FILTERs apply to the whole group wherever they stand, triples that only FILTERs separate
form one BGP, the elements are joined from left to right, and the empty BGP is left out of joins.
"""

from collections.abc import Iterable
from functools import reduce
from itertools import groupby

from bestbefore.query.algebra import (
    BGP,
    Construct,
    Filter,
    Form,
    Join,
    Pattern,
    Select,
    Service,
    TriplePattern,
    Variable,
    Window,
    variables,
    walk,
)
from bestbefore.query.diagnosis import diagnose
from bestbefore.query.expression_translation import translate_expression
from bestbefore.query.expressions import And, Expression
from bestbefore.query.property_paths import simple_predicate
from bestbefore.query.source import Source
from bestbefore.query.spelling import spell
from bestbefore.query.syntax import Leaf, Node, Tree, Word, parse_tree
from bestbefore.query.text import Kind, error_at, unsupported_at
from bestbefore.rdf.terms import BlankNode

_REFUSED_IN_GROUP = {
    "OptionalGraphPattern": "OPTIONAL",
    "MinusGraphPattern": "MINUS",
    "Bind": "BIND",
    "InlineData": "VALUES",
}
_REFUSED_IN_QUERY = {
    "datasetClause": ("FROM",),
    "groupby": ("GROUP",),
    "having": ("HAVING",),
    "orderby": ("ORDER",),
    "limitoffset": ("LIMIT", "OFFSET"),
    "valuesClause": ("VALUES",),
}
_CLAUSES = {"FROM": "FROM a static graph", "GROUP": "GROUP BY", "ORDER": "ORDER BY"}


def translate(source: Source) -> tuple[Form, Pattern]:
    """The form and the pattern of a query body."""
    _refuse_short_construct(source)
    spelling = spell(source.tokens)
    tree = parse_tree(spelling)
    if tree is None:
        raise diagnose(spelling)
    _refuse_clauses(tree, source)
    template = _triples(tree.all("template"), source)
    pattern = _group(tree.parts["where"], source)
    _check_blank_nodes(pattern, source)
    if tree.name == "ConstructQuery":
        return Construct(template), pattern
    return _select(tree, pattern, source), pattern


def _refuse_short_construct(source: Source) -> None:
    form, following = source.tokens[:2]
    if form.is_word("CONSTRUCT") and following.is_word("WHERE", "FROM"):
        instead = "write the template between braces after CONSTRUCT"
        raise unsupported_at(form, "CONSTRUCT WHERE", instead=instead)


def _refuse_clauses(query: Node, source: Source) -> None:
    match query.parts.get("modifier"):
        case Word("REDUCED"):
            raise unsupported_at(source.find_word("REDUCED"), "REDUCED", instead="use DISTINCT")
    for part, words in _REFUSED_IN_QUERY.items():
        if part in query.parts:
            place = source.find_word(*words)
            raise unsupported_at(place, _CLAUSES.get(place.text.upper(), place.text.upper()))


def _select(query: Node, pattern: Pattern, source: Source) -> Select:
    projected = [_projected(each, source) for each in query.all("projection")]
    projection = tuple(dict.fromkeys(projected)) if projected else variables(pattern)
    return Select(projection, distinct=query.parts.get("modifier") == Word("DISTINCT"))


def _projected(tree: Tree, source: Source) -> Variable:
    match tree:
        case Node("vars", {"var": Leaf() as leaf}):
            return Variable(source.token(leaf).text[1:])
        case Node("vars", {"expr": expression}):
            # An aggregate inside is the better thing to name, and refuses itself.
            translate_expression(expression, source)
            place = source.find(lambda token, _: token.is_mark("("))
            raise unsupported_at(place, "SELECT (… AS ?variable)")
    raise TypeError(f"no projection: {tree}")


def _group(tree: Tree, source: Source) -> Pattern:
    """The pattern between two braces."""
    if not isinstance(tree, Node) or tree.name != "GroupGraphPatternSub":
        raise unsupported_at(source.find_word("SELECT"), "a subquery")
    parts = [part for part in tree.all("part") if isinstance(part, Node)]
    conditions = [_condition(part, source) for part in parts if part.name == "Filter"]
    elements = _elements((part for part in parts if part.name != "Filter"), source)
    joined = _join(elements)
    match conditions:
        case []:
            return joined
        case [condition]:
            return Filter(condition, joined)
        case _:
            return Filter(And(tuple(conditions)), joined)


def _condition(part: Node, source: Source) -> Expression:
    return translate_expression(part.parts["expr"], source)


def _elements(parts: Iterable[Node], source: Source) -> list[Pattern]:
    elements: list[Pattern] = []
    for are_triples, run in groupby(parts, key=lambda part: part.name == "TriplesBlock"):
        if are_triples:
            blocks = [block for part in run for block in part.all("triples")]
            elements.append(BGP(_triples(blocks, source)))
        else:
            elements.extend(_element(part, source) for part in run)
    return elements


def _join(elements: list[Pattern]) -> Pattern:
    empty = BGP(())
    return reduce(Join, [each for each in elements if each != empty] or [empty])


def _element(part: Node, source: Source) -> Pattern:
    match part:
        case Node("GroupOrUnionGraphPattern", {"graph": (group,)}):
            return _group(group, source)
        case Node("GroupOrUnionGraphPattern"):
            raise unsupported_at(source.find_word("UNION"), "UNION")
        case Node("GraphGraphPattern", {"term": Leaf() as name, "graph": group}):
            return _named(name, group, source)
    if keyword := _REFUSED_IN_GROUP.get(part.name):
        raise unsupported_at(source.find_word(keyword), keyword)
    raise TypeError(f"no pattern: {part}")


def _named(name: Leaf, group: Tree, source: Source) -> Pattern:
    """The clause `WINDOW name {…}`, `SERVICE name {…}` or `GRAPH name {…}`."""
    token, before = source.token(name), source.tokens[name.token - 1]
    keyword = "SERVICE" if before.is_word("SILENT") else before.text.upper()
    if keyword == "GRAPH":
        instead = "a window has its own clause, WINDOW"
        raise unsupported_at(before, "GRAPH", instead=instead)
    if token.kind is Kind.VARIABLE:
        raise unsupported_at(token, f"{keyword} {token.text}", instead="name it by its IRI")
    iri, pattern = source.prologue.resolve(token), _group(group, source)
    if keyword == "WINDOW":
        return Window(iri, pattern)
    return Service(iri, pattern, silent=before.is_word("SILENT"))


def _triples(blocks: Iterable[Tree], source: Source) -> tuple[TriplePattern, ...]:
    """The triple patterns of blocks in which subject, predicate and object follow each other."""
    terms = [term for block in blocks if isinstance(block, tuple) for term in block]
    return tuple(
        TriplePattern(
            source.term(subject), source.term(simple_predicate(path, source)), source.term(object_)
        )
        for subject, path, object_ in zip(terms[::3], terms[1::3], terms[2::3], strict=True)
    )


def _check_blank_nodes(pattern: Pattern, source: Source) -> None:
    """Refuse a label in two BGPs, which SPARQL forbids: it would look like a join and be none."""
    owners: dict[str, int] = {}
    for number, node in enumerate(walk(pattern)):
        for label in _blank_labels(node):
            if owners.setdefault(label, number) != number:
                place = [each for each in source.tokens if each.text == f"_:{label}"][-1]
                message = (
                    f"the blank node _:{label} stands in two groups; use a variable to join them"
                )
                raise error_at(place, message)


def _blank_labels(node: Pattern) -> set[str]:
    triples = node.patterns if isinstance(node, BGP) else ()
    terms = (term for each in triples for term in (each.subject, each.predicate, each.object))
    return {term.label for term in terms if isinstance(term, BlankNode)}
