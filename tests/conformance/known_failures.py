"""Tests of the W3C that fail, by IRI, with the reason; one that passes must leave this list."""

KNOWN_FAILURES: dict[str, str] = {}
