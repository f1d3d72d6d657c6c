"""Follows the tables of intervals from publication to publication: cables, findings, causes, devices, modules."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from truerail.analysis.published import Published
from truerail.history.arrow_tables import from_rows
from truerail.history.fabric_rows import cable_row, cause_rows_of, device_rows, finding_rows, optic_rows
from truerail.history.history_tables import CABLES, CAUSES, DEVICES, FINDINGS, OPTICS, HistoryTable
from truerail.history.planned_ports import PlannedPorts
from truerail.history.store_folder import StoreFolder, fault_of, files_of, read_files
from truerail.journal.link_memory import LinkMemory
from truerail.journal.round_changes import LinkState
from truerail.model.life import Life
from truerail.model.plan import Plan, Port

if TYPE_CHECKING:
    import pyarrow as pa

# ----------------------------------------------------------------------------------------------------------------------
# The rows of one table of intervals that have not ended, and those that ended since they were last written.

Key = tuple[str, ...]
Values = Mapping[str, Any]
MOST_ENDED = 200_000
"""Rows that ended and cannot be written, as on a full disk: the oldest are dropped beyond this."""


@dataclass(slots=True)
class OpenRow:
    """A row that lasts, and since when."""

    values: Values
    begin: datetime


class OpenRows:
    """The open rows of a table by their key. `changed` means that they differ from what was last written."""

    def __init__(self, table: HistoryTable) -> None:
        self.table = table
        self.rows: dict[Key, OpenRow] = {}
        self.ended: list[Values] = []
        self.changed = False

    def key(self, values: Values) -> Key:
        """The key of a row."""
        return tuple(str(values[name]) for name in self.table.key)

    def restore(self, rows: Iterable[Values]) -> None:
        """Continues rows that were open when the store was last written."""
        for row in rows:
            values = {name: value for name, value in row.items() if name not in ("began", "ended")}
            self.rows[self.key(values)] = OpenRow(values, row["began"])

    def put(self, values: Values, begin: datetime) -> None:
        """Describes an open row as it is now; `begin` is used if it is new."""
        key = self.key(values)
        known = self.rows.get(key)
        if known is None:
            self.rows[key] = OpenRow(values, begin)
            self.changed = True
        elif known.values != values:
            known.values, self.changed = values, True

    def turn(self, values: Values, at: datetime) -> None:
        """The row of this key has these values from `at` on: one with other values ends."""
        key = self.key(values)
        known = self.rows.get(key)
        if known is None or known.values != values:
            self.end(key, at)
            self.rows[key] = OpenRow(values, at)
            self.changed = True

    def end(self, key: Key, at: datetime) -> None:
        """Ends a row, if it is open."""
        known = self.rows.pop(key, None)
        if known is not None:
            self.changed = True
            self.ended.append({**known.values, "began": known.begin, "ended": max(at, known.begin)})
            if len(self.ended) > MOST_ENDED:
                del self.ended[0]

    def open_rows(self) -> Iterator[Values]:
        """All open rows, to be written."""
        for row in self.rows.values():
            yield {**row.values, "began": row.begin, "ended": None}


# ----------------------------------------------------------------------------------------------------------------------
# Follows the tables of intervals from publication to publication: cables, findings, causes, devices, modules.

Append = Callable[[HistoryTable, "pa.Table"], None]
"""Writes rows into a table's days. Raises OSError."""
EPISODES = (CABLES, FINDINGS, CAUSES, DEVICES, OPTICS)
SLOW_SECONDS = 60.0
"""Devices change seldom: they are compared this often."""
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)


