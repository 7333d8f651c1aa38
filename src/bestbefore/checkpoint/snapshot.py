"""Snapshots of a local view: the whole view as two Parquet tables."""

import io
from dataclasses import fields

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bestbefore.errors import StateError
from bestbefore.storage import Storage
from bestbefore.view import ChangeRates, LocalView, UnitDefaults
from bestbefore.view.local_view import NO_DEFAULTS
from bestbefore.view.units import Units

_RATES = "rates"


def save_snapshot(view: LocalView, storage: Storage, name: str) -> None:
    """Write the view under a name that nothing refers to yet."""
    view.compact()
    _, numbers = view.row_numbers(np.arange(len(view)))
    counts = view.units.row_count
    columns = {column.name: getattr(view.units, column.name) for column in fields(Units)}
    columns["row_start"] = np.cumsum(counts) - counts
    keys = pa.array([list(key) for key in view.keys], pa.list_(pa.string()))
    units = pa.table({"key": keys, **columns})
    if view.rates is not None:
        units = units.append_column(
            _RATES, pa.array(list(view.rates.log_weight), pa.list_(pa.float64()))
        )
    named = {"key": "\t".join(view.key), "join_key": "\t".join(view.join_key)}
    units = units.replace_schema_metadata(named)
    storage.write(f"view/{name}/units.parquet", _parquet(units))
    storage.write(f"view/{name}/rows.parquet", _parquet(view.columns(numbers)))


def load_snapshot(
    storage: Storage,
    name: str,
    defaults: UnitDefaults = NO_DEFAULTS,
    rates: ChangeRates | None = None,
) -> LocalView:
    """Read a view back; `defaults` are for the units that it gets to know from now on.

    `rates` without any unit are filled with what the snapshot knows of the units' rates.
    """
    units, rows = (_read(storage, f"view/{name}/{part}.parquet") for part in ("units", "rows"))
    named = units.schema.metadata or {}
    columns = {column.name for column in fields(Units)}
    if b"join_key" not in named or not columns <= set(units.column_names):
        raise StateError(
            f"the view in the checkpoint {storage.root} was written by an older version: "
            "use another checkpoint.path, or remove that folder to start anew"
        )
    if rates is not None:
        rates.extend(len(units))
        if _RATES in units.column_names:
            flat = units[_RATES].combine_chunks().flatten().to_numpy(zero_copy_only=False)
            rates.log_weight[:] = flat.reshape(rates.log_weight.shape)
    view = LocalView(
        named[b"key"].decode().split("\t"),
        [tuple(key) for key in units["key"].to_pylist()],
        units=Units(**{name: units[name].to_numpy().copy() for name in columns}),
        rows=rows.replace_schema_metadata(None),
        join_key=named[b"join_key"].decode().split("\t"),
        defaults=defaults,
    )
    view.rates = rates
    return view


def _parquet(table: pa.Table) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


def _read(storage: Storage, name: str) -> pa.Table:
    content = storage.read(name)
    if content is None:
        raise StateError(f"the checkpoint {storage.root} lacks {name}; start with an empty one")
    return pq.read_table(io.BytesIO(content))
