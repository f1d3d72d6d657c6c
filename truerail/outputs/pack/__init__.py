"""The cabling pack: what somebody with cables in hand takes along. Labels, rack sheets, port maps, a bill of cables."""

from collections import Counter
from collections.abc import Iterator

from truerail.extras import require
from truerail.model import Plan, Port
from truerail.outputs.pack.cable_labels import cords, labels_of, without_domain
from truerail.plans.csv_plans import delimited
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


# ----------------------------------------------------------------------------------------------------------------------
# The files of a cabling pack.


def make_pack(plan: Plan, base_url: str = "", paper: str = "a4") -> Iterator[tuple[str, bytes]]:
    """Each file's name and content, one after the other. `base_url` is the address of the service's page, empty where
    there is none; `paper` is `a4` or `letter`. Raises MissingExtraError without the packages of the extra `pack`,
    QueryError for an address that no label may have.
    """
    labels = labels_of(plan, base_url)
    require("pack", "a cabling pack")
    from truerail.outputs.pack.sheets import render_labels, render_ports, render_racks

    yield "labels.pdf", render_labels(labels, paper)
    short = without_domain(plan)
    yield "racks.pdf", render_racks(short, paper)
    yield "ports.pdf", render_ports(short, paper)
    yield "bill.csv", delimited(COLUMNS, (list(map(str, row)) for row in bill_of(plan))).encode()
