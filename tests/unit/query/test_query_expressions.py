import pytest

from bestbefore.query.algebra import Variable
from bestbefore.query.expressions import (
    FUNCTIONS,
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
from bestbefore.rdf.terms import IRI, XSD, Literal

X, Y = Variable("x"), Variable("y")


def number(lexical):
    return Constant(Literal(lexical, XSD + "integer"))


ONE, TWO, FIVE = map(number, "125")
NUMBER_OF_ARGUMENTS = {
    **dict.fromkeys(("NOW", "RAND", "STRUUID", "UUID"), 0),
    **dict.fromkeys(("CONTAINS", "LANGMATCHES", "REGEX", "SAMETERM", "STRAFTER", "STRBEFORE"), 2),
    **dict.fromkeys(("STRDT", "STRENDS", "STRLANG", "STRSTARTS", "SUBSTR"), 2),
    **dict.fromkeys(("IF", "REPLACE"), 3),
}


@pytest.mark.parametrize(
    ("written", "expression"),
    [
        ("?x", X),
        ("?x = 1", Compare("=", X, ONE)),
        ("?x<?y&&?y>?x", And((Compare("<", X, Y), Compare(">", Y, X)))),
        ("?x != 1 || ?x <= 2 || ?x >= 5 && ?y < 1", None),
        ("?x + 1 * 2 - 5", Arithmetic("-", Arithmetic("+", X, Arithmetic("*", ONE, TWO)), FIVE)),
        ("?x / (1 - 2)", Arithmetic("/", X, Arithmetic("-", ONE, TWO))),
        ("?x -5", Arithmetic("-", X, FIVE)),
        ("?x+5", Arithmetic("+", X, FIVE)),
        ("-5", number("-5")),
        ("+5", number("+5")),
        ("- 5", Negate(FIVE)),
        ("- -5", Negate(number("-5"))),
        ("-?x", Negate(X)),
        ("?x * -5", Arithmetic("*", X, number("-5"))),
        ("!-5", Not(number("-5"))),
        ("!(!?x)", Not(Not(X))),
        ("(?x && ?y) && ?x", And((And((X, Y)), X))),
        ("?x && ?y && ?x", And((X, Y, X))),
        ("?x IN (1, ?y)", In(X, (ONE, Y))),
        ("?x NOT IN (1)", In(X, (ONE,), negated=True)),
        ("?x in ()", In(X, ())),
        ("?x = :a", Compare("=", X, Constant(IRI("http://example.org/a")))),
        ("?x = 01.0", Compare("=", X, Constant(Literal("01.0", XSD + "decimal")))),
        ("?x = 'a\\tb'", Compare("=", X, Constant(Literal("a\tb")))),
        ("true", Constant(Literal("true", XSD + "boolean"))),
        ("+?x", Negate(Negate(X))),
        ("1 + +?x", Arithmetic("+", ONE, Negate(Negate(X)))),
        ("<http://www.w3.org/2001/XMLSchema#integer>(?x)", Cast("integer", X)),
    ],
)
def test_operators(pattern_of, written, expression):
    if expression is None:
        bounds = And((Compare(">=", X, FIVE), Compare("<", Y, ONE)))
        expression = Or((Compare("!=", X, ONE), Compare("<=", X, TWO), bounds))
    assert pattern_of(f"FILTER({written})").condition == expression


@pytest.mark.parametrize(
    ("written", "function", "arguments"),
    [
        ("BOUND(?x)", "BOUND", (X,)),
        ("str(?x)", "STR", (X,)),
        ("LANG(?x)", "LANG", (X,)),
        ("DATATYPE(?x)", "DATATYPE", (X,)),
        ("isIRI(?x)", "ISIRI", (X,)),
        ("isURI(?x)", "ISIRI", (X,)),
        ("isLiteral(?x)", "ISLITERAL", (X,)),
        ("isBlank(?x)", "ISBLANK", (X,)),
        ("isNumeric(?x)", "ISNUMERIC", (X,)),
        ("CONTAINS(?x, ?y)", "CONTAINS", (X, Y)),
        ("STRSTARTS(?x, ?y)", "STRSTARTS", (X, Y)),
        ("STRENDS(?x, ?y)", "STRENDS", (X, Y)),
        ("STRLEN(?x)", "STRLEN", (X,)),
        ("UCASE(?x)", "UCASE", (X,)),
        ("LCASE(?x)", "LCASE", (X,)),
        ("ABS(?x)", "ABS", (X,)),
        ("REGEX(?x, ?y)", "REGEX", (X, Y)),
        ("REGEX(?x, ?y, 'i')", "REGEX", (X, Y, Constant(Literal("i")))),
        ("sameTerm(?x, ?y)", "SAMETERM", (X, Y)),
        ("LANGMATCHES(?x, '*')", "LANGMATCHES", (X, Constant(Literal("*")))),
        ("COALESCE(?x, ?y, 1)", "COALESCE", (X, Y, ONE)),
        ("COALESCE(?x)", "COALESCE", (X,)),
        ("COALESCE()", "COALESCE", ()),
        ("IF(?x, 1, 2)", "IF", (X, ONE, TWO)),
        ("NOW()", "NOW", ()),
        ("bnode( )", "BNODE", ()),
        ("BNODE(?x)", "BNODE", (X,)),
        ("URI(?x)", "IRI", (X,)),
        ("CONCAT()", "CONCAT", ()),
        ("CONCAT(?x, ?y)", "CONCAT", (X, Y)),
        ("SUBSTR(?x, 1)", "SUBSTR", (X, ONE)),
        ("SUBSTR(?x, 1, 2)", "SUBSTR", (X, ONE, TWO)),
        ("REPLACE(?x, ?y, 1)", "REPLACE", (X, Y, ONE)),
        ("REPLACE(?x, ?y, 1, 2)", "REPLACE", (X, Y, ONE, TWO)),
    ],
)
def test_functions(pattern_of, written, function, arguments):
    condition = pattern_of(f"FILTER({written})").condition
    assert condition == Call(function, arguments)


def test_a_function_needs_no_parentheses_around_it(pattern_of):
    condition = pattern_of("FILTER REGEX(?x, 'a') FILTER(?y)").condition
    assert condition == And((Call("REGEX", (X, Constant(Literal("a")))), Y))


@pytest.mark.parametrize("function", sorted(FUNCTIONS))
def test_every_function_is_read(pattern_of, function):
    number = NUMBER_OF_ARGUMENTS.get(function, 1)
    condition = pattern_of(f"FILTER({function}({', '.join(['?x'] * number)}))").condition
    assert condition == Call(function, (X,) * number)
