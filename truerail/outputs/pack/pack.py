"""The files of a cabling pack."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from truerail.errors import MissingExtraError
from truerail.model import Plan
from truerail.outputs.pack.bill import render_bill
from truerail.outputs.pack.labels import labels_of, without_domain
from truerail.outputs.pack.zpl import Stock, render_zpl


@dataclass(frozen=True, slots=True)
class Pack:
    """How a pack is made. `base_url` is the address of the service's page, empty where there is none; `paper` is `a4`
    or `letter`; `stock` is the label of the label printer.
    """

    base_url: str = ""
    paper: str = "a4"
    stock: Stock = field(default_factory=Stock)


def make_pack(plan: Plan, pack: Pack) -> Iterator[tuple[str, bytes]]:
    """Each file's name and content, one after the other. Raises MissingExtraError without the packages of the extra
    `pack`, QueryError for an address that no label may have.
    """
    labels = labels_of(plan, pack.base_url)
    try:
        from truerail.outputs.pack.label_sheets import render_labels
        from truerail.outputs.pack.sheets import render_ports, render_racks
    except ImportError as error:
        raise MissingExtraError("pack", "a cabling pack") from error
    yield "labels.pdf", render_labels(labels, pack.paper)
    yield "labels.zpl", render_zpl(labels, pack.stock).encode()
    short = without_domain(plan)
    yield "racks.pdf", render_racks(short, pack.paper)
    yield "ports.pdf", render_ports(short, pack.paper)
    yield "bill.csv", render_bill(plan).encode()
