"""Orders of lists: each column that can be sorted by is an array of numbers over all rows, so a page costs one sort."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from truerail.analysis.cabling import State
from truerail.errors import QueryError
from truerail.files.problems import nearest
from truerail.model.columns import NONE, Codes, Mask, factorize
from truerail.model.kept import kept
from truerail.model.names import natural_key, printable
from truerail.views.findings import Findings
from truerail.views.index import EvaluationIndex
from truerail.views.layout import Layout
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


def ranks(values: Iterable[str]) -> Codes:
    """The place of each value in natural order; -1 for an empty one. Shape (values,)."""
    code, names = factorize(value or None for value in values)
    place = np.full(len(names) + 1, NONE, dtype=np.int64)
    place[sorted(range(len(names)), key=lambda at: natural_key(names[at]))] = np.arange(len(names))
    return place[code]


def of_device(values: Codes, device: Codes) -> Codes:
    """A value of each row's device; -1 for devices that the plan does not have."""
    found: Codes = np.where((device >= 0) & (device < len(values)), values[np.clip(device, 0, len(values) - 1)], NONE)
    return found


@kept
def pod_ranks(layout: Layout) -> Codes:
    """Each device's pod in natural order. Computed once for each plan."""
    return ranks(device.pod for device in layout.devices)


@kept
def rack_ranks(layout: Layout) -> Codes:
    """Each device's rack in natural order. Computed once for each plan."""
    return ranks(device.rack for device in layout.devices)


@kept
def planned_ranks(layout: Layout) -> Codes:
    """Each cable's upper end in natural order. Computed once for each plan."""
    ends = [cable.b for cable in layout.plan.cables]
    order = np.lexsort((ranks(end.name for end in ends), of_device(layout.rank, layout.b_device)))
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return place


@kept
def label_ranks(layout: Layout) -> Codes:
    """Each cable's label in natural order. Computed once for each plan."""
    return ranks(cable.label for cable in layout.plan.cables)


@kept
def cable_words(layout: Layout) -> list[str]:
    """What a search of cables reads: both planned ends and the label. Computed once for each plan."""
    return [f"{cable.a} {cable.b} {cable.label}".lower() for cable in layout.plan.cables]


@kept
def device_words(layout: Layout) -> list[str]:
    """What a search of devices reads. Computed once for each plan."""
    return [f"{one.name} {one.role} {one.pod} {one.rack} {one.platform}".lower() for one in layout.devices]


@kept
def port_words(sight: EvaluationIndex) -> list[str]:
    """What a search of ports reads: the port and its planned other end. Computed once for each evaluation."""
    index, (ports, _) = sight.index, sight.switch_ports
    cables = index.cables_at(ports).tolist()
    plan = sight.layout.plan
    ends = ("" if cable < 0 else f"{plan.cables[cable].a} {plan.cables[cable].b}" for cable in cables)
    return [f"{index.spell(port)} {end}".lower() for port, end in zip(ports.tolist(), ends, strict=True)]


@kept
def finding_words(findings: Findings) -> list[str]:
    """What a search of findings reads. Computed once for each evaluation."""
    return [f"{one.subject} {one.rule} {one.name} {one.summary} {one.observed or ''}".lower() for one in findings.all]


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
