"""How people write a cable list: the names of its ports, NICs and devices, its columns, and what is old or wrong in it.

Each form names the ends of a plan as somebody does who never logs in to a device. A layout is a table as other tools
or a contractor write it. An edit makes the list older than the fabric, or contradict itself.
"""

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from random import Random
from zlib import crc32

from truerail.model import Cable, Plan, Port, Role
from truerail.model.columns import grouped
from truerail.plans.exports import dump_workbook
from truerail.simulator import Shape

Edit = Callable[[Random, Plan], tuple[Plan, frozenset[Port]]]
"""The changed plan, and the lower ends of the rows that are wrong in it."""
Layout = Callable[[Sequence[Cable]], str]
SPLIT = 16
"""Ports of a switch that are halves of cages, two in each; the others are whole cages."""
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Form:
    """How a list names ports of switches, by their number on the front from 1; NICs, by their rail from 0 and plane;
    and devices. None leaves the devices' own names. `clear` forms have one map to the devices' names. `fabric` has
    InfiniBand's switches, or ones with whole and split cages.
    """

    port: Callable[[int], str] | None = None
    nic: Callable[[int, int], str] | None = None
    device: Callable[[str], str] | None = None
    clear: bool = True
    fabric: str = "ethernet"
    edit: Edit | None = None


def _unpadded(name: str) -> str:
    return _NUMBER.sub(lambda found: str(int(found[0])), name)


def _one_less(found: re.Match[str]) -> str:
    return f"{int(found[0]) - 1:03}" if len(found[0]) == 3 else found[0]


def _padded(name: str) -> str:
    return _NUMBER.sub(lambda found: found[0].zfill(2), name)


