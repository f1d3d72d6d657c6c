"""A history store for pandas: every table as a DataFrame of the same name.

    import truerail
    store = truerail.history("history")
    store.cables(device="leaf-3")
    store.counters_hours(since="7d", columns=["bucket", "rail", "rx_bytes", "seconds"])

Times are in UTC, words with few values are categories, and what no device reported is missing (NaN, NaT, NA), never
zero. Files that cannot be read are left out: `unreadable` lists them.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import reduce
from operator import and_
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from truerail.errors import HistoryStoreError
from truerail.files.problems import nearest
from truerail.history.arrow_tables import arrow
from truerail.history.history_tables import TABLES, HistoryTable, Type, described
from truerail.history.store_folder import StoreFolder, UnreadableFile, files_of, read_files

if TYPE_CHECKING:
    import pandas as pd

Moment = str | datetime | timedelta | None
"""A time, as `2026-11-20 14:00` or a datetime (UTC if it names no zone), or so long ago, as `7d` or a timedelta."""

_AGO = re.compile(r"\d+(?:\.\d+)?[smhdw]")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def open_store(path: str | PathLike[str]) -> "Store":
    """Opens the store in a folder, read-only. Raises HistoryStoreError if it is none, MissingExtraError."""
    arrow()
    folder = StoreFolder(Path(path))
    return Store(folder, str(folder.manifest().get("fabric", "")))


class Store:
    """A history store. Each method reads one table.

    `since` and `until` limit rows to those of that time: samples from `since` until before `until`, intervals that
    lasted at any moment of it. `device` is the name of a device, or several; `columns` are the names of the wanted
    columns, by default all. Raises HistoryStoreError for a column or a time that does not exist.
    """

    def __init__(self, folder: StoreFolder, fabric: str) -> None:
        self.folder = folder
        self.fabric = fabric

    def __repr__(self) -> str:
        return f"<history of {self.fabric} in {self.folder.path}>"

    @property
    def tables(self) -> "pd.DataFrame":
        """Every column of every table: table, column, type, unit, meaning."""
        import pandas as pd

        rows = [(table, one.name, one.type.value, one.unit, one.meaning) for table, one in described()]
        return pd.DataFrame(rows, columns=["table", "column", "type", "unit", "meaning"])

    @property
    def unreadable(self) -> tuple[UnreadableFile, ...]:
        """Files whose rows are missing from every answer."""
        return tuple(one for table in TABLES.values() for one in files_of(self.folder, table).unreadable)

    def cables(self, **limits: Any) -> "pd.DataFrame":
        """Planned cables: the state and the actual other end, and since when until when."""
        return self.frame("cables", **limits)

    def findings(self, **limits: Any) -> "pd.DataFrame":
        """Findings, from their appearance to their resolution."""
        return self.frame("findings", **limits)

    def causes(self, **limits: Any) -> "pd.DataFrame":
        """Causes, from their appearance to their resolution. They have no `device`: see their `subjects`."""
        return self.frame("causes", **limits)

    def devices(self, **limits: Any) -> "pd.DataFrame":
        """Planned devices: their places, the names that neighbours hear from them, whether they answered."""
        return self.frame("devices", **limits)

    def optics(self, **limits: Any) -> "pd.DataFrame":
        """Modules in planned ports."""
        return self.frame("optics", **limits)

    def counters_minutes(self, **limits: Any) -> "pd.DataFrame":
        """What ports counted in each minute. A large table: limit the time, the devices or the columns."""
        return self.frame("counters_minutes", **limits)

    def counters_hours(self, **limits: Any) -> "pd.DataFrame":
        """What ports counted in each hour."""
        return self.frame("counters_hours", **limits)

    def lights(self, **limits: Any) -> "pd.DataFrame":
        """The extremes of light, temperature and error rate of each port and hour."""
        return self.frame("lights", **limits)

    def rounds(self, **limits: Any) -> "pd.DataFrame":
        """Evaluations in numbers."""
        return self.frame("rounds", **limits)

    def frame(
        self,
        table: str,
        since: Moment = None,
        until: Moment = None,
        device: str | Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
    ) -> "pd.DataFrame":
        """Any table by its name."""
        wanted = TABLES.get(table)
        if wanted is None:
            raise HistoryStoreError(f"no table {table!r}{nearest(table, list(TABLES))}")
        for name in (*(columns or ()), *(["device"] if device is not None else [])):
            if name not in wanted.names:
                raise HistoryStoreError(f"{table} has no column {name!r}{nearest(name, list(wanted.names))}")
        begin, end = _moment(since), _moment(until)
        limit = _condition(wanted, begin, end, device)
        paths = files_of(self.folder, wanted, begin, end).readable
        return _as_frame(wanted, read_files(wanted, paths, columns, limit))


def _condition(
    table: HistoryTable, since: datetime | None, until: datetime | None, device: str | Sequence[str] | None
) -> Any:
    """An Arrow expression; None for all rows."""
    import pyarrow.compute as pc

    found = []
    first, last = (pc.field("ended"), pc.field("began")) if table.intervals else 2 * (pc.field(table.time),)
    if since is not None:
        found.append((first >= since) | first.is_null())
    if until is not None:
        found.append(last < until)
    if device is not None:
        found.append(pc.field("device").isin([device] if isinstance(device, str) else list(device)))
    return reduce(and_, found) if found else None


def _as_frame(table: HistoryTable, rows: Any) -> "pd.DataFrame":
    import pandas as pd

    pa = arrow()
    for one in table.fields:
        if one.type is Type.TEXT and one.name in rows.column_names:
            at = rows.column_names.index(one.name)
            rows = rows.set_column(at, one.name, rows[one.name].cast(pa.string()))
    nullable = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
    frame: pd.DataFrame = rows.to_pandas(types_mapper=nullable.get)
    for one in table.fields:
        if one.type is Type.TIME and one.name in frame:
            frame[one.name] = frame[one.name].dt.tz_convert("UTC")
    return frame


def _moment(value: Moment) -> datetime | None:
    """A time in UTC. Raises HistoryStoreError for text that is none."""
    import pandas as pd

    if value is None:
        return None
    if isinstance(value, str) and _AGO.fullmatch(value):
        value = timedelta(**{_UNITS[value[-1]]: float(value[:-1])})
    if isinstance(value, timedelta):
        return datetime.now(UTC) - value
    try:
        at = pd.Timestamp(value)
    except (ValueError, TypeError) as error:
        raise HistoryStoreError(f"{value!r} is no time: write 2026-11-20 14:00, or 7d for so long ago") from error
    return (at.tz_localize("UTC") if at.tzinfo is None else at.tz_convert("UTC")).to_pydatetime()
