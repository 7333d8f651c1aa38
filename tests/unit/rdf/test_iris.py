"""Relative references: RFC 3986 section 5.4, and what RDF makes of the rest."""

import pyoxigraph
import pytest

from bestbefore.rdf.iris import is_absolute_iri, resolve_iri

BASE = "http://a/b/c/d;p?q"
# fmt: off
NORMAL = {
    "g:h": "g:h", "g": "http://a/b/c/g", "./g": "http://a/b/c/g", "g/": "http://a/b/c/g/",
    "/g": "http://a/g", "//g": "http://g", "?y": "http://a/b/c/d;p?y", "g?y": "http://a/b/c/g?y",
    "#s": "http://a/b/c/d;p?q#s", "g#s": "http://a/b/c/g#s", "g?y#s": "http://a/b/c/g?y#s",
    ";x": "http://a/b/c/;x", "g;x": "http://a/b/c/g;x", "g;x?y#s": "http://a/b/c/g;x?y#s",
    "": "http://a/b/c/d;p?q", ".": "http://a/b/c/", "./": "http://a/b/c/", "..": "http://a/b/",
    "../": "http://a/b/", "../g": "http://a/b/g", "../..": "http://a/", "../../": "http://a/",
    "../../g": "http://a/g",
}
ABNORMAL = {
    "../../../g": "http://a/g", "../../../../g": "http://a/g", "/./g": "http://a/g",
    "/../g": "http://a/g", "g.": "http://a/b/c/g.", ".g": "http://a/b/c/.g",
    "g..": "http://a/b/c/g..", "..g": "http://a/b/c/..g", "./../g": "http://a/b/g",
    "./g/.": "http://a/b/c/g/", "g/./h": "http://a/b/c/g/h", "g/../h": "http://a/b/c/h",
    "g;x=1/./y": "http://a/b/c/g;x=1/y", "g;x=1/../y": "http://a/b/c/y",
    "g?y/./x": "http://a/b/c/g?y/./x", "g?y/../x": "http://a/b/c/g?y/../x",
    "g#s/./x": "http://a/b/c/g#s/./x", "g#s/../x": "http://a/b/c/g#s/../x", "http:g": "http:g",
}
# fmt: on


@pytest.mark.parametrize(("reference", "iri"), [*NORMAL.items(), *ABNORMAL.items()])
def test_the_examples_of_rfc_3986(reference, iri):
    assert resolve_iri(reference, BASE) == iri


OTHERS = [
    ("http://example.org/x/", "#", "http://example.org/x/#"),
    ("http://example.org/x/", "?", "http://example.org/x/?"),
    ("http://example.org/x?y", "?", "http://example.org/x?"),
    ("http://example.org/x?y", "#", "http://example.org/x?y#"),
    ("http://example.org/x#f", "", "http://example.org/x"),
    ("http://example.org/x?y#f", "#g", "http://example.org/x?y#g"),
    ("http://example.org", "g", "http://example.org/g"),
    ("http://example.org?y", "", "http://example.org?y"),
    ("http://example.org", "//h?#", "http://h?#"),
    ("urn:x:y", "#z", "urn:x:y#z"),
    ("urn:x:y", "", "urn:x:y"),
    ("tag:", "#z", "tag:#z"),
    ("tag:a@b,2000:c", "?q", "tag:a@b,2000:c?q"),
    ("file:///a/b", "c", "file:///a/c"),
    ("http://e/a", "http://e/b/../c", "http://e/b/../c"),
]


@pytest.mark.parametrize(("base", "reference", "iri"), OTHERS)
def test_other_bases(base, reference, iri):
    assert resolve_iri(reference, base) == iri


@pytest.mark.parametrize(
    ("base", "reference"),
    [(BASE, each) for each in (*NORMAL, *ABNORMAL)] + [(base, each) for base, each, _ in OTHERS],
)
def test_queries_and_data_mean_the_same_iri(base, reference):
    text = f"<urn:s> <urn:p> <{reference}> ."
    (triple,) = pyoxigraph.parse(text, format=pyoxigraph.RdfFormat.TURTLE, base_iri=base)
    assert triple.object.value == resolve_iri(reference, base)


def test_a_path_that_comes_to_begin_with_two_slashes_becomes_no_authority():
    assert resolve_iri("/.//g", "urn:a") == "urn:/.//g"


def test_absolute_iris():
    assert is_absolute_iri("urn:x")
    assert not is_absolute_iri("x")
    assert not is_absolute_iri("http://e/a b")
