"""Cable lists in XML: SONiC's minigraph, the graph of its labs, and Cisco's cable plan.

A minigraph has the cables of one switch, among much else.

`<DeviceInterfaceLinks>` has a `<DeviceLinkBase>` for each cable, with StartDevice, StartPort, EndDevice, EndPort and
Bandwidth in Mb/s. Console and power cables have an ElementType of their own. A port has its alias or its name. Source:
sonic-buildimage `src/sonic-config-engine/minigraph.py`, parse_png.
"""

from typing import TYPE_CHECKING, Final

from truerail.errors import QueryError
from truerail.plans.imports.import_row import End, ImportRow, Rows

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_CABLES: Final = ("DeviceInterfaceLink", "UnderlayInterfaceLink")
_BESIDE: Final = "DeviceMgmtLink"
_CONSOLE_OR_POWER: Final = ("Serial", "Power", "Console", "Bmc")
"""Types of links by a part of their names; LogicalLink is one of others, which stand for no cable of their own."""
_LINKS: Final = ("DeviceLinkBase", "DeviceInterfaceLink", "ConsoleLinkInfo", "PowerControlLinkInfo", "BmcLinkInfo")
"""The elements of links: of a minigraph, then of a lab's graph."""


def root_of(text: str) -> "Element":
    """The root of an XML text. Raises `QueryError`, also for a document type, which may have entities."""
    from xml.etree import ElementTree as ET  # here, because few plans are XML and the import is slow

    if "<!" in text.replace("<!--", ""):
        raise QueryError("XML with a document type is not read")
    try:
        return ET.fromstring(text.strip())  # noqa: S314 - a document type, and with it every entity, is refused above
    except ET.ParseError as error:
        raise QueryError(f"not whole XML ({error})") from error


def read_cable_plan(text: str) -> Rows:
    """The cables of Cisco's NX-OS (`show cable-plan`) and ACI: `<CHASSIS_INFO sourceChassis>` with
    `<LINK_INFO sourcePort destChassis destPort>`. A port may be left out for any, or be several, and the link is then
    no cable. Source: acitoolkit `applications/cableplan`.
    """
    rows = Rows()
    below = ((chassis, link) for chassis in root_of(text).iter() for link in chassis)
    links = (pair for pair in below if pair[1].tag.rpartition("}")[2] == "LINK_INFO")
    for number, (chassis, link) in enumerate(links, 1):
        a = End(chassis.get("sourceChassis", ""), link.get("sourcePort", ""))
        b = End(link.get("destChassis", ""), link.get("destPort", ""))
        if any(mark in f"{a.port}{b.port}" for mark in (",", "-e")):
            rows.leave_out("not a cable, because it names several ports", f"link {number}")
        else:
            rows.add(ImportRow(a, b, where=f"link {number}"))
    return rows


def read_links(text: str) -> Rows:
    """The cables of a minigraph, and of the graph of a lab: `<DeviceInterfaceLink StartDevice StartPort EndDevice
    EndPort BandWidth>`, in Mb/s, as `creategraph.py` makes them of a lab's CSV files. Source: sonic-mgmt
    `ansible/files/lab_connection_graph.xml`. Raises `QueryError` for a file that is cut, or that declares a document
    type, which may have entities.
    """
    root, rows = root_of(text), Rows()
    kinds = {one.get("Hostname", ""): one.get("Type", "") for one in root.iter("Device")}
    links = ((name, one) for one in root.iter() if (name := one.tag.rpartition("}")[2]) in _LINKS)
    for number, (name, link) in enumerate(links, 1):
        inner = {child.tag.rpartition("}")[2]: (child.text or "").strip() for child in link}
        words = {"Bandwidth": link.get("BandWidth", ""), **link.attrib, **inner}
        kind = words.get("ElementType", "") if name == _LINKS[0] else name
        if kind not in (*_CABLES, _BESIDE) or words.get("ChassisInternal", "").lower() == "true":
            console = any(word in kind for word in _CONSOLE_OR_POWER)
            known = "a console or power cable" if console else "no cable of a port"
            rows.leave_out("within its chassis" if kind in _CABLES else known, f"link {number}")
            continue
        names = [(words.get(f"{side}Device", ""), words.get(f"{side}Port", "")) for side in ("Start", "End")]
        a, b = (End(device, port, kind=kinds.get(device, "")) for device, port in names)
        mbps = words["Bandwidth"]
        rows.add(ImportRow(a, b, where=f"link {number}", speed_gbps=int(mbps) / 1000 if mbps.isdecimal() else None))
    return rows


READERS: Final = {
    "SONiC minigraph": ("<DeviceMiniGraph", read_links),
    "SONiC lab graph": ("<LabConnectionGraph", read_links),
    "Cisco cable plan": ("<CISCO_NETWORK_TYPES", read_cable_plan),
}
"""By the name of the format: the element that a file begins with, and what reads it."""
