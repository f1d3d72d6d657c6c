"""The counters of a time, from the store: sums of minutes, or of hours where the minutes are no longer kept.

Errors and discards are left out: the store adds up both directions, which questions distinguish.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from truerail.analysis.counters.quantities import Quantity
from truerail.analysis.counters.ring import Samples
from truerail.analysis.counters.series import Key, SourceView, Spelled
from truerail.analysis.counters.window import CounterView
from truerail.history.history_tables import COUNTERS_HOURS, COUNTERS_MINUTES, HistoryTable
from truerail.history.planned_ports import PAUSED, SINGLE, hour_of
from truerail.history.store_folder import StoreFolder, files_of, read_files
from truerail.model.columns import Codes, factorize

if TYPE_CHECKING:
    import pyarrow as pa

MINUTES, HOURS = 30, 3
"""Samples before the time: as many as the service's window has, and the fewest that make a rate."""
_FRAMES = {"pause_received_frames": Quantity.RX_PAUSE_FRAMES, "pause_sent_frames": Quantity.TX_PAUSE_FRAMES}
_QUANTITIES = {name: (one, 1.0) for name, one in (SINGLE | _FRAMES).items()}
_QUANTITIES |= {name: (one, 1e6) for name, one in PAUSED.items()}
"""Columns as quantities, and what a column is multiplied by."""


@dataclass(frozen=True)
class PastCounters:
    """Counters up to a time, each sample of so many seconds."""

    counters: CounterView
    bucket_seconds: int


def counters_at(folder: StoreFolder, at: datetime) -> PastCounters | None:
    """The counters of the last samples that ended at a time or before; of that time's hour, where no minutes are kept.
    None where the store has nothing.
    """
    minute = at.replace(second=0, microsecond=0)
    found = _rows(folder, COUNTERS_MINUTES, minute - timedelta(minutes=MINUTES), minute)
    if found is not None:
        return PastCounters(found, COUNTERS_MINUTES.bucket_seconds)
    next_hour = hour_of(at) + timedelta(hours=1)
    found = _rows(folder, COUNTERS_HOURS, next_hour - timedelta(hours=HOURS), next_hour)
    return None if found is None else PastCounters(found, COUNTERS_HOURS.bucket_seconds)


def _rows(folder: StoreFolder, table: HistoryTable, since: datetime, until: datetime) -> CounterView | None:
    import pyarrow.compute as pc

    within = (pc.field("bucket") >= since) & (pc.field("bucket") < until)
    columns = ["bucket", "device", "port", "seconds", *_QUANTITIES]
    rows = read_files(table, files_of(folder, table, since, until).readable, columns, within)
    step = timedelta(seconds=table.bucket_seconds)
    overdue = step if table is COUNTERS_MINUTES else timedelta(0)  # a port may be read once a minute
    recent = len(rows) and pc.max(rows["bucket"]).as_py() >= until - step - overdue
    return _view(rows, since, table.bucket_seconds, round((until - since).total_seconds())) if recent else None


def _view(rows: "pa.Table", since: datetime, step: int, seconds: int) -> CounterView:
    samples = seconds // step
    ports, row = _ports(rows)
    start = rows["bucket"].to_numpy().astype("datetime64[s]").astype(np.int64)
    sample = (start - round(since.timestamp())) // step
    spread = _Spread(len(ports), samples, row, sample)
    begun = since.timestamp() + step * np.arange(1, samples + 1, dtype=np.float64)
    series: dict[Key, Samples] = {
        (quantity, None): spread.of(rows[name], scale) for name, (quantity, scale) in _QUANTITIES.items()
    }
    source = SourceView(
        ports=ports,
        spelled=_spelled(ports),
        series=MappingProxyType(series),
        span=spread.of(rows["seconds"], 1.0),
        pace=float(step),
        full=MappingProxyType({}),
    )
    return CounterView(float(step), begun, samples - 1, MappingProxyType({"history": source}))


@dataclass(frozen=True)
class _Spread:
    """Places values of rows into an array of ports by samples."""

    ports: int
    samples: int
    row: Codes
    sample: Codes

    def of(self, values: "pa.ChunkedArray", scale: float) -> Samples:
        """NaN without data."""
        found = np.full((self.ports, self.samples), np.nan, dtype=np.float32)
        found[self.row, self.sample] = values.to_numpy() * scale
        return Samples.in_table(found)


def _ports(rows: "pa.Table") -> tuple[list[tuple[str, str]], Codes]:
    """The ports, and the number of each row's port."""
    pairs = zip(rows["device"].to_pylist(), rows["port"].to_pylist(), strict=True)
    row, ports = factorize(pairs)
    return ports, row


def _spelled(ports: list[tuple[str, str]]) -> Spelled:
    (device, devices), (name, names) = (factorize(port[end] for port in ports) for end in (0, 1))
    return Spelled(tuple(devices), device, tuple(names), name)
