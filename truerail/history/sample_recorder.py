"""Takes samples from publications: minutes of counters, their hours, the hourly extremes of optics, and rounds."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from truerail.analysis.cabling import Wiring
from truerail.analysis.optics_lanes import lanes_of
from truerail.analysis.published import Published
from truerail.history.arrow_tables import arrow, arrow_schema, from_columns, from_rows, joined, times
from truerail.history.episode_recorder import Append, Values
from truerail.history.history_tables import COUNTERS_HOURS, COUNTERS_MINUTES, LIGHTS, ROUNDS, HistoryTable, Type
from truerail.history.planned_ports import PORT_COLUMNS, PlannedPorts, complete_minutes, hour_of, minute_columns
from truerail.history.store_folder import StoreFolder, fault_of, files_of, read_files
from truerail.model.columns import Codes
from truerail.model.facts import BitErrorRate, Optic
from truerail.model.history import RoundRecord

if TYPE_CHECKING:
    import pyarrow as pa

# ----------------------------------------------------------------------------------------------------------------------
# The extremes of optics in the current hour, per planned port.

Numbers = npt.NDArray[np.float64]
LEAST = ("rx_power_dbm_min", "tx_power_dbm_min")
MOST = ("temperature_celsius_max", "pre_fec_ber_max")


class HourlyLight:
    """Extremes since the begin of an hour, shapes (planned ports,); NaN is not reported."""

    def __init__(self, hour: datetime, ports: PlannedPorts) -> None:
        self.hour, self.ports = hour, ports
        self.columns = {name: np.full(ports.index.planned_ports, np.nan) for name in (*LEAST, *MOST)}

    def add(self, wiring: Wiring) -> None:
        """Takes in what a round reports."""
        lanes = lanes_of(wiring)
        for name, values in (("rx_power_dbm_min", lanes.rx), ("tx_power_dbm_min", lanes.tx)):
            np.fmin.at(self.columns[name], lanes.port, values)
        np.fmax.at(self.columns["temperature_celsius_max"], lanes.port, lanes.celsius)
        ports, rates = _error_rates(wiring)
        np.fmax.at(self.columns["pre_fec_ber_max"], ports, rates)

    def restore(self, rows: "pa.Table") -> None:
        """Takes in what was written before a restart."""
        index = self.ports.index
        code = np.array([index.devices.find(name) for name in rows["device"].to_pylist()], dtype=np.int64)
        port = index.find(code, rows["port"].to_pylist())
        planned = (port >= 0) & (port < index.planned_ports)
        for names, extreme in ((LEAST, np.fmin), (MOST, np.fmax)):
            for name in names:
                values = rows[name].to_numpy().astype(np.float64)
                extreme.at(self.columns[name], port[planned], values[planned])

    def rows(self) -> "pa.Table":
        """A row for each port with any value."""
        known = np.flatnonzero(np.logical_not(np.isnan(np.stack(list(self.columns.values()))).all(axis=0)))
        columns: dict[str, Any] = {name: values[known] for name, values in self.columns.items()}
        return from_columns(LIGHTS, {"bucket": times(self.hour, len(known)), **self.ports.columns(known), **columns})


def _error_rates(wiring: Wiring) -> tuple[Codes, Numbers]:
    """Planned ports, and the error rates that they report."""
    table = wiring.seen.table(BitErrorRate)
    if not len(table):
        return np.empty(0, dtype=np.int64), np.empty(0)
    names = wiring.index.ports.name_codes(table.column("port"))
    port = wiring.identity.local_ports(wiring.identity.devices_of(table), names)
    rate = table.column("before_fec").astype(np.float64)
    use = (port >= 0) & (port < wiring.index.planned_ports) & ~np.isnan(rate)
    return port[use], rate[use]


# ----------------------------------------------------------------------------------------------------------------------
# Takes samples from publications: minutes of counters, their hours, the hourly extremes of optics, and rounds.

MOST_ROWS = 500_000
"""Rows of minutes that wait for the disk, about 100 MB: the oldest minutes are dropped beyond this."""
MOST_ROUNDS = 20_000
STEPPED_BACK_SECONDS = 600.0
"""A clock set back by more than this: minutes are recorded again from there on."""


class SampleRecorder:
    """Samples that are not written yet."""

    def __init__(self, folder: StoreFolder) -> None:
        self._folder = folder
        self.lost_minutes = 0
        """Minutes of counters that were dropped because they could not be written."""
        self._minute = 0.0
        """The start of the last recorded minute, in Unix seconds."""
        self._minutes: list[pa.Table] = []
        self._rounds: list[Values] = []
        self._light: HourlyLight | None = None
        self._former_light: list[pa.Table] = []
        self._light_read_at = 0.0
        self._light_changed = False

    @property
    def waiting_rows(self) -> int:
        """Rows of minutes that are not written yet."""
        return sum(map(len, self._minutes))

    def resume(self) -> None:
        """Continues after the last minute in the store. Raises OSError."""
        last = newest(self._folder, COUNTERS_MINUTES)
        self._minute = last.timestamp() if last else 0.0

    def observe(self, publication: Published, ports: PlannedPorts, records: Sequence[RoundRecord]) -> bool:
        """Takes in a publication; returns whether its modules were read since the last one."""
        self._count(publication, ports)
        self._rounds += map(round_row, records)
        del self._rounds[:-MOST_ROUNDS]
        return self._look(publication, ports)

    def flush(self, append: Append) -> None:
        """Writes everything that waits. Raises OSError; the rest stays for the next time."""
        if self._rounds:
            append(ROUNDS, from_rows(ROUNDS, self._rounds))
            self._rounds.clear()
        if self._minutes:
            append(COUNTERS_MINUTES, joined(self._minutes))
            self._minutes.clear()
        self._flush_light(append)
        for hour in due_hours(self._folder, datetime.fromtimestamp(self._minute, UTC)):
            append(COUNTERS_HOURS, hour_rows(self._folder, hour))

    def _count(self, publication: Published, ports: PlannedPorts) -> None:
        telemetry = publication.round.telemetry
        counters = telemetry.counters
        if counters is None or not len(counters.order):
            return
        if counters.begun[counters.head] < self._minute - STEPPED_BACK_SECONDS:
            self._minute = 0.0
        for start, samples in complete_minutes(counters, self._minute):
            self._minute = start
            known, columns = minute_columns(telemetry, samples)
            if len(known):
                at = times(datetime.fromtimestamp(start, UTC), len(known))
                self._minutes.append(from_columns(COUNTERS_MINUTES, {"bucket": at, **ports.columns(known), **columns}))
        while len(self._minutes) > 1 and self.waiting_rows > MOST_ROWS:
            del self._minutes[0]
            self.lost_minutes += 1

    def _look(self, publication: Published, ports: PlannedPorts) -> bool:
        """Takes in light, temperatures and error rates, if modules were read since the last time."""
        hour = hour_of(publication.at)
        if self._light is None or self._light.hour != hour or self._light.ports is not ports:
            self._light = self._next_light(hour, ports)
        read_at = _light_read_at(publication)
        if read_at == self._light_read_at:
            return False
        self._light_read_at, self._light_changed = read_at, True
        self._light.add(publication.wiring)
        return True

    def _next_light(self, hour: datetime, ports: PlannedPorts) -> HourlyLight:
        """Begins an hour, or continues it: after a restart, or with other ports."""
        light = HourlyLight(hour, ports)
        rows = self._written_light() if self._light is None else self._light.rows()
        if len(rows) and rows["bucket"][0].as_py() == hour:
            light.restore(rows)
        elif len(rows):
            self._former_light.append(rows)
            self._light_changed = True
        return light

    def _written_light(self) -> "pa.Table":
        path = self._folder.open_file(LIGHTS)
        return read_files(LIGHTS, [path] if path.exists() and not fault_of(path, LIGHTS) else [])

    def _flush_light(self, append: Append) -> None:
        if self._light is None or not self._light_changed:
            return
        while self._former_light:
            append(LIGHTS, self._former_light[0])
            del self._former_light[0]
        self._folder.replace_open(LIGHTS, self._light.rows())
        self._light_changed = False


def round_row(record: RoundRecord) -> dict[str, Any]:
    """A round in numbers."""
    row = asdict(record)
    severities = {f"findings_{word}": record.findings.get(word) for word in ("critical", "warning", "info")}
    return {name: row.get(name) for name in ROUNDS.names} | {"answered": record.at} | severities


def _light_read_at(publication: Published) -> float:
    """When the newest answer about modules was created; 0 without one."""
    readings = publication.snapshot.readings
    light = (one for one in readings if one.facts and isinstance(one.facts[0], Optic | BitErrorRate))
    return max((one.read_at or one.at.timestamp() for one in light), default=0.0)


# ----------------------------------------------------------------------------------------------------------------------
# Hours from minutes: sums of each port's minutes, read from the store itself, so that a restart changes nothing.

HOUR = timedelta(hours=1)
_SPEED = "speed_bits_per_second"
_SUMMED = tuple(one.name for one in COUNTERS_HOURS.fields if one.type is Type.NUMBER and one.name != _SPEED)


def newest(folder: StoreFolder, table: HistoryTable) -> datetime | None:
    """The newest time of a table of samples, from the ends of its files; None for an empty table."""
    for day in reversed(folder.days(table)):
        paths = files_of(folder, table, *_day(day)).readable
        times = [found for path in paths if (found := _times(path)) is not None]
        if times:
            return max(last for _, last in times)
    return None


def due_hours(folder: StoreFolder, until: datetime) -> list[datetime]:
    """The hours that ended at `until` or before, have minutes, and are not in the store."""
    written = newest(folder, COUNTERS_HOURS)
    paths = files_of(folder, COUNTERS_MINUTES, written, until).readable
    spans = [found for path in paths if (found := _times(path)) is not None]
    hours = {hour for first, last in spans for hour in _hours(first, last)}
    return sorted(hour for hour in hours if hour + HOUR <= until and (written is None or hour > written))


def hour_rows(folder: StoreFolder, hour: datetime) -> "pa.Table":
    """The rows of an hour. Reads the minutes file by file: memory for one file and for the hour's ports."""
    import pyarrow.compute as pc

    total = arrow_schema(COUNTERS_MINUTES).empty_table()
    for path in files_of(folder, COUNTERS_MINUTES, hour, hour + HOUR).readable:
        span = _times(path)
        if span is None or span[1] < hour or span[0] >= hour + HOUR:
            continue
        rows = read_files(COUNTERS_MINUTES, [path])
        within = pc.and_(pc.greater_equal(rows["bucket"], hour), pc.less(rows["bucket"], hour + HOUR))
        total = _summed(joined([total, rows.filter(within)]), hour)
    return total


