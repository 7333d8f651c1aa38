"""Strategies for terms, expressions and paths."""

from hypothesis import strategies as st

from bestbefore.query.algebra import Variable
from bestbefore.query.expressions import (
    And,
    Arithmetic,
    Call,
    Cast,
    Compare,
    Constant,
    In,
    Negate,
    Not,
    Or,
)
from bestbefore.query.paths import (
    Alternative,
    Inverse,
    Link,
    NegatedSet,
    OneOrMore,
    Sequence,
    ZeroOrMore,
    ZeroOrOne,
)
from bestbefore.rdf.terms import IRI, RDF_LANG_STRING, RDF_TYPE, XSD, BlankNode, Literal

characters = st.characters(exclude_categories=("Cs",), exclude_characters="\x00")
NAMES = ("x", "y", "user", "WINDOW", "é1", "0")
variable = st.sampled_from(NAMES).map(Variable)
hidden = st.sampled_from([".p7", ".b1"]).map(Variable)
iri = st.sampled_from(
    ["http://e/a", "http://e/b#c", "urn:x:1", RDF_TYPE, "http://e/?q=a&b=c;d,(e)'f'", "http://e/é"]
).map(IRI)
number = st.one_of(
    st.from_regex(r"\A-?[0-9]{1,4}\Z").map(lambda text: Literal(text, XSD + "integer")),
    st.from_regex(r"\A-?[0-9]{0,2}\.[0-9]{1,3}\Z").map(lambda text: Literal(text, XSD + "decimal")),
    st.from_regex(r"\A[0-9]{1,2}\.?[eE][+-]?[0-9]\Z").map(
        lambda text: Literal(text, XSD + "double")
    ),
)
literal = st.one_of(
    st.text(characters, max_size=8).map(Literal),
    st.sampled_from(["WINDOW { }", "# no", "a\\u0041", "'''", '"', "\\", "\\\\u0022"]).map(Literal),
    st.tuples(st.text(characters, max_size=4), st.sampled_from(["en", "en-gb"])).map(
        lambda pair: Literal(pair[0], RDF_LANG_STRING, pair[1])
    ),
    st.tuples(st.text(characters, max_size=4), iri).map(
        lambda pair: Literal(pair[0], pair[1].value)
    ),
    number,
    st.sampled_from(["true", "false", "1", "TRUE"]).map(
        lambda text: Literal(text, XSD + "boolean")
    ),
    st.just(Literal("+5", XSD + "integer")),
)
value = iri | literal
blank = st.sampled_from("ab").map(BlankNode)

COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
NO_ARGUMENT = ("NOW", "RAND", "UUID", "STRUUID", "BNODE")
ONE_ARGUMENT = ("STR", "ABS", "ISIRI", "LCASE", "BNODE", "YEAR", "ENCODE_FOR_URI", "SHA256", "TZ")
TWO_ARGUMENTS = ("CONTAINS", "REGEX", "STRLANG", "STRDT", "STRBEFORE", "SUBSTR", "SAMETERM")
THREE_ARGUMENTS = ("IF", "REGEX", "SUBSTR", "REPLACE")


def calls(expression):
    some = st.lists(expression, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Call, st.sampled_from(["COALESCE", "CONCAT"]), some),
        st.builds(Call, st.sampled_from(NO_ARGUMENT), st.just(())),
        st.builds(Call, st.sampled_from(ONE_ARGUMENT), st.tuples(expression)),
        st.builds(Call, st.sampled_from(TWO_ARGUMENTS), st.tuples(expression, expression)),
        st.builds(
            Call, st.sampled_from(THREE_ARGUMENTS), st.tuples(expression, expression, expression)
        ),
        st.builds(Cast, st.sampled_from(["integer", "string", "dateTime"]), expression),
    )


def grow(expression):
    several = st.lists(expression, min_size=2, max_size=3).map(tuple)
    some = st.lists(expression, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Compare, st.sampled_from(COMPARISONS), expression, expression),
        st.builds(Arithmetic, st.sampled_from(["+", "-", "*", "/"]), expression, expression),
        st.builds(And, several),
        st.builds(Or, several),
        st.builds(Not, expression),
        st.builds(Negate, expression),
        st.builds(In, expression, some, st.booleans()),
        calls(expression),
    )


def expressions(leaf):
    """Expressions over some leaves and constants."""
    return st.recursive(leaf | value.map(Constant), grow, max_leaves=6)


bound = st.builds(Call, st.just("BOUND"), st.tuples(variable))
expression = expressions(variable | bound)

link = iri.map(Link)
negated_set = st.builds(
    NegatedSet, st.lists(iri, max_size=2).map(tuple), st.lists(iri, max_size=2).map(tuple)
)


def closures(path):
    return st.one_of(
        st.builds(ZeroOrMore, path), st.builds(OneOrMore, path), st.builds(ZeroOrOne, path)
    )


path = st.recursive(
    link | negated_set,
    lambda path: st.one_of(
        closures(path),
        st.builds(Inverse, path),
        st.builds(Sequence, path, path),
        st.builds(Alternative, path, path),
    ),
    max_leaves=5,
)
# What stays a path in the algebra; others become triples, joins and unions.
lasting_path = closures(path) | negated_set
