import pytest

from bestbefore.errors import InputError
from bestbefore.spark.static_graphs import read_graphs

PEOPLE = "http://example.org/folder/people"


def triples(path):
    tables = read_graphs([PEOPLE], [], {PEOPLE: path})
    return [tuple(row.values()) for row in tables.default.to_pylist()]


def test_relative_iris_are_relative_to_the_graph_s_own(tmp_path):
    file = tmp_path / "people.ttl"
    file.write_text("<u1> <#team> <> .")
    home = "http://example.org/folder"
    assert triples(file) == [(f"<{home}/u1>", f"<{home}/people#team>", f"<{home}/people>")]
    file.write_text("@base <http://e/x/> . <u1> <#team> <> .")
    assert triples(file) == [("<http://e/x/u1>", "<http://e/x/#team>", "<http://e/x/>")]


def test_other_formats_have_the_same_base(tmp_path):
    file = tmp_path / "people.jsonld"
    file.write_text('{"@id": "u1", "http://e/knows": {"@id": "u2"}}')
    home = "http://example.org/folder"
    assert triples(file) == [(f"<{home}/u1>", "<http://e/knows>", f"<{home}/u2>")]


def test_mistakes_name_the_file(tmp_path):
    with pytest.raises(InputError, match="no such file: .*none.ttl"):
        triples(tmp_path / "none.ttl")
    (tmp_path / "people.csv").write_text("")
    with pytest.raises(InputError, match="people.csv: unknown RDF format '.csv'; use .ttl"):
        triples(tmp_path / "people.csv")
    (tmp_path / "people.nt").write_text("<u1> <p> <o> .")
    with pytest.raises(InputError, match="people.nt: not N-Triples"):
        triples(tmp_path / "people.nt")
