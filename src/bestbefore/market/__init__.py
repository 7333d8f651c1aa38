"""Freshness of a cached store: summaries, estimates, and what to refresh (thesis, chapter 3).

Importing the package registers every summary that it holds.
"""

from bestbefore.market.apf import APF
from bestbefore.market.boxes import Boxes
from bestbefore.market.characteristic_sets import CharacteristicSets
from bestbefore.market.estimates import Estimate
from bestbefore.market.histogram import FreshnessHistogram, Grid, SimilarityHistogram
from bestbefore.market.joins import check_answerable, estimate, pattern_estimate
from bestbefore.market.live import viewed_triples
from bestbefore.market.pairs import Pairs
from bestbefore.market.planning import (
    Plan,
    View,
    check_wanted,
    make_plan,
    predicate_views,
    view_of,
)
from bestbefore.market.qtree import QTreeBuilder
from bestbefore.market.shapes import Part, Shape, Star, read_shape, stars_of
from bestbefore.market.spm import SPM
from bestbefore.market.store import affected, check_paths, flagged, read_store
from bestbefore.market.summary import (
    CannotAnswer,
    Summary,
    build_summaries,
    default_names,
    load_summaries,
    pack_summary,
    resolve_summaries,
    save_summaries,
    summaries,
)
from bestbefore.market.truth import true_estimate, true_star_estimates

# fmt: off
__all__ = [
    "APF", "SPM", "Boxes", "CannotAnswer", "CharacteristicSets", "Estimate", "FreshnessHistogram",
    "Grid", "Pairs", "Part", "Plan", "QTreeBuilder", "Shape", "SimilarityHistogram", "Star",
    "Summary", "View", "affected", "build_summaries", "check_answerable", "check_paths",
    "check_wanted", "default_names", "estimate", "flagged", "load_summaries", "make_plan",
    "pack_summary", "pattern_estimate", "predicate_views", "read_shape", "read_store",
    "resolve_summaries", "save_summaries", "stars_of", "summaries", "true_estimate",
    "true_star_estimates", "view_of", "viewed_triples",
]
# fmt: on
