"""Hidden variables in text: spelled so that any SPARQL engine reads them and no one writes them.

The variable `.p1` is spelled `?_·p1`: a middle dot may stand inside the name of a variable.
"""

_SPELLED = "_\u00b7"


def read_name(text: str) -> str:
    """The name of a variable whose text is given without its question mark."""
    return f".{text.removeprefix(_SPELLED)}" if text.startswith(_SPELLED) else text


def spell_name(name: str) -> str:
    """The text of a variable without its question mark."""
    return f"{_SPELLED}{name[1:]}" if name.startswith(".") else name
