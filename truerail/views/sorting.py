"""Orders of lists: each column that can be sorted by is an array of numbers over all rows, so a page costs one sort."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from truerail.analysis.cabling import State
from truerail.errors import QueryError
from truerail.files.problems import nearest
from truerail.model.columns import NONE, Codes, Mask
from truerail.model.names import printable
from truerail.views.view import View

Keys = Mapping[str, Callable[[View], npt.ArrayLike]]
"""By column: the sort key of each row of the whole list; -1 where there is no value. Shape (rows,)."""

STATE_ORDER = {State.WRONG: 0, State.MISSING: 1, State.UNKNOWN: 2, State.RIGHT: 3}


def arranged(view: View, rows: Codes, keys: Keys, sort: str | None) -> Codes:
    """These rows, sorted by a column (`-` in front: from the highest). Equal ones keep their order; those without a
    value come last. Raises `QueryError` for a column that cannot be sorted by.
    """
    if sort is None:
        return rows
    column = sort.removeprefix("-")
    check_column(column, keys)
    key = np.asarray(keys[column](view), dtype=np.float64)[rows]
    ranked = np.where(key == NONE, np.inf, -key if sort.startswith("-") else key)
    order: Codes = rows[np.argsort(ranked, kind="stable")]
    return order


def check_column(column: str, known: Iterable[str]) -> None:
    """Raises `QueryError` if a list cannot be sorted by this."""
    names = list(known)
    if column not in names:
        raise QueryError(f"cannot sort by {printable(column, 80)!r}{nearest(column, names)}")


def with_text(text: str | None, words: Callable[[], Sequence[str]]) -> Mask | None:
    """Rows that contain every word of the text, in any case; None without a text. `words` has one text in lower case
    for each row.
    """
    wanted = text.lower().split() if text else []
    if not wanted:
        return None
    return np.array([all(word in row for word in wanted) for row in words()], dtype=bool)


def contains(text: str | None, *parts: object) -> bool:
    """The same for one row."""
    row = " ".join(map(str, parts)).lower()
    return all(word in row for word in (text or "").lower().split())


def of_device(values: Codes, device: Codes) -> Codes:
    """A value of each row's device; -1 for devices that the plan does not have."""
    found: Codes = np.where((device >= 0) & (device < len(values)), values[np.clip(device, 0, len(values) - 1)], NONE)
    return found


def findings_on_cables(view: View) -> Codes:
    """The number of findings of each cable, shape (cables,)."""
    cable = view.findings.cable
    return np.bincount(cable[cable >= 0], minlength=len(view.layout.rail))


def findings_on_ports(view: View) -> Codes:
    """The number of findings of each port of `switch_ports`: on itself, and on the nearer end of its cable."""
    port = view.findings.port
    number = np.bincount(port[port >= 0], minlength=len(view.index.ports))
    ports, near = _ports_and_near(view)
    found: Codes = number[ports] + np.where(near == ports, 0, number[near])
    return found


def severity_on_ports(view: View) -> Codes:
    """The highest `Severity.rank` of these findings, -1 without any."""
    findings, worst = view.findings, np.full(len(view.index.ports), NONE, dtype=np.int64)
    use = findings.port >= 0
    np.maximum.at(worst, findings.port[use], findings.rank[use])
    ports, near = _ports_and_near(view)
    return np.maximum(worst[ports], worst[near])


def _ports_and_near(view: View) -> tuple[Codes, Codes]:
    """The ports of `switch_ports`, and the nearer end of the cable planned at each, itself without one."""
    ports, _ = view.sight.switch_ports
    cable = view.index.cables_at(ports)
    return ports, np.where(cable >= 0, view.index.a[cable], ports)


def states(view: View) -> Codes:
    """Each cable's state: wrong, missing, unknown, right. Shape (cables,)."""
    order = np.array([STATE_ORDER[state] for state in State], dtype=np.int64)
    return order[view.wiring.state]
