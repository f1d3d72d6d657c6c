"""The files of a cabling pack."""

from collections.abc import Iterator
from dataclasses import dataclass

from truerail.extras import require
from truerail.model import Plan
from truerail.outputs.pack.bill import render_bill
from truerail.outputs.pack.labels import labels_of, without_domain


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
    from truerail.outputs.pack.label_sheets import render_labels
    from truerail.outputs.pack.sheets import render_ports, render_racks

    yield "labels.pdf", render_labels(labels, pack.paper)
    short = without_domain(plan)
    yield "racks.pdf", render_racks(short, pack.paper)
    yield "ports.pdf", render_ports(short, pack.paper)
    yield "bill.csv", render_bill(plan).encode()
