"""The files of a cabling pack."""

import csv
import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from truerail.extras import require
from truerail.model import Plan, Port
from truerail.outputs.pack.cable_labels import cords, labels_of, without_domain
from truerail.plans.csv_columns import guarded
from truerail.plans.numbers import plain

# ----------------------------------------------------------------------------------------------------------------------
# The bill of cables: how many of each kind and length.

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


# ----------------------------------------------------------------------------------------------------------------------
# The files of a cabling pack.


@dataclass(frozen=True, slots=True)
class Pack:
    """How a pack is made. `base_url` is the address of the service's page, empty where there is none; `paper` is `a4`
    or `letter`.
    """

    base_url: str = ""
    paper: str = "a4"


def make_pack(plan: Plan, pack: Pack) -> Iterator[tuple[str, bytes]]:
    """Each file's name and content, one after the other. Raises MissingExtraError without the packages of the extra
    `pack`, QueryError for an address that no label may have.
    """
    labels = labels_of(plan, pack.base_url)
    require("pack", "a cabling pack")
    from truerail.outputs.pack.sheets import render_labels, render_ports, render_racks

    yield "labels.pdf", render_labels(labels, pack.paper)
    short = without_domain(plan)
    yield "racks.pdf", render_racks(short, pack.paper)
    yield "ports.pdf", render_ports(short, pack.paper)
    yield "bill.csv", render_bill(plan).encode()
