"""Where the commands write what is not data."""

from rich.console import Console

stderr = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
