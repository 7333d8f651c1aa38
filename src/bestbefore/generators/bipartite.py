"""Random bipartite graphs: which unit serves which join key."""

import numpy as np

from bestbefore.arrays import Integers
from bestbefore.errors import InputError
from bestbefore.generators.limits import check_at_least
from bestbefore.generators.zipf import zipf_weights


def random_links(
    join_keys: int, units: int, *, edges: int, skew: float, rng: np.random.Generator
) -> tuple[Integers, Integers]:
    """The join key and the unit of every link, by their numbers; no link occurs twice.

    With the skew 0 every pair is as likely as any other; above it, the units' degrees follow
    Zipf's law with that exponent, as far as a unit has join keys enough.
    """
    check_links(join_keys, units, edges)
    if skew == 0:
        pairs = np.sort(rng.choice(join_keys * units, edges, replace=False))
        return pairs // units, pairs % units
    degree = rng.permutation(zipf_degrees(units, edges, most=join_keys, skew=skew))
    join_key = np.concatenate([rng.choice(join_keys, each, replace=False) for each in degree])
    unit = np.repeat(np.arange(units), degree)
    order = np.lexsort((unit, join_key))
    return join_key[order], unit[order]


def check_links(join_keys: int, units: int, edges: int) -> None:
    """There are at least one and at most all possible links."""
    check_at_least(1, join_keys=join_keys, units=units, edges=edges)
    if edges > join_keys * units:
        raise InputError(
            f"edges = {edges}: {join_keys} join keys and {units} units have at most "
            f"{join_keys * units} links"
        )


def zipf_degrees(units: int, edges: int, *, most: int, skew: float) -> Integers:
    """Degrees that add up to `edges`, largest first; what exceeds `most` goes to the others."""
    weights = zipf_weights(units, skew)
    degree = np.zeros(units)
    full = 0
    while full < units:
        share = (edges - full * most) * weights[full:] / weights[full:].sum()
        degree[:full], degree[full:] = most, np.minimum(share, most)
        if (now_full := int((degree >= most).sum())) == full:
            break
        full = now_full
    return _rounded(degree, edges)


def _rounded(degree: np.ndarray[tuple[int], np.dtype[np.float64]], edges: int) -> Integers:
    """Whole numbers with the wanted sum, by the largest remainders."""
    whole = np.floor(degree + 1e-9).astype(np.int64)
    largest = np.argsort(whole - degree, kind="stable")
    whole[largest[: edges - int(whole.sum())]] += 1
    return -np.sort(-whole)
