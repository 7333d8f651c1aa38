import pytest

from bestbefore.query import parse_query, plan

CLAUSES = "WINDOW :w { ?user :by ?post } SERVICE :bkg { ?user :followers ?n ; :posts ?m }"


def thresholds(registered, text):
    return [str(each) for each in plan(parse_query(registered(f"{CLAUSES} {text}"))).thresholds]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FILTER(?n > 100000)", ["?n > 100000"]),
        ("FILTER(?n <= -2.5)", ["?n <= -2.5"]),
        ("FILTER(1e3 >= ?n)", ["?n <= 1000"]),
        ("FILTER(- 5 < ?n)", ["?n > -5"]),
        ("FILTER(?user != :x && (?m < 7 && STRLEN(STR(?user)) > 3))", ["?m < 7"]),
        ("FILTER(?n < 5) FILTER(?m > 6)", ["?n < 5", "?m > 6"]),
        ("FILTER(?n > 5 && ?m > 6)", ["?n > 5", "?m > 6"]),
    ],
)
def test_filters_that_compare_a_service_variable_with_a_number(registered, text, expected):
    assert thresholds(registered, text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "FILTER(?n = 5)",
        "FILTER(?n > 5 || ?m > 5)",
        "FILTER(!(?n > 5))",
        "FILTER(?n > ?m)",
        "FILTER(?n > '5')",
        "FILTER(?n + 1 > 5)",
        "FILTER(?post > 5)",
    ],
)
def test_filters_that_are_no_threshold(registered, text):
    assert thresholds(registered, text) == []


def test_only_filters_around_the_clauses_count(registered):
    where = (
        "WINDOW :w { ?n :by ?post FILTER(?n > 1) } SERVICE :bkg { ?n :of ?m FILTER(?m > 2) } "
        "FILTER(?m > 3)"
    )
    assert [str(each) for each in plan(parse_query(registered(where))).thresholds] == ["?m > 3"]


def test_the_first_is_the_one_that_counts(registered):
    found = plan(parse_query(registered(f"{CLAUSES} FILTER(?n > 5 && ?m > 6)")))
    assert str(found.thresholds[0]) == "?n > 5"
    assert plan(parse_query(registered(CLAUSES))).thresholds == ()
