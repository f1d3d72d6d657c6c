"""Rack sheets (what is in each rack, which cables end there), port maps (each switch, port by port), label sheets."""

import io
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from PIL import Image
from reportlab.lib.units import mm
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from truerail.model import Cable, Device, Plan, Port, Role
from truerail.model.columns import grouped
from truerail.model.names import natural_key
from truerail.model.panel_paths import panels_of
from truerail.outputs.pack.cable_labels import Label, beyond, cords, place_of
from truerail.outputs.pack.paper import BOLD, BOX, MARGIN, PAPERS, PLAIN, QUIET, Code, Document, put, put_name
from truerail.outputs.report_words import count
from truerail.plans.numbers import plain

_UNITS: Final = 42
_ELEVATION: Final = 46 * mm
_OF_RACK: Final = (
    *(("", 1), ("U", 1.2), ("device", 5), ("port", 5), ("to", 5)),
    *(("port", 4.5), ("place", 4), ("m", 1.4), ("label", 3.5)),
)
_OF_SWITCH: Final = (
    *(("", 1), ("port", 4), ("rail", 1.5), ("plane", 1.7), ("to", 5)),
    *(("port", 5), ("place", 4), ("Gb/s", 2), ("m", 1.4), ("label", 4)),
)
Ends = Mapping[str, list[tuple[Port, Port, Cable]]]


def render_racks(plan: Plan, paper: str) -> bytes:
    """A section for each rack with its elevation, then the devices that have no rack."""
    document, ends = Document(paper, plan.name), _ends(plan)
    racks = grouped((device.rack, device) for device in (*plan.devices.values(), *_panels(plan)))
    for rack in sorted(racks, key=lambda name: (not name, natural_key(name))):
        devices = sorted(racks[rack], key=lambda device: (-(device.unit or 0), natural_key(device.name)))
        if rack:
            _elevation(document, devices)
        words = f"{count(len(devices), 'device')}, {count(sum(len(ends[one.name]) for one in devices), 'cable end')}"
        title = f"Rack {rack}: {words}" if rack else f"No rack planned: {words}"
        left = MARGIN + _ELEVATION + 4 * mm if rack else MARGIN
        rows = (row for one in devices for row in _of_rack(plan, one, ends[one.name]))
        document.section(title, _OF_RACK, rows, left)
    return document.data()


def render_ports(plan: Plan, paper: str) -> bytes:
    """A section for each switch, leaves first, and for each patch panel."""
    document, ends = Document(paper, plan.name), _ends(plan)
    switches = [device for device in plan.devices.values() if device.role is not Role.HOST]
    switches.sort(key=lambda one: (one.role.tier, natural_key(one.name)))
    named = [*((one, one.role.value) for one in switches), *((panel, "patch panel") for panel in _panels(plan))]
    for one, kind in named:
        words = f"{one.name}: {kind}, {count(len(ends[one.name]), 'cable')}"
        title = "  ".join(filter(None, (words, place_of(one))))
        document.section(title, _OF_SWITCH, (_of_switch(plan, end) for end in ends[one.name]))
    return document.data()


def _panels(plan: Plan) -> list[Device]:
    """The patch panels with their places."""
    return [panel for name in sorted(panels_of(plan), key=natural_key) if (panel := plan.placed(name))]


def _ends(plan: Plan) -> Ends:
    """The cable ends of each device in the order of its ports: its port, the other end, the cable."""
    both = (end for here, there, cable in cords(plan) for end in ((here, there, cable), (there, here, cable)))
    ends = defaultdict(list, grouped((end[0].device, end) for end in both))
    for mine in ends.values():
        mine.sort(key=lambda end: natural_key(end[0].name))
    return ends


def _of_rack(plan: Plan, device: Device, ends: Iterable[tuple[Port, Port, Cable]]) -> Iterable[tuple[str, ...]]:
    for here, there, cable in ends:
        far = place_of(plan.placed(there.device))
        about = (far, plain(cable.length_m), _label(cable, (here, there)))
        yield (BOX, plain(device.unit), here.device, here.name, there.device, there.name, *about)


def _of_switch(plan: Plan, end: tuple[Port, Port, Cable]) -> tuple[str, ...]:
    here, there, cable = end
    about = (plain(cable.speed_gbps), plain(cable.length_m), _label(cable, (here, there)))
    place = place_of(plan.placed(there.device))
    return (BOX, here.name, plain(cable.rail), plain(cable.plane), there.device, there.name, place, *about)


def _label(cable: Cable, ends: tuple[Port, Port]) -> str:
    """The cable's label; through patch panels, the end that its path leads to."""
    return "  ".join(filter(None, (cable.label, f"> {beyond(cable, ends)}" if cable.via else "")))


