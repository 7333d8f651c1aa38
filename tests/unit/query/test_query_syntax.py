"""rdflib as a grammar: what it is given, and that nothing of it comes back."""

from collections.abc import Iterator

from bestbefore.query.spelling import spell
from bestbefore.query.syntax import Anonymous, Fixed, Leaf, Node, Word, furthest, parse_tree, reads
from bestbefore.query.text import tokenize

QUERY = "SELECT * { WINDOW <w> { ?x a _:b, (1.5 [] 'x'@en) } FILTER(?x = -5 || true) }"


def nodes(tree: object) -> Iterator[object]:
    yield tree
    below = tree.parts.values() if isinstance(tree, Node) else tree if type(tree) is tuple else ()
    for each in below:
        yield from nodes(each)


def test_terms_are_spelled_by_the_numbers_of_their_tokens():
    spelling = spell(tokenize("SELECT ?x { ?x a 1.5, _:b, 'x'@en . SERVICE SILENT :s { } }"))
    assert spelling.text.split() == [
        *("SELECT", "?1", "{", "?3", "<t:4>", "5", ",", "_:t7", ",", '"9"@en', "."),
        *("GRAPH", "<t:14>", "{", "}", "}"),
    ]


def test_places_in_the_spelling_lead_back_to_tokens():
    spelling = spell(tokenize("SELECT * { <http://example.org/a/very/long/iri> ?p ?o }"))
    assert [spelling.token_at(at) for at in spelling.offsets] == list(range(len(spelling.tokens)))
    assert spelling.tokens[spelling.token_at(spelling.text.index("?4"))].text == "?p"


def test_the_tree_is_made_of_our_own_nodes_only():
    tree = parse_tree(spell(tokenize(QUERY)))
    found = list(nodes(tree))
    assert {type(each) for each in found} == {Node, Leaf, Anonymous, Fixed, Word, tuple}
    assert {type(each.text) for each in found if isinstance(each, Word)} == {str}
    assert {type(each.iri) for each in found if isinstance(each, Fixed)} == {str}


def test_what_is_not_sparql_has_no_tree_but_a_furthest_place():
    text = "SELECT * { GRAPH <t:1> { ?2 ?3 } }"
    assert parse_tree(spell(tokenize(text))) is None
    assert furthest(text) == text.index("}")


def test_the_beginning_of_a_query_can_be_told_from_nonsense():
    assert reads("SELECT * { GRAPH <t:1> { ?2 ?3")
    assert not reads("SELECT * { GRAPH {")
