"""A stream beside the others that names changed units, in the engine."""

import os

from tests.spark.conftest import EX


def test_a_named_unit_is_refreshed_next_and_a_restart_forgets_none(bench, service):
    changes = bench.folder / "changes"
    changes.mkdir()
    section = {"path": "changes", "format": "csv", "columns": ["at", "user"], "timestamp": "at",
               "subject": f"{EX}u{{user}}"}  # fmt: skip
    services = {"bkg": {"endpoint": "http://127.0.0.1:9/none", "changes": section}}

    def job():
        return bench.job(services=services, budget={"refreshes": 1}, policy={"name": "EFG"})

    def name_changed(*users):
        file = changes / f"{len(list(changes.iterdir()))}.csv"
        file.write_text("at,user\n" + "".join(f"5000,{user}\n" for user in users) + "x,\n")
        os.utime(file, (1_000_000_000 + bench.files,) * 2)

    bench.mention(*((1_000 + user, user) for user in range(8)), (5_500, 1), (11_000, 2))
    name_changed()
    bench.run(job(), service)
    assert len(bench.reports) == 2
    # It comes when nothing is due, and the run ends.
    service.followers[f"<{EX}u6>"] = 7
    name_changed(6, 99)
    bench.mention((11_500, 6))
    bench.run(job(), service)
    service.asked.clear()
    bench.mention((16_000, 3))
    bench.run(job(), service)
    assert service.asked == [[(f"<{EX}u6>",)]]
    assert (f"{EX}u6", "7") in bench.rows()[3]
    assert bench.reports[-1].changed == 1
    assert len(bench.quarantine()) == 2
