"""Writes the parts of the documentation that follow from the code: the pages of `--help`."""

from pathlib import Path

from typer.main import get_command

from bestbefore.cli.main import app

TARGET = Path(__file__).parent.parent / "docs" / "cli.md"
_WIDTH = 100
_HEADING = """# Commands

Data goes to stdout, everything else to stderr. Exit codes: 0 good, 1 the work failed, 2 the input
is wrong. This page is written by `make docs`.
"""


def command_page() -> str:
    """The help of every command as Markdown."""
    command = get_command(app)
    names = sorted(command.commands)  # type: ignore[attr-defined]
    parts = [_HEADING]
    for name in names:
        each = command.commands[name]  # type: ignore[attr-defined]
        context = each.make_context(
            name,
            [],
            parent=None,
            resilient_parsing=True,
            terminal_width=_WIDTH,
            max_content_width=_WIDTH,
        )
        text = each.get_help(context).replace(f"Usage: {name}", f"Usage: bestbefore {name}")
        parts.append(f"## bestbefore {name}\n\n```\n{text.strip()}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    TARGET.write_text(command_page(), encoding="utf-8")
