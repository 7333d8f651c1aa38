"""SPARQL results in XML, read element by element; a document with a DOCTYPE is refused."""

from typing import NoReturn
from xml.parsers import expat

from bestbefore.service.no_answer import NoAnswerError
from bestbefore.service.results.rows import RowCollector, Rows

_NAMESPACE = "http://www.w3.org/2005/sparql-results#"
_LANGUAGE = "http://www.w3.org/XML/1998/namespace lang"
_TERMS = frozenset({"uri", "literal", "bnode"})
_PARENTS = {
    "sparql": None,
    "head": "sparql",
    "variable": "head",
    "link": "head",
    "results": "sparql",
    "result": "results",
    "binding": "result",
    **dict.fromkeys(_TERMS, "binding"),
}
_ONCE = frozenset({"head", "results"})
_CHILDREN = {(parent, f"{_NAMESPACE} {name}"): name for name, parent in _PARENTS.items()}


class XmlReader:
    """A reader of `application/sparql-results+xml`; terms are handed on as JSON results have them.

    Without a document type there are no entities but the five of XML, so nothing is expanded and
    nothing outside of the reply is read.
    """

    def __init__(self, rows: RowCollector) -> None:
        self._rows = rows
        self._path: list[str] = []
        self._names: list[str] = []
        self._binding: dict[str, dict[str, str]] = {}
        self._bound = ""
        self._terms: list[dict[str, str]] = []
        self._text: list[str] = []
        self._met: set[str] = set()
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.buffer_text = True
        self._parser.StartDoctypeDeclHandler = self._refuse_doctype
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text.append

    def feed(self, data: bytes) -> None:
        """Read the next piece of the body."""
        self._parse(data, final=False)

    def close(self) -> Rows:
        """The rows, once the whole body has been fed."""
        self._parse(b"", final=True)
        if "results" not in self._met:
            raise NoAnswerError("the reply is no SPARQL XML result of a SELECT")
        return self._rows.finish()

    def _parse(self, data: bytes, *, final: bool) -> None:
        try:
            self._parser.Parse(data, final)
        except (expat.ExpatError, LookupError, ValueError):
            # The last two are about encodings that nobody has heard of.
            raise NoAnswerError("the reply was cut or is no XML") from None

    def _refuse_doctype(self, *_: object) -> NoReturn:
        raise NoAnswerError("the reply is XML with a DOCTYPE, which SPARQL results do not have")

    def _start(self, element: str, attributes: dict[str, str]) -> None:
        parent = self._path[-1] if self._path else None
        name = _CHILDREN.get((parent, element))
        if name is None:
            raise NoAnswerError("the reply is XML, but no SPARQL XML result of a SELECT")
        if name in _ONCE and name in self._met:
            raise NoAnswerError(f"the reply is XML with a <{name}> that comes twice")
        self._met.add(name)
        self._path.append(name)
        self._text.clear()
        if name in _TERMS:
            marks = _marks(attributes) if attributes else {}
            self._terms.append({"type": name, **marks})
        elif name == "binding":
            self._bound, self._terms = attributes.get("name", ""), []
        elif name == "result":
            self._binding = {}
        elif name == "variable":
            self._names.append(attributes.get("name", ""))

    def _end(self, _element: str) -> None:
        name = self._path.pop()
        if name in _TERMS:
            self._terms[-1]["value"] = "".join(self._text)
        elif name == "binding":
            self._bind()
        elif name == "result":
            self._rows.add(self._binding)
        elif name == "head":
            self._rows.name(self._names)
        self._text.clear()

    def _bind(self) -> None:
        if len(self._terms) != 1 or not self._bound or self._bound in self._binding:
            raise NoAnswerError(
                "the reply is XML with a result that has not one term for each name"
            )
        self._binding[self._bound] = self._terms[0]


def _marks(attributes: dict[str, str]) -> dict[str, str]:
    """The language and the datatype of a literal, by their names in JSON."""
    names = {"xml:lang": _LANGUAGE, "datatype": "datatype"}
    return {name: attributes[given] for name, given in names.items() if given in attributes}
