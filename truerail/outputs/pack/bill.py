"""The bill of cables: how many of each kind and length."""

import csv
import io
from collections import Counter

from truerail.model import Plan, Port
from truerail.outputs.pack.cable_labels import cords
from truerail.plans.csv_columns import guarded
from truerail.plans.numbers import plain

COLUMNS = ("from", "to", "speed_gbps", "length_m", "cables")


def bill_of(plan: Plan) -> list[tuple[str, str, str, str, int]]:
    """Roles of both ends, speed, length, number; a length or speed that is not planned is `unknown`."""
    counted = Counter(
        (_role(plan, here), _role(plan, there), cable.speed_gbps or 0.0, 0.0 if cable.via else cable.length_m or 0.0)
        for here, there, cable in cords(plan)
    )
    return [
        (a, b, plain(speed) if speed else "unknown", plain(length) if length else "unknown", count)
        for (a, b, speed, length), count in sorted(counted.items())
    ]


def _role(plan: Plan, port: Port) -> str:
    role = plan.role_of(port.device)
    return role.value if role else "panel" if port.device in plan.panels else "unknown"


def render_bill(plan: Plan) -> str:
    """The bill as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([guarded(str(cell)) for cell in row] for row in bill_of(plan))
    return out.getvalue()
