"""SPARQL results in all three formats, and how they are read."""

import json
from xml.sax.saxutils import escape, quoteattr

import pytest

from bestbefore.service.results import Wanted, open_reader

VARIABLES = ("user", "count")
JSON, XML, TSV = (
    "application/sparql-results+json",
    "application/sparql-results+xml",
    "text/tab-separated-values",
)
ROW = {"user": {"type": "uri", "value": "http://e/a"}, "count": {"type": "literal", "value": "1"}}
ENCODED = ("<http://e/a>", '"1"')


def in_json(bindings, names=VARIABLES):
    return json.dumps({"head": {"vars": list(names)}, "results": {"bindings": bindings}})


def in_xml(bindings, names=VARIABLES):
    def term(each):
        marks = "".join(
            f" {name}={quoteattr(each[name])}" for name in ("xml:lang", "datatype") if name in each
        )
        return f"<{each['type']}{marks}>{escape(each['value'])}</{each['type']}>"

    head = "".join(f'<variable name="{name}"/>' for name in names)
    rows = "".join(
        "<result>"
        + "".join(f'<binding name="{name}">{term(row[name])}</binding>' for name in row)
        + "</result>\n"
        for row in bindings
    )
    return (
        '<?xml version="1.0"?><sparql xmlns="http://www.w3.org/2005/sparql-results#">'
        f"<head>{head}</head><results>{rows}</results></sparql>"
    )


def in_tsv(bindings, names=VARIABLES):
    def term(each):
        value = each["value"]
        for char, mark in (
            ("\\", "\\\\"),
            ("\t", "\\t"),
            ("\n", "\\n"),
            ("\r", "\\r"),
            ('"', '\\"'),
        ):
            value = value.replace(char, mark)
        match each["type"]:
            case "uri":
                return f"<{value}>"
            case "bnode":
                return f"_:{value}"
        if each.get("xml:lang"):
            return f'"{value}"@{each["xml:lang"]}'
        return f'"{value}"' + (f"^^<{each['datatype']}>" if "datatype" in each else "")

    lines = ["\t".join(term(row[n]) if n in row else "" for n in names) for row in bindings]
    return "".join(f"{line}\n" for line in ["\t".join(f"?{name}" for name in names), *lines])


FORMATS = {JSON: in_json, XML: in_xml, TSV: in_tsv}
formats = pytest.mark.parametrize("kind", FORMATS)


def read(body, kind=JSON, *, piece=7, max_rows=10_000, limit=None, variables=VARIABLES, **headers):
    data = body if isinstance(body, bytes) else body.encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    wanted = Wanted(variables, max_rows, limit)
    reader = open_reader({"content-type": f"{kind}; charset=utf-8", **named}, wanted)
    for at in range(0, len(data), piece):
        reader.feed(data[at : at + piece])
    return reader.close()
