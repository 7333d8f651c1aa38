"""The rows of a view: their numbers hold until so many are new that all are kept anew."""

import numpy as np
import pytest

from bestbefore.view import UnitDefaults, view_of
from bestbefore.view.rows import Rows, table_of

A = "<http://e/a>"


@pytest.mark.parametrize("settled", [4, 8, 40])
def test_rows_are_to_be_kept_anew_when_those_appended_are_a_quarter(settled):
    rows = Rows(table_of(["v"], [(f'"{n}"',) for n in range(settled)]))
    seen = []
    for n in range(settled // 4):
        seen.append(rows.unsettled)
        assert rows.append([(f'"new {n}"',)]) == settled + n
    assert seen == [False] * (settled // 4)
    assert rows.unsettled
    rows.keep(np.arange(len(rows)))
    assert not rows.unsettled
    assert len(rows) == settled + settled // 4


def test_a_view_keeps_no_more_than_a_quarter_of_rows_that_nobody_sees():
    content = [(f"<http://e/{n}>", '"0"') for n in range(40)]
    view = view_of(content, ["k", "v"], ["k"], defaults=UnitDefaults(1_000))
    numbers = []
    for n in range(30):
        view.replace(np.array([n % 40]), [[(content[n % 40][0], f'"new {n}"')]])
        view.compact()
        numbers.append(int(view.row_numbers(np.arange(40))[1].max()))
    assert max(numbers) == 48
    assert numbers[9] == numbers[19] == numbers[29] == 39