def _elevation(document: Document, devices: Iterable[Device]) -> None:
    """The rack from the front: units from below, each device at the lowest unit that the plan gives it."""
    canvas = document.canvas
    mine = {device.unit: device.name for device in devices if device.unit is not None}
    units = max(_UNITS, *mine) if mine else _UNITS
    bottom, top = MARGIN, document.height - MARGIN - 14 * mm
    each = (top - bottom) / units
    canvas.setLineWidth(0.8)
    canvas.rect(MARGIN + 14, bottom, _ELEVATION - 14, top - bottom)
    for unit in range(1, units + 1):
        y = bottom + (unit - 1) * each
        put(canvas, str(unit), (MARGIN, y + each / 2 - 2), 12, 6)
        canvas.setLineWidth(0.15)
        canvas.line(MARGIN + 14, y, MARGIN + _ELEVATION, y)
        if unit in mine:
            canvas.setFillGray(0.88)
            canvas.rect(MARGIN + 14, y, _ELEVATION - 14, each, fill=1)
            canvas.setFillGray(0)
            put(canvas, mine[unit], (MARGIN + 18, y + each / 2 - 2.5), _ELEVATION - 22, 8, BOLD)


# ----------------------------------------------------------------------------------------------------------------------
# Labels on sheets for office printers: 21 of 63.5 x 38.1 mm on A4 (Avery L7160), 30 of 66.7 x 25.4 mm on Letter
# (Avery 5160). Both labels of a cable follow each other.


@dataclass(frozen=True, slots=True)
class Grid:
    """A sheet of labels: their number, size, first corner from the left and the top, and distance; in millimetres."""

    columns: int
    rows: int
    width: float
    height: float
    left: float
    top: float
    across: float
    down: float


GRIDS: Final = {
    "a4": Grid(3, 7, 63.5, 38.1, 7.2, 15.15, 66.04, 38.1),
    "letter": Grid(3, 10, 66.675, 25.4, 4.76, 12.7, 69.85, 25.4),
}
"""By paper. Sizes as printed on the packs of Avery L7160 and 5160."""
_PADDING_MM: Final = 1.5
_MODULE_MM: Final = 0.78
"""From side to side of a module, where the label is high enough: of codes of 0.62 mm, zbar overlooked 1 in 170."""
_DOTS: Final = 6
"""Of a module from side to side."""


def render_labels(labels: Sequence[tuple[Label, Label]], paper: str) -> bytes:
    """The sheets as PDF."""
    grid, (_, height), out = GRIDS[paper], PAPERS[paper], io.BytesIO()
    canvas = Canvas(out, pagesize=PAPERS[paper], pageCompression=1, invariant=1)
    canvas.setTitle("Cable labels")
    each = grid.columns * grid.rows
    image: tuple[Code | None, Any] = (None, None)
    for number, label in enumerate(chain.from_iterable(labels)):
        if number and number % each == 0:
            canvas.showPage()
        row, column = divmod(number % each, grid.columns)
        x = (grid.left + column * grid.across) * mm
        y = height - (grid.top + row * grid.down + grid.height) * mm
        if image[0] is not label.code:
            image = (label.code, _picture(label.code))
        _draw(canvas, label, image[1], x, y, grid)
    canvas.showPage()
    canvas.save()
    return out.getvalue()


def _picture(code: Code) -> Any:
    """A code with its white border as a picture, with as many dots as office printers print."""
    size = (code.across, code.across)
    picture = Image.frombytes("L", size, b"".join(_bordered(code.rows, code.across)))
    return ImageReader(picture.resize((_DOTS * code.across, _DOTS * code.across), Image.Resampling.NEAREST))


def _bordered(rows: Sequence[bytes], across: int) -> list[bytes]:
    white, side = bytes([255]) * across, bytes([255]) * QUIET
    inner = [side + bytes(0 if module else 255 for module in row) + side for row in rows]
    return [white] * QUIET + inner + [white] * QUIET


def _draw(canvas: Any, label: Label, image: Any, x: float, y: float, grid: Grid) -> None:
    """One label: the code at the left, this end above, the other end below a line."""
    pad, height, width = _PADDING_MM * mm, grid.height * mm, grid.width * mm
    code = min(height - 2 * pad, label.code.across * _MODULE_MM * mm)
    canvas.drawImage(image, x + pad, y + (height - code) / 2, code, code)
    left, room = x + pad + code, width - code - 2 * pad  # the code has a white border
    size = height / 9.5
    put_name(canvas, label.here.device, (left, y + height * 0.81), room, size, BOLD)
    put(canvas, label.here.name, (left, y + height * 0.67), room, size, BOLD)
    put(canvas, label.place, (left, y + height * 0.565), room, size * 0.72, PLAIN)
    canvas.setLineWidth(0.4)
    canvas.line(left, y + height * 0.525, left + room, y + height * 0.525)
    put_name(canvas, f"to {label.there.device}", (left, y + height * 0.405), room, size * 0.86, PLAIN)
    put(canvas, label.there.name, (left, y + height * 0.295), room, size * 0.86, PLAIN)
    put(canvas, label.far_place, (left, y + height * 0.195), room, size * 0.72, PLAIN)
    put(canvas, label.about, (left, y + height * 0.09), room, size * 0.72, PLAIN)
