"""Laws of lookups: values go there and back, and never change what is around them."""

from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bestbefore.errors import InputError
from bestbefore.rdf.foreign_terms import NotATermError
from bestbefore.rdf.lexical_forms import LEXICAL_FORMS, has_lexical_form
from bestbefore.rdf.plain_values import ValueForm, WrittenNumber
from bestbefore.rdf.terms import XSD, decode
from bestbefore.service.json_pointer import MISSING, Pointer
from bestbefore.service.url_template import encoded, parse_url_template

TEXTS = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]))
FORMS = [
    ValueForm(),
    ValueForm(language="en"),
    ValueForm(iri="http://example.org/city/{}"),
    ValueForm(iri="http://example.org/{}/now?x#y"),
    ValueForm(datatype="http://example.org/type"),
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(TEXTS, st.sampled_from(FORMS))
def test_a_value_comes_back_from_its_term(text, form):
    assume(text or form.iri is None)
    term = form.encode(text)
    assert form.plain(term) == text
    decode(term)


@given(st.sampled_from(["/a/{k}/b", "/{k}", "/a?x={k}&y=1", "/a/x{k}y?q={k}"]), TEXTS)
def test_a_value_changes_nothing_of_a_url_but_its_own_place(place, text):
    template = parse_url_template(f"https://example.org:8080{place}")
    try:
        url = template.fill({"k": encoded(text)})
    except InputError:
        assert text in ("", ".", "..")
        return
    assert url.isascii()
    parts, plain = urlsplit(url), urlsplit(template.text.replace("{k}", "v"))
    assert (parts.scheme, parts.netloc, parts.fragment) == ("https", "example.org:8080", "")
    values = [plain.path.split("/"), parts.path.split("/")]
    assert [one.replace("v", text) for one in values[0]] == [unquote(one) for one in values[1]]
    queries = [parse_qsl(one.query, keep_blank_values=True) for one in (plain, parts)]
    assert [(name, value.replace("v", text)) for name, value in queries[0]] == queries[1]


@given(JSON, st.data())
def test_a_pointer_leads_to_what_is_there(document, data):
    value, steps = document, []
    while isinstance(value, dict | list) and value:
        step = data.draw(
            st.sampled_from(list(value) if isinstance(value, dict) else range(len(value)))
        )
        value = value[step]
        steps.append(str(step).replace("~", "~0").replace("/", "~1"))
    pointer = Pointer("".join(f"/{step}" for step in steps))
    assert pointer.resolve(document) is value or pointer.resolve(document) == value
    assert Pointer(f"{pointer.text}/nothing here").resolve(document) is MISSING


@given(st.text(), st.sampled_from([*LEXICAL_FORMS, f"{XSD}string"]))
def test_no_text_is_too_strange_for_a_datatype(text, datatype):
    assert has_lexical_form(text, datatype) in (True, False)


@pytest.mark.parametrize(
    ("value", "term"),
    [
        (True, '"true"^^<{}boolean>'),
        (2**70, f'"{2**70}"^^<{{}}integer>'),
        (0.1, '"0.1"^^<{}double>'),
        (float("-inf"), '"-INF"^^<{}double>'),
        (WrittenNumber("1.50"), '"1.50"^^<{}decimal>'),
        (WrittenNumber("1E400"), '"1E400"^^<{}double>'),
    ],
)
def test_numbers_keep_their_type(value, term):
    assert ValueForm().encode(value) == term.format(XSD)


@pytest.mark.parametrize("value", [None, b"x", [1], {}, object(), "\ud800"])
def test_what_is_no_value_is_no_term(value):
    with pytest.raises(NotATermError):
        ValueForm().encode(value)
    with pytest.raises(NotATermError):
        ValueForm(iri="http://example.org/{}").encode(value)