def _summed(rows: "pa.Table", hour: datetime) -> "pa.Table":
    """A row for each port; a column without any value stays null."""
    import pyarrow.compute as pc

    some = pc.ScalarAggregateOptions(min_count=1)
    found = rows.group_by(list(PORT_COLUMNS), use_threads=False).aggregate(
        [*((name, "sum", some) for name in _SUMMED), (_SPEED, "max", some)]
    )
    columns = {name: found[name] for name in PORT_COLUMNS}
    columns |= {name: found[f"{name}_sum"] for name in _SUMMED}
    columns |= {_SPEED: found[f"{_SPEED}_max"], "bucket": times(hour, len(found))}
    return from_columns(COUNTERS_HOURS, columns)


def _times(path: Path) -> tuple[datetime, datetime] | None:
    """The first and the last time of a file, from the statistics at its end; None for an empty file."""
    about = arrow().parquet.ParquetFile(path).metadata
    column = about.schema.names.index("bucket")
    groups = [about.row_group(number).column(column).statistics for number in range(about.num_row_groups)]
    known = [one for one in groups if one is not None and one.has_min_max]
    if not known:
        return None
    first, last = min(one.min for one in known), max(one.max for one in known)
    return _utc(first), _utc(last)


def _utc(at: datetime) -> datetime:
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def _hours(first: datetime, last: datetime) -> Iterator[datetime]:
    hour = hour_of(first)
    while hour <= last:
        yield hour
        hour += HOUR


def _day(day: date) -> tuple[datetime, datetime]:
    start = datetime(day.year, day.month, day.day, tzinfo=UTC)
    return start, start + timedelta(days=1) - timedelta(microseconds=1)
