import pytest

from bestbefore.query.algebra import (
    BGP,
    Extend,
    Filter,
    Join,
    LeftJoin,
    Minus,
    Service,
    Union,
    Variable,
)
from bestbefore.query.rewrites import remove_identities

EMPTY, X = BGP(()), Variable("x")


@pytest.fixture
def triples(pattern_of):
    return pattern_of("?x :p ?y")


@pytest.mark.parametrize(
    "around",
    [
        lambda kept: Join(EMPTY, kept),
        lambda kept: Join(kept, EMPTY),
        lambda kept: LeftJoin(kept, EMPTY),
        lambda kept: LeftJoin(kept, EMPTY, X),
        lambda kept: Minus(kept, EMPTY),
        lambda kept: Join(Join(EMPTY, EMPTY), Join(EMPTY, kept)),
    ],
)
def test_an_operand_that_changes_nothing_is_left_out(triples, around):
    assert remove_identities(around(triples)) == triples
    assert remove_identities(Filter(X, around(triples))) == Filter(X, triples)


@pytest.mark.parametrize(
    "around",
    [
        lambda kept: LeftJoin(EMPTY, kept),
        lambda kept: Union(EMPTY, kept),
        lambda kept: Minus(EMPTY, kept),
        lambda kept: Extend(EMPTY, X, X),
        lambda kept: Service("http://e/s", Join(EMPTY, kept)),
    ],
)
def test_what_changes_something_stays(triples, around):
    assert remove_identities(around(triples)) == around(triples)