def cage(number: int) -> tuple[int, int | None]:
    """The cage of a port of a switch with split cages, from 1, and the half, 0 or 1; None for a whole cage."""
    return ((number + 1) // 2, (number + 1) % 2) if number <= SPLIT else (number - SPLIT // 2, None)


class SplitCages(Shape):
    """A shape whose switches have whole and split cages, under the names that each platform gives them."""

    __slots__ = ()

    @classmethod
    def of(cls, shape: Shape) -> "SplitCages":
        """The same shape with such switches."""
        return cls(**{field.name: getattr(shape, field.name) for field in fields(shape)})

    def port_name(self, platform: str, number: int) -> str:
        """The name of the port with this number, counted from 1."""
        of, half = cage(number)
        return {
            "sonic": f"Ethernet{8 * (of - 1) + 4 * (half or 0)}",
            "eos": f"Ethernet{of}/{1 + 4 * (half or 0)}",
            "nxos": f"Ethernet1/{of}" + ("" if half is None else f"/{half + 1}"),
            "junos": f"et-0/0/{of - 1}" + ("" if half is None else f":{half}"),
            "cumulus": f"swp{of}" + ("" if half is None else f"s{half}"),
        }[platform]


def _split(whole: str, half: str, first: int = 1) -> Callable[[int], str]:
    """Names of whole and of split cages: `{c}` is the cage, `{h}` the half from `first`, `{l}` its letter."""

    def name(number: int) -> str:
        of, at = cage(number)
        return whole.format(c=of) if at is None else half.format(c=of, h=at + first, l="ab"[at])

    return name


def _some(rng: Random, plan: Plan, role: Role) -> list[str]:
    """Two devices of a role with the same ports."""
    ports = grouped((end.device, end.name) for cable in plan.cables for end in cable[:2])
    one = rng.choice([device.name for device in plan.of_role(role)])
    alike = [device.name for device in plan.of_role(role) if sorted(ports[device.name]) == sorted(ports[one])]
    return [one, rng.choice([name for name in alike if name != one])] if len(alike) > 1 else []


def _exchanged(role: Role) -> Edit:
    """A list with two devices in each other's places: they were exchanged after it was written, or drawn wrongly."""

    def edit(rng: Random, plan: Plan) -> tuple[Plan, frozenset[Port]]:
        some = _some(rng, plan, role)
        names = dict(zip(some, reversed(some), strict=True))

        def end(port: Port) -> Port:
            return Port(names.get(port.device, port.device), port.name)

        cables = tuple(cable._replace(a=end(cable.a), b=end(cable.b)) for cable in plan.cables)
        wrong = frozenset(cable.a for cable in cables if not names.keys().isdisjoint((cable.a.device, cable.b.device)))
        return replace(plan, cables=cables), wrong

    return edit


def _from_1(edit: Edit) -> Edit:
    """A list whose rails begin with 1."""

    def edited(rng: Random, plan: Plan) -> tuple[Plan, frozenset[Port]]:
        changed, wrong = edit(rng, plan)
        cables = (cable if cable.rail is None else cable._replace(rail=cable.rail + 1) for cable in changed.cables)
        return replace(changed, cables=tuple(cables)), wrong

    return edited


def _fewer(rng: Random, plan: Plan) -> tuple[Plan, frozenset[Port]]:
    """Two hosts that came after the list was written."""
    later = _some(rng, plan, Role.HOST)
    devices = {name: device for name, device in plan.devices.items() if name not in later}
    return replace(
        plan, devices=devices, cables=tuple(cable for cable in plan.cables if cable.a.device not in later)
    ), frozenset()


def _turned(rng: Random, plan: Plan) -> tuple[Plan, frozenset[Port]]:
    """The uplinks of a leaf in the order of an older list."""
    rows = [row for row, cable in enumerate(plan.cables) if plan.role_of(cable.a.device) is Role.LEAF]
    leaf = plan.cables[rng.choice(rows)].a.device if rows else ""
    rows = [row for row in rows if plan.cables[row].a.device == leaf]
    cables = list(plan.cables)
    for row, other in zip(rows, [*rows[1:], *rows[:1]], strict=True):
        cables[row] = plan.cables[row]._replace(b=plan.cables[other].b)
    return replace(plan, cables=tuple(cables)), frozenset(cables[row].a for row in rows)


def _changed(change: Callable[[Plan, Cable, Cable], Cable]) -> Edit:
    """A list in which one row of a host is wrong: given another row of the same host, or of the same leaf."""

    def edit(rng: Random, plan: Plan) -> tuple[Plan, frozenset[Port]]:
        rows = [row for row, cable in enumerate(plan.cables) if cable.rail is not None]
        row = rng.choice(rows)
        cable = plan.cables[row]
        near = [one for one in plan.cables if one.b.device == cable.b.device and one.a.device != cable.a.device]
        wrong = change(plan, cable, rng.choice(near))
        others = {one.a for one in plan.cables if one is not cable and wrong.b in one[:2]}
        places = {one.a for one in plan.cables if (one.a.device, *one[2:4]) == (wrong.a.device, *wrong[2:4])}
        cables = (*plan.cables[:row], wrong, *plan.cables[row + 1 :])
        touched = {cable.a, wrong.a, *others, *(places if wrong.rail != cable.rail else ())}
        return replace(plan, cables=cables), frozenset(touched)

    return edit


def _same_again(rng: Random, plan: Plan) -> tuple[Plan, frozenset[Port]]:
    return replace(plan, cables=(*plan.cables, rng.choice(plan.cables))), frozenset()


def _another_rail(plan: Plan, cable: Cable, _: Cable) -> Cable:
    others = (one.rail for one in plan.cables if one.a.device == cable.a.device and one.rail not in (None, cable.rail))
    return cable._replace(rail=next(others, cable.rail))


FORMS: Mapping[str, Form] = {
    "ports 1/N": Form(lambda n: f"1/{n}"),
    "ports N": Form(str),
    "ports PN": Form(lambda n: f"P{n}"),
    "ports Port N": Form(lambda n: f"Port {n}"),
    "ports port-0N": Form(lambda n: f"port-{n:02}"),
    "ports EthN": Form(lambda n: f"Eth{n}"),
    "ports Eth1/N": Form(lambda n: f"Eth1/{n}"),
    "ports Ethernet1/N": Form(lambda n: f"Ethernet1/{n}"),
    "ports EthernetN/1": Form(lambda n: f"Ethernet{n}/1"),
    "ports EthernetN": Form(lambda n: f"Ethernet{n}"),
    "ports swpN": Form(lambda n: f"swp{n}"),
    "ports swp0N": Form(lambda n: f"swp{n:02}"),
    "ports swpN (400G)": Form(lambda n: f"swp{n} (400G)"),
    "ports swpN - QSFP112": Form(lambda n: f"swp{n} - QSFP112"),
    "ports etpN": Form(lambda n: f"etp{n}"),
    "ports 1/1/N": Form(lambda n: f"1/1/{n}"),
    "ports 0/0/N": Form(lambda n: f"0/0/{n - 1}"),
    "ports N from 0": Form(lambda n: str(n - 1)),
    "ports N in order of cages and halves": Form(lambda n: f"{(n + 1) // 2}/{(n + 1) % 2 + 1}"),
    "ports Na, Nb": Form(lambda n: f"{(n + 1) // 2}{'ab'[(n + 1) % 2]}"),
    "ports swpNs0": Form(lambda n: f"swp{(n + 1) // 2}s{(n + 1) % 2}"),
    "ports N + 100": Form(lambda n: f"P{n + 100}", clear=False),
    "NICs railN": Form(nic=lambda r, p: f"rail{r}" + (f"p{p}" if p else "")),
    "NICs rail-N from 1": Form(nic=lambda r, p: f"rail-{r + 1}" + "ab"[p]),
    "NICs GPUN": Form(nic=lambda r, p: f"GPU{r}" + (f"/{p}" if p else "")),
    "NICs N": Form(nic=lambda r, p: str(1 + r) + ("b" if p else "")),
    "NICs OSFPN": Form(nic=lambda r, p: f"OSFP{r + 1}" + (f"P{p + 1}")),
    "NICs OSFP, two a cage": Form(nic=lambda r, p: f"OSFP{4 - r // 2}P{2 - r % 2}" + (f"/{p}" if p else "")),
    "NICs Slot N Port 1": Form(nic=lambda r, p: f"Slot {r + 1} Port {p + 1}"),
    "NICs Port N": Form(nic=lambda r, p: f"Port {r}" + (f".{p}" if p else "")),
    "NICs NICN": Form(nic=lambda r, p: f"NIC{r + 1}" + (f"-{p}" if p else "")),
    "NICs nicN": Form(nic=lambda r, p: f"nic{r}" + (f"-{p}" if p else "")),
    "NICs mlx5_N": Form(nic=lambda r, p: f"mlx5_{r}" + (f"-{p}" if p else ""), clear=False),
    "NICs ethN": Form(nic=lambda r, p: f"eth{r}" + (f"p{p}" if p else ""), clear=False),
    "devices gpu-1": Form(device=_unpadded),
    "devices leaf-01": Form(device=_padded),
    "devices GPU_001": Form(device=lambda name: name.upper().replace("-", "_")),
    "devices R01-gpu-001": Form(device=lambda name: f"R01-{name}"),
    "devices SU1-R05-GPU01": Form(device=lambda name: f"SU1-R05-{_padded(name.replace('-', '')).upper()}"),
    "devices gpu-001.hall.example": Form(device=lambda name: f"{name}.hall.example"),
    "devices node001, sw-leaf-1": Form(
        device=lambda name: name.replace("gpu-", "node") if name.startswith("gpu") else f"sw-{name}"
    ),
    "devices node000 for gpu-001": Form(device=lambda name: _NUMBER.sub(_one_less, name.replace("gpu-", "node"))),
    "devices by asset tag": Form(device=lambda name: f"A{crc32(name.encode()):08X}" if "gpu" in name else name),
    "devices in reverse": Form(device=lambda name: f"x{name[::-1].replace('-', 'q')}"),
    "ports PN, devices node001, sw-leaf-1": Form(
        lambda n: f"P{n}", device=lambda name: name.replace("gpu-", "node").replace("leaf", "sw-leaf")
    ),
    "ports 1/N, NICs railN": Form(lambda n: f"1/{n}", lambda r, p: f"rail{r}" + (f"p{p}" if p else "")),
    "ports PN, NICs N, devices gpu-1": Form(
        lambda n: f"P{n}", lambda r, p: str(1 + r) + ("b" if p else ""), lambda name: _unpadded(name)
    ),
    "ports 1/N (400G), NICs GPU N, devices hall2-node-01": Form(
        lambda n: f"1/{n} (400G)",
        lambda r, p: f"GPU {r}" + "ab"[p],
        lambda name: f"hall2-{_padded(name.replace('gpu', 'node'))}",
    ),
    "breakouts 1/C/H, 1/C": Form(_split("1/{c}", "1/{c}/{h}"), fabric="breakouts"),
    "breakouts C/H, C": Form(_split("{c}", "{c}/{h}"), fabric="breakouts"),
    "breakouts Ca, Cb, C": Form(_split("{c}", "{c}{l}"), fabric="breakouts"),
    "breakouts PC-H, PC": Form(_split("P{c}", "P{c}-{h}"), fabric="breakouts"),
    "breakouts swpCsH, swpC": Form(_split("swp{c}", "swp{c}s{h}", 0), fabric="breakouts"),
    "breakouts Port C/H, Port C/1": Form(_split("Port {c}/1", "Port {c}/{h}"), fabric="breakouts"),
    "breakouts Eth1/C/H, Eth1/C": Form(_split("Eth1/{c}", "Eth1/{c}/{h}"), fabric="breakouts"),
    "InfiniBand N": Form(fabric="infiniband"),
    "InfiniBand PN": Form(lambda n: f"P{n}", fabric="infiniband"),
    "InfiniBand Port N": Form(lambda n: f"Port {n}", fabric="infiniband"),
    "InfiniBand 1/N": Form(lambda n: f"1/{n}", fabric="infiniband"),
    "InfiniBand 1/C/H": Form(lambda n: f"1/{(n + 1) // 2}/{(n + 1) % 2 + 1}", fabric="infiniband"),
    "InfiniBand CpH": Form(lambda n: f"{(n + 1) // 2}p{(n + 1) % 2 + 1}", fabric="infiniband"),
    "InfiniBand NICs HCA-N": Form(nic=lambda r, p: f"HCA-{r + 1}", fabric="infiniband"),
    "InfiniBand NICs railN": Form(nic=lambda r, p: f"rail{r}", fabric="infiniband"),
    "InfiniBand NICs ibN": Form(nic=lambda r, p: f"ib{r}", fabric="infiniband"),
    "InfiniBand NICs OSFPNP1, ports PN": Form(lambda n: f"P{n}", lambda r, p: f"OSFP{r + 1}P1", fabric="infiniband"),
    "InfiniBand devices gpu-1": Form(device=_unpadded, fabric="infiniband"),
    "old: two hosts exchanged": Form(edit=_exchanged(Role.HOST)),
    "old: two hosts exchanged, ports 1/N": Form(lambda n: f"1/{n}", edit=_exchanged(Role.HOST)),
    "old: two leaves exchanged": Form(edit=_exchanged(Role.LEAF)),
    "old: two leaves exchanged, ports 1/N": Form(lambda n: f"1/{n}", edit=_exchanged(Role.LEAF)),
    "old: two leaves exchanged, rails from 1": Form(edit=_from_1(_exchanged(Role.LEAF))),
    "old: two hosts fewer": Form(edit=_fewer),
    "old: two hosts fewer, ports PN, NICs railN": Form(
        lambda n: f"P{n}", lambda r, p: f"rail{r}" + (f"p{p}" if p else ""), edit=_fewer
    ),
    "old: a leaf's uplinks in another order": Form(edit=_turned),
    "a row with another's port": Form(edit=_changed(lambda plan, one, other: one._replace(b=other.b))),
    "a row from a device to itself": Form(
        edit=_changed(lambda plan, one, other: one._replace(b=Port(one.a.device, "eth9")))
    ),
    "a row with an unknown device": Form(
        edit=_changed(lambda plan, one, other: one._replace(b=Port("laef-9", one.b.name)))
    ),
    "a row with another's rail": Form(edit=_changed(_another_rail)),
    "a row twice": Form(edit=_same_again),
}


def _table(head: Sequence[str], row: Callable[[Cable], Sequence[object]], mark: str = ",", above: str = "") -> Layout:
    def text(cables: Sequence[Cable]) -> str:
        out = io.StringIO()
        writer = csv.writer(out, delimiter=mark, lineterminator="\n")
        writer.writerows([head, *(row(cable) for cable in cables)])
        return above + out.getvalue()

    return text


LAYOUTS: Mapping[str, Layout] = {
    "Device A": _table(["Device A", "Port A", "Device B", "Port B"], lambda cable: [*cable.a, *cable.b]),
    "the switch first": _table(
        ["Switch", "Switch Port", "Server", "NIC", "Remarks"], lambda cable: [*cable.b, *cable.a, ""], "\t"
    ),
    "with a rail": _table(
        ["#", "From Device", "From Port", "To Device", "To Port", "Rail", "Cable"],
        lambda cable: ["", *cable.a, *cable.b, "" if cable.rail is None else cable.rail, "AOC"],
        ";",
    ),
    "InfiniBand's headers": _table(
        ["Rack", "U", "Name", "HCA/Port", "Rack", "U", "Name", "Port"],
        lambda cable: ["r01", 4, *cable.a, "n01", 40, *cable.b],
    ),
    "a title above": _table(
        ["Source Hostname", "Source Port", "Destination Hostname", "Destination Port", "Length (m)"],
        lambda cable: [*cable.a, *cable.b, 3],
        above="Hall 2 - cable list rev. C,,,,\n,,,,\n",
    ),
    "NDT": _table(
        ["#StartDevice", "StartPort", "EndDevice", "EndPort", "LinkType"], lambda cable: [*cable.a, *cable.b, "DATA"]
    ),
}
"""How a list is written as a file; a workbook is one more."""


def as_file(name: str, plan: Plan) -> tuple[str, bytes]:
    """The suffix and the content of a list in a layout."""
    return (".csv", LAYOUTS[name](plan.cables).encode()) if name in LAYOUTS else (".xlsx", dump_workbook(plan))
