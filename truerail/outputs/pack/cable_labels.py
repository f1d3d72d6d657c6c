"""What stands on the labels of a cable: one for each end, with one QR code for both.

The code is the address of the cable's page (`/ask?q=where&port=...`) where the service has one, else both ends as text.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote, urlsplit

from truerail.errors import QueryError
from truerail.model import Cable, Device, Plan, Port
from truerail.outputs.pack.qr import Code, code_of
from truerail.plans.numbers import plain


@dataclass(frozen=True, slots=True)
class Label:
    """The label of one end. `place` and `far_place` are racks and units, empty where the plan has none; `about` is what
    the plan says of the cable: its own label, rail, plane, speed and length.
    """

    here: Port
    place: str
    there: Port
    far_place: str
    about: str
    code: Code


def labels_of(plan: Plan, base_url: str = "") -> list[tuple[Label, Label]]:
    """Both labels of each cable, in the order of the plan. Raises QueryError for an address that no label may have."""
    base = _checked(base_url)
    short = without_domain(plan)
    return [_pair(cable, shown, short, base) for cable, shown in zip(plan.cables, short.cables, strict=True)]


def without_domain(plan: Plan) -> Plan:
    """The plan with names as a label shows them: without the domain that all names with one have, where the rest still
    tells devices apart.
    """
    domains = {name.partition(".")[2] for name in plan.devices} - {""}
    names = {name: name.removesuffix(f".{domain}") for domain in domains for name in plan.devices}
    if len(domains) != 1 or len(set(names.values())) != len(plan.devices) or not all(names.values()):
        return plan
    devices = {names[name]: replace(device, name=names[name]) for name, device in plan.devices.items()}

    def renamed(port: Port) -> Port:
        return Port(names.get(port.device, port.device), port.name)

    cables = tuple(cable._replace(a=renamed(cable.a), b=renamed(cable.b)) for cable in plan.cables)
    return replace(plan, devices=devices, cables=cables)


def _checked(base_url: str) -> str:
    """The address without a slash at its end. Refuses one with a password, which would be on every label."""
    if not base_url:
        return ""
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise QueryError("the address of the page is no http or https address without a query")
    if "@" in parts.netloc:
        raise QueryError("the address of the page has a user or password, which would be on every label")
    return base_url.rstrip("/")


def _pair(cable: Cable, shown: Cable, plan: Plan, base: str) -> tuple[Label, Label]:
    places = _place(plan, shown.a), _place(plan, shown.b)
    about, code = _about(cable), code_of(address(cable, base))
    return (
        Label(shown.a, places[0], shown.b, places[1], about, code),
        Label(shown.b, places[1], shown.a, places[0], about, code),
    )


def address(cable: Cable, base: str) -> str:
    """The text of a cable's code: its page below the address `base`, or both ends."""
    return f"{base}/ask?q=where&port={quote(str(cable.a), safe='')}" if base else f"{cable.a} -- {cable.b}"


def _place(plan: Plan, port: Port) -> str:
    return place_of(plan.devices.get(port.device))


def place_of(device: Device | None) -> str:
    """`r01 U12`, as much as is planned."""
    if device is None or not device.rack:
        return ""
    return device.rack if device.unit is None else f"{device.rack} U{device.unit}"


def _about(cable: Cable) -> str:
    words: Sequence[str] = (
        cable.label,
        "" if cable.rail is None else f"rail {cable.rail}",
        "" if cable.plane is None else f"plane {cable.plane}",
        f"{plain(cable.speed_gbps)}G" if cable.speed_gbps else "",
        f"{plain(cable.length_m)} m" if cable.length_m else "",
    )
    return "  ".join(filter(None, words))
