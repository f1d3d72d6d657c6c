"""Files that come with a cable list: the layout of the data center, and the names of host channel adapters.

Both are those of UFM's Cable Validation Tool: docs.nvidia.com/networking/display/cablevalidationtool150/optional+files.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from truerail.files.file_text import read_text
from truerail.files.problems import PlanError, Problem
from truerail.model import Plan, Role
from truerail.model.names import some
from truerail.plans.imports.cable_tables import table_of
from truerail.plans.imports.headers import words
from truerail.plans.orient import with_own_names

_MOST_BYTES: Final = 8 << 20
_POD_COLUMNS: Final = ("su", "scalable unit", "pod", "dh", "data hall")
"""What a pod is, the best first: the manual names data hall or pod, scalable unit, row and line unit."""


def with_layout(plan: Plan, path: Path) -> Plan:
    """The plan with the pods of its devices: `path` is CSV with a column for racks, and one for scalable units, pods or
    data halls. Racks that it does not list are a note. Raises PlanError.
    """
    lines = _lines(path)
    header = [words(cell).strip(" #") for cell in next(lines, (0, ()))[1]]
    column = next((header.index(word) for word in _POD_COLUMNS if word in header), -1)
    rack_at = next((header.index(word) for word in ("rack", "rack name", "cabinet") if word in header), -1)
    if column < 0 or rack_at < 0:
        expected = f"expected a header with rack and one of {', '.join(_POD_COLUMNS)}"
        raise PlanError([Problem(str(path), 1, ",".join(header), expected)])
    pods = {cells[rack_at]: cells[column] for _, cells in lines if len(cells) > max(column, rack_at)}
    devices = {
        name: replace(device, pod=pods[device.rack]) if pods.get(device.rack) else device
        for name, device in plan.devices.items()
    }
    missing = sorted({device.rack for device in plan.devices.values() if device.rack and not pods.get(device.rack)})
    return _noted(replace(plan, devices=devices), path, "pod", missing, "rack")


def with_hca_names(plan: Plan, path: Path) -> Plan:
    """The plan with its hosts' ports renamed: `path` is CSV `port,hca-name`, such as `1,mlx5_0`. Ports that it does not
    list are a note. Raises PlanError.
    """
    lines = _lines(path)
    header = [words(cell) for cell in next(lines, (0, ()))[1]]
    if header[:2] != ["port", "hca name"]:
        raise PlanError([Problem(str(path), 1, ",".join(header), "expected the header port,hca-name")])
    names: dict[str, str] = {}
    for line, cells in lines:
        if len(cells) < 2 or not all(cells[:2]) or cells[0] in names or cells[1] in names.values():
            raise PlanError([Problem(str(path), line, ",".join(cells), "expected a port and a name, each once")])
        names[cells[0]] = cells[1]

    ends = (end for cable in plan.cables for end in cable[:2] if plan.role_of(end.device) is Role.HOST)
    own = {end: names[end.name] for end in ends if end.name in names}
    missing = sorted({cable.a.name for cable in plan.host_cables if cable.a.name not in names})
    return _noted(with_own_names(plan, {}, own), path, "name", missing, "port")


def _noted(plan: Plan, path: Path, what: str, missing: Sequence[str], noun: str) -> Plan:
    """The plan with a note where some are missing: `racks.csv has no pod for racks A1, A2, A3 and 4 more`."""
    note = f"{path.name} has no {what} for {noun}{'s' if len(missing) > 1 else ''} {some(missing, 3)}"
    return replace(plan, notes=(*plan.notes, note)) if missing else plan


def _lines(path: Path) -> Iterator[tuple[int, Sequence[str]]]:
    """The lines of a CSV file that are not empty, with their numbers."""
    text = read_text(path, _MOST_BYTES, PlanError).removeprefix("\ufeff")
    return ((line, cells) for line, cells in table_of(text, str(path)).rows if any(cells))
