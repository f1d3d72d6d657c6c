"""What stands on the labels of a cable: one for each end, with one QR code for both.

The code is the address of the cable's page (`/ask?q=where&port=...`) where the service has one, else both ends as text.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import quote, urlsplit

from truerail.errors import QueryError
from truerail.model import Cable, Device, Plan, Port
from truerail.model.panel_paths import spot
from truerail.outputs.pack.paper import Code, code_of
from truerail.plans.numbers import plain
from truerail.plans.orient import with_own_names


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
    whole = {shown.a: cable for cable, shown in zip(plan.cables, short.cables, strict=True)}
    return [_pair(whole.get(of.a, of), of, (here, there), short, base) for here, there, of in cords(short)]


def cords(plan: Plan) -> Iterator[tuple[Port, Port, Cable]]:
    """What is plugged at both ends: cables, the cords from devices to patch panels, and each named trunk once."""
    trunks: set[tuple[Port, Port]] = set()
    for cable in plan.cables:
        for here, there in pairwise(cable.path):
            one, other = (Port(port.device, spot(port).trunk) for port in (here, there))
            panels = here in cable.via and there in cable.via
            if not panels:
                yield here, there, cable
            elif here.device != there.device and one.name and other.name and (one, other) not in trunks:
                trunks.add((one, other))
                trunk = cable._replace(a=one, b=other, rail=None, plane=None, speed_gbps=None, label="", via=())
                yield one, other, trunk


def without_domain(plan: Plan) -> Plan:
    """The plan with names as a label shows them: without the domain that all names with one have, where the rest still
    tells devices apart.
    """
    domains = {name.partition(".")[2] for name in plan.devices} - {""}
    names = {name: name.removesuffix(f".{domain}") for domain in domains for name in plan.devices}
    if len(domains) != 1 or len(set(names.values())) != len(plan.devices) or not all(names.values()):
        return plan
    return with_own_names(plan, {short: name for name, short in names.items()}, {})


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


def _pair(cable: Cable, shown: Cable, ends: tuple[Port, Port], plan: Plan, base: str) -> tuple[Label, Label]:
    here, there = ends
    places = [place_of(plan.placed(port.device)) for port in ends]
    through = f"> {beyond(shown, ends)}" if shown.via else ""
    about, code = "  ".join(filter(None, (through, _about(cable)))), code_of(address(cable, base))
    return Label(here, places[0], there, places[1], about, code), Label(there, places[1], here, places[0], about, code)


def beyond(cable: Cable, ends: tuple[Port, Port]) -> Port:
    """The end of a cable that a cord of its path does not reach."""
    return cable.a if cable.b in ends else cable.b


def address(cable: Cable, base: str) -> str:
    """The text of a cable's code: its page below the address `base`, or both ends."""
    return f"{base}/ask?q=where&port={quote(str(cable.a), safe='')}" if base else f"{cable.a} -- {cable.b}"


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
