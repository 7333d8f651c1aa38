"""Snapshots of a local view: the whole view as two Parquet tables."""

import io
import json
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from bestbefore.arrays import Integers, Numbers
from bestbefore.errors import DamagedState, StateError
from bestbefore.storage import Storage
from bestbefore.view import ChangeRates, LocalView, UnitDefaults
from bestbefore.view.local_view import NO_DEFAULTS
from bestbefore.view.units import COLUMNS, Units

_RATES, _POPULATION, _WATCHED, _ROWS = "rates", "population", "watched", 65_536


def save_snapshot(view: LocalView, storage: Storage, name: str) -> None:
    """Write the view under a name that nothing refers to yet."""
    view.compact(fully=True)
    _, numbers = view.row_numbers(np.arange(len(view)))
    counts = view.units.row_count
    columns = {name: getattr(view.units, name) for name in COLUMNS}
    columns["row_start"] = np.cumsum(counts) - counts
    keys = pa.array(chain.from_iterable(view.keys), pa.string(), size=len(view) * len(view.key))
    columns["key"] = _lists(keys, np.full(len(view), len(view.key)))
    rates = view.units.rates
    if rates is not None:
        seen = (rates.likelihood != 1).any(axis=1)
        known = rates.learned(seen)
        columns[_RATES] = _lists(known.ravel(), seen * known.shape[1])
    units = pa.table(columns)
    named = {"key": "\t".join(view.key), "join_key": "\t".join(view.join_key)}
    named[_WATCHED] = str(view.units.watched)
    if rates is not None:
        named[_POPULATION] = json.dumps(rates.population)
    units = units.replace_schema_metadata(named)
    storage.write(f"view/{name}/units.parquet", _parquet(units))
    storage.write(f"view/{name}/rows.parquet", _parquet(view.columns(numbers)))
    view.refreshes = 0


def load_snapshot(
    storage: Storage,
    name: str,
    defaults: UnitDefaults = NO_DEFAULTS,
    rates: ChangeRates | None = None,
) -> LocalView:
    """Read a view back; `defaults` are for the units that it gets to know from now on.

    `rates` without any unit are filled with what the snapshot knows of the units' rates.
    """
    file, rows = (_open(storage, f"view/{name}/{part}.parquet") for part in ("units", "rows"))
    units = file.read([column for column in file.schema_arrow.names if column != _RATES])
    named = units.schema.metadata or {}
    if _WATCHED.encode() not in named or not set(COLUMNS) <= set(units.column_names):
        raise StateError(
            f"the view in the checkpoint {storage.root} was written by an older version: "
            "use another checkpoint.path, or remove that folder to start anew"
        )
    if rates is not None:
        rates.extend(len(units))
        _fill(rates, file)
        if (kept := json.loads(named.get(_POPULATION.encode(), b"null"))) is not None:
            rates.restore_population(kept)
    key = named[b"key"].decode().split("\t")
    terms = iter(units["key"].combine_chunks().flatten().to_pylist())
    columns = {name: units[name].to_numpy().copy() for name in COLUMNS}
    return LocalView(
        key,
        list(zip(*[terms] * len(key), strict=True)),
        units=Units(**columns, rates=rates, watched=int(named[_WATCHED.encode()])),
        rows=rows.read().replace_schema_metadata(None),
        join_key=named[b"join_key"].decode().split("\t"),
        defaults=defaults,
    )


def _lists(values: pa.Array | Numbers, lengths: Integers) -> pa.Array:
    """Lists of some lengths, one after the other out of values."""
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(values))


def _fill(rates: ChangeRates, file: pq.ParquetFile) -> None:
    """Read what is known of rates, some units at a time: in all it is larger than the rest."""
    if _RATES not in file.schema_arrow.names:
        return
    first = 0
    for batch in file.iter_batches(_ROWS, columns=[_RATES]):
        (lists,) = batch.columns
        known = np.flatnonzero(pc.list_value_length(lists).to_numpy())
        if len(known):
            rates.restore(first + known, lists.flatten().to_numpy().reshape(len(known), -1))
        first += len(lists)


def _parquet(table: pa.Table) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out, row_group_size=_ROWS)
    return out.getvalue()


def _open(storage: Storage, name: str) -> pq.ParquetFile:
    content = storage.read(name)
    where = f"{storage.root}/{name}"
    if content is None:
        raise DamagedState(f"{where} is missing: restore it, or use another checkpoint.path")
    try:
        return pq.ParquetFile(io.BytesIO(content))
    except pa.ArrowInvalid:
        way_out = "restore it, or use another checkpoint.path"
        raise DamagedState(f"{where} is damaged: {way_out}") from None
