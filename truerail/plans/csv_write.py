"""A plan as native CSV: one line per cable, nothing implied."""

import csv
import io
from collections.abc import Iterable, Sequence

from truerail.model import Cable, Device, Panel, Plan, Port, Rail
from truerail.plans.csv_columns import BACK, DEVICE_FIELDS, FRONT, PANEL, guarded
from truerail.plans.numbers import plain
from truerail.plans.orient import cable_words


def dump_csv(plan: Plan) -> str:
    """The plan as CSV that `load` reads back: all cables, the devices they join, and their properties.

    Devices without a cable have no line and are left out. So are empty columns.
    """
    rows = [_row(cable, plan) for cable in plan.cables]
    used = {name for row in rows for name, cell in row.items() if cell}
    columns = [*FRONT, *(name for name in BACK if name in used)]
    return delimited(columns, ([row.get(name, "") for name in columns] for row in rows))


def delimited(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """CSV, in which no cell is a spreadsheet's formula."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([guarded(cell) for cell in row] for row in rows)
    return out.getvalue()


def _row(cable: Cable, plan: Plan) -> dict[str, str]:
    rail = plan.rails.get(-1 if cable.rail is None else cable.rail, Rail(-1))
    return {
        **_end("a", cable.a.device, plan),
        **_end("b", cable.b.device, plan),
        "a_port": cable.a.name,
        "b_port": cable.b.name,
        **cable_words(cable),
        "speed_gbps": plain(cable.speed_gbps),
        "via_places": _places(plan, cable.via),
        "fabric": plan.name,
        "transport": plan.transport.value if plan.transport is not Plan.transport else "",
        "load_balancing": plan.load_balancing.value if plan.load_balancing is not Plan.load_balancing else "",
        "rail_name": rail.name,
        "rail_vlans": " ".join(map(str, rail.vlans)),
        "rail_subnets": " ".join(rail.subnets),
    }


def _end(side: str, name: str, plan: Plan) -> dict[str, str]:
    device = plan.devices.get(name, Device(name))
    values = {field: getattr(device, field) for field in DEVICE_FIELDS[1:]} | {"device": name}
    values |= {"role": PANEL} if name in plan.panels else {}
    values |= {field: plain(values[field]) for field in ("unit", "gpus")}
    return {f"{side}_{field}": " ".join(of) if isinstance(of, tuple) else str(of) for field, of in values.items()}


def _places(plan: Plan, via: Sequence[Port]) -> str:
    """`r1:42 > r9:40`; empty where the plan does not say it."""
    panels = [plan.panels.get(port.device, Panel()) for port in via]
    return " > ".join(f"{panel.rack}:{plain(panel.unit)}" for panel in panels) if any(map(any, panels)) else ""
