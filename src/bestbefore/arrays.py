"""Names for the arrays that columns are made of."""

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Numbers = NDArray[np.float64]
Booleans = NDArray[np.bool_]
Texts = NDArray[np.object_]
Scores = Numbers
"""What a ranker gives: a number per candidate, the highest are elected."""
