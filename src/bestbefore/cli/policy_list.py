"""The list of policies that can be named."""

import sys

from bestbefore.maintenance import policy_names


def list_policies() -> None:
    """Print every policy's name and what it elects, one per line, separated by a tab."""
    for name, summary in policy_names().items():
        sys.stdout.write(f"{name}\t{summary}\n")
