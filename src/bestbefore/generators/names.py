"""Names of keys, units and events."""

import numpy as np

from bestbefore.arrays import Integers, Texts


def numbered(prefix: str, count: int) -> Texts:
    """`k1`, `k2`, … as many as wanted."""
    return np.array([f"{prefix}{number}" for number in range(1, count + 1)], dtype=np.object_)


def by_name(names: Texts, values: Integers) -> dict[str, int]:
    """The value of each name."""
    return dict(zip(names.tolist(), values.tolist(), strict=True))