class EpisodeRecorder:
    """Open episodes, and ended ones that are not written yet."""

    def __init__(self, folder: StoreFolder) -> None:
        self._folder = folder
        self._open = {table.name: OpenRows(table) for table in EPISODES}
        self._links = LinkMemory()
        self._plan: Plan | None = None
        self._slow_at = _NEVER
        self._continued = False

    def resume(self) -> None:
        """Continues the episodes that are open in the store. Raises OSError."""
        for rows in self._open.values():
            self._resume_rows(rows)
        known = self._open[CABLES.name].rows.values()
        self._links.restore(_link_state(row.values) for row in known)
        self._continued = True

    def _resume_rows(self, rows: OpenRows) -> None:
        """Open rows, without those whose end was written just before the process died."""
        path = self._folder.open_file(rows.table)
        if not path.exists() or fault_of(path, rows.table):
            return
        written = path.stat().st_mtime
        later = [one for one in files_of(self._folder, rows.table).readable if one.stat().st_mtime >= written]
        columns = [*rows.table.key, "began"]
        done = read_files(rows.table, [one for one in later if one != path], columns).to_pylist()
        ended = {(rows.key(row), row["began"]) for row in done}
        found = read_files(rows.table, [path]).to_pylist()
        lasting = [row for row in found if (rows.key(row), row["began"]) not in ended]
        rows.restore(lasting)
        rows.changed = len(lasting) < len(found)

    def observe(self, publication: Published, ports: PlannedPorts, *, optics: bool) -> None:
        """Takes in a publication; `optics` says whether its modules were read since the last one."""
        at = publication.at
        self._cables(publication)
        self._entries(FINDINGS, finding_rows(publication), publication.lives, at)
        self._entries(CAUSES, cause_rows_of(publication), publication.cause_lives, at)
        if abs((at - self._slow_at).total_seconds()) >= SLOW_SECONDS:
            self._slow_at = at
            self._states(DEVICES, device_rows(publication.wiring), at)
        if optics:
            self._states(OPTICS, optic_rows(publication.wiring, ports.rail), at)
        self._continued = False

    def flush(self, append: Append) -> None:
        """Writes what ended, then what is open. Raises OSError; the rest stays for the next time."""
        for rows in self._open.values():
            if rows.ended:
                append(rows.table, from_rows(rows.table, rows.ended))
                rows.ended.clear()
            if rows.changed:
                self._folder.replace_open(rows.table, from_rows(rows.table, rows.open_rows()))
                rows.changed = False

    def _cables(self, publication: Published) -> None:
        rows, plan, at = self._open[CABLES.name], publication.plan, publication.at
        if self._plan is not plan:
            for row in list(rows.rows.values()):
                _cable(rows, plan, _link_state(row.values), at)
        self._plan = plan
        news = self._links.update(publication.wiring, at)
        for state in news.states:
            _cable(rows, plan, state, at)
        for port in news.gone:
            rows.end(_port(port), at)

    def _entries(
        self,
        table: HistoryTable,
        found: Iterable[tuple[Values, datetime | None]],
        lives: Mapping[str, Life],
        at: datetime,
    ) -> None:
        """Findings or causes: a row lasts as long as its life, and has the values of the last time."""
        rows = self._open[table.name]
        present = set()
        for values, begin in found:
            key = rows.key(values)
            known = rows.rows.get(key)
            if known is not None and begin is not None and begin > known.begin and not self._continued:
                rows.end(key, begin)
            rows.put(values, begin or at)
            present.add(key)
        for key in rows.rows.keys() - present:
            life = lives.get(key[0])
            if life is None or not life.state.open:
                rows.end(key, (life and life.resolved_at) or at)

    def _states(self, table: HistoryTable, found: Iterable[Values], at: datetime) -> None:
        """Devices or modules: a row lasts as long as its values."""
        rows = self._open[table.name]
        present = set()
        for values in found:
            present.add(rows.key(values))
            rows.turn(values, at)
        for key in rows.rows.keys() - present:
            rows.end(key, at)


def _cable(rows: OpenRows, plan: Plan, link: LinkState, at: datetime) -> None:
    port = Port(*_port(link.port))
    cable = plan.cable_at(port)
    if cable is not None and cable.a == port:
        rows.turn(cable_row(plan, cable, link), at)


def _port(word: str) -> tuple[str, str]:
    device, _, name = word.partition("/")
    return device, name


def _link_state(values: Values) -> LinkState:
    """The state that a cable's row describes."""
    place: Iterator[str] = filter(None, (values["actual_device"], values["actual_port"]))
    return LinkState(f"{values['device']}/{values['port']}", "/".join(place) or None, values["state"])
