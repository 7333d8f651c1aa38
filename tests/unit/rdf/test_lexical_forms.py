import math

import pytest

from bestbefore.rdf.lexical_forms import number_of
from bestbefore.rdf.terms import XSD


@pytest.mark.parametrize(
    ("encoded", "number"),
    [
        (f'"5"^^<{XSD}integer>', 5.0),
        (f'"-5.50"^^<{XSD}decimal>', -5.5),
        (f'"+7"^^<{XSD}unsignedByte>', 7.0),
        (f'"1e3"^^<{XSD}double>', 1000.0),
        (f'"-INF"^^<{XSD}float>', -math.inf),
        (f'"1e3"^^<{XSD}integer>', None),
        (f'"5.5"^^<{XSD}integer>', None),
        (f'"5\n"^^<{XSD}integer>', None),
        (f'"1_000"^^<{XSD}integer>', None),
        (f'" 5"^^<{XSD}integer>', None),
        (f'"٣"^^<{XSD}integer>', None),
        (f'"five"^^<{XSD}double>', None),
        (f'"2020-01-01"^^<{XSD}date>', None),
        ('"5"', None),
        ('"5"@en', None),
        ("<http://e/5>", None),
        ("_:5", None),
        (None, None),
    ],
)
def test_the_number_of_a_term(encoded, number):
    assert number_of(encoded) == number


def test_not_a_number_is_a_number_by_its_type():
    assert math.isnan(number_of(f'"NaN"^^<{XSD}double>'))
