"""What is packed comes back, in as few bytes as it needs."""

import numpy as np

from bestbefore.market.packing import pack, steps, unpack


def test_fields_and_columns_come_back():
    columns = {
        "small": np.array([1.0, 200.0, 3.0]),
        "large": np.array([0, 2**40]),
        "negative": np.array([-3, 4]),
        "shares": np.array([0.25, 1.0]),
        "none": np.zeros(0),
    }
    fields, found = unpack(pack({"names": "<http://e/ü>\n<b>", "n": 3}, columns))
    assert fields == {"names": "<http://e/ü>\n<b>", "n": 3}
    for name, column in columns.items():
        assert found[name].tolist() == column.tolist()
    assert found["small"].dtype == np.int64
    assert found["shares"].dtype == np.float64


def test_few_bytes():
    rising = np.cumsum(np.full(1_000, 3)) + 10**9
    assert len(pack({}, {"a": steps(rising)})) < 100
    assert np.cumsum(steps(rising)).tolist() == rising.tolist()
