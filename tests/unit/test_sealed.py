import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bestbefore.errors import DamagedState, StateError
from bestbefore.sealed import check_format, seal, unseal

FIELDS = {"format": 3, "text": 'ü "quoted" {', "list": [1, None, {"a": 2.5}]}


def test_what_is_sealed_is_plain_json_and_comes_back():
    content = seal(FIELDS)
    assert unseal(content, "it") == FIELDS
    assert json.loads(content).items() >= FIELDS.items()


@given(st.integers(0, 10_000), st.integers(1, 255))
def test_any_altered_byte_and_any_cut_is_noticed(place, change):
    content = seal(FIELDS)
    place %= len(content)
    altered = content[:place] + bytes([content[place] ^ change]) + content[place + 1 :]
    for damaged in (altered, content[:place], content + b" "):
        with pytest.raises(DamagedState, match=r"^dir/it is (damaged|empty): do this"):
            unseal(damaged, "dir/it", "do this")


def test_another_format_is_told_before_damage():
    with pytest.raises(
        StateError, match="it has format 3, this version reads 2: upgrade best.*or x"
    ):
        check_format(seal(FIELDS), 2, "it", "x")
    with pytest.raises(
        StateError, match="it has format 3, this version reads 4: finish with an ol"
    ):
        check_format(json.dumps(FIELDS).encode(), 4, "it", "x")
    for content in (seal(FIELDS), b"", b"[]", b"\xff", b'{"format": "3"}', b'{"a": 1}'):
        check_format(content, 3, "it", "x")
