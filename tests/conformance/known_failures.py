"""Tests of the W3C that fail, with the reason; one that passes must leave this list."""

KNOWN_FAILURES = {
    ("syntax", "syntax-query/test_4"): (
        "a function that only its IRI names is refused when it is read"
    ),
    ("service", "service/service5"): (
        "SERVICE with a variable: data must not decide which host is called"
    ),
}


def check_known_failures(kind, tests):
    """Each must be a test that there is."""
    known = {name for each, name in KNOWN_FAILURES if each == kind}
    assert known <= {str(each) for each in tests}


def known_failure(kind, entry):
    """Why a test of this kind fails, or None if it must not."""
    return KNOWN_FAILURES.get((kind, str(entry)))
