"""Cable lists as people write them, drawn at random: spellings of ports, NICs and devices, on fabrics of any shape."""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from random import Random

from benchmarks.accuracy.list_forms import Form, cage
from truerail.simulator import Shape

_NUMBER = re.compile(r"\d+")
_PORTS = (
    "", "P", "p", "Port ", "port-", "PORT ", "Eth", "eth", "Ethernet", "Ethernet ", "swp", "SWP", "swp ", "swp-",
    "swp_", "etp", "e", "QSFP", "QSFP-", "OSFP ", "Interface ", "xe-", "#", "No. ",
)  # fmt: skip
_CAGES = ("", "P", "Port ", "Eth", "Ethernet", "swp", "etp", "Eth1/", "1/", "Ethernet1/", "Port 1/")
_NICS = (
    "rail", "rail ", "rail-", "RAIL", "GPU", "GPU ", "gpu-", "", "Port ", "P", "NIC", "NIC ", "HCA-", "OSFP", "OSFP ",
    "Slot ", "PCIe Slot ", "CX7-", "QSFP", "ib", "R",
)  # fmt: skip
_WORDS: tuple[Mapping[str, str], ...] = (
    {}, {}, {"gpu": "node"}, {"gpu": "gpu-node"}, {"leaf": "sw-leaf"}, {"gpu": "dgx", "leaf": "tor"}, {"gpu": "h"},
)  # fmt: skip


def _port(rng: Random) -> Callable[[int], str]:
    """Ports by one number: `P05`, `Eth1/5 (400G)`, `swp 4`."""
    first, pad = rng.choice((1, 1, 1, 0)), rng.choice((0, 0, 2, 3))
    head = rng.choice(_PORTS) + rng.choice(("", "", "1/", "0/", "1/1/", "0/0/", "2/"))
    tail = rng.choice(("", "", "", " (400G)", " - QSFP112", " [OSFP]", " 400G", "/1", ":1", " QSFP-DD"))
    tail = tail if first or tail[:1] not in ("/", ":") else ""
    return lambda n: f"{head}{str(n - 1 + first).zfill(pad)}{tail}"


def _cage(rng: Random, of: Callable[[int], tuple[int, int | None]]) -> Callable[[int], str]:
    """Ports by cage and half: `1/5a`, `swp5s1`, `Eth5-0`."""
    head, mark = rng.choice(_CAGES), rng.choice(("/", "-", "s", ":", ".", "_", "p", ""))
    first = rng.choice((0, 1))

    def name(number: int) -> str:
        at, half = of(number)
        behind = "" if half is None else f"{mark}{half + first}" if mark else "ab"[half]
        return f"{head}{at}{behind}"

    return name


def _nic(rng: Random) -> Callable[[int, int], str]:
    """NICs by their rail and plane: `GPU 0`, `OSFP01P2`, `Slot 3 Port 1`, `rail-1b (CX7)`."""
    head, first, pad = rng.choice(_NICS), rng.choice((0, 1)), rng.choice((0, 0, 2))
    plane = rng.choice((" Port {}", "P{}", "/{}", "-P{}", "", "", ""))
    tail = "" if plane else rng.choice(("", "", " (CX7)", " 400G"))

    def name(rail: int, at: int) -> str:
        return f"{head}{str(rail + first).zfill(pad)}{plane.format(at + 1) or ('b' if at else '')}{tail}"

    return name


def device_names(rng: Random) -> Callable[[str], str]:
    """Devices under other words, padding, case, marks between, places before and a domain behind: `R01-NODE_01`."""
    case, pad = rng.choice((str, str, str.upper, str.title)), rng.choice((1, 2, 3, 4))
    mark = rng.choice(("-", "_", ".", " ", ""))
    before = rng.choice(("", "", "", "R01-", "pod1-", "SU1-R05-", "R01-pod1-", "dc1.", "hall2/"))
    behind, words = rng.choice(("", "", "", ".hall.example")), rng.choice(_WORDS)

    def part(word: str) -> str:
        plain = _NUMBER.sub(lambda found: str(int(found[0])), word)
        return plain.zfill(pad) if plain.isdecimal() else words.get(plain, plain)

    return lambda name: before + case(mark.join(map(part, name.split("-")))) + behind


DRAWN: Mapping[str, Callable[[Random], Form]] = {
    "drawn: ports": lambda rng: Form(_port(rng)),
    "drawn: ports by halves": lambda rng: Form(_cage(rng, lambda n: ((n + 1) // 2, (n + 1) % 2))),
    "drawn: cages whole and split": lambda rng: Form(_cage(rng, cage), fabric="breakouts"),
    "drawn: NICs": lambda rng: Form(nic=_nic(rng)),
    "drawn: devices": lambda rng: Form(device=device_names(rng)),
    "drawn: ports, NICs, devices": lambda rng: Form(_port(rng), _nic(rng), device_names(rng)),
    "drawn: InfiniBand": lambda rng: Form(_port(rng), _nic(rng), fabric="infiniband"),
}
"""Forms by what is drawn."""


def drawn_shape(rng: Random) -> Shape:
    """A fabric of one to eight rails, in pods, planes and tiers or in none."""
    while True:
        rails, pods, spines = (
            rng.choice((1, 2, 4, 4, 8, 8)),
            rng.choice((1, 1, 1, 2, 3)),
            rng.choice((0, 0, 1, 2, 2, 4)),
        )
        with suppress(ValueError):  # not every mixture is a fabric
            return Shape(
                hosts=rng.choice((2, 3, 4, 5, 6, 8, 8, 12, 16)) * pods,
                rails=rails,
                pods=pods,
                rails_per_leaf=rng.choice((1, 1, 1, 2, 4, rails)),
                stride=rng.random() < 0.3,
                planes=rng.choice((1, 1, 1, 2)),
                spines=spines,
                uplinks=spines * rng.choice((1, 1, 2, 4)),
                superspines=rng.choice((0, 0, 0, 2)) if spines and pods > 1 else 0,
                style=rng.choice(("enp", "eth", "ens")),
                models=rng.choice((("xe9680",), ("dgx-h100",), ("xe9680", "dgx-h100"))),
                gpus=rng.choice((0, 0, 8)),
            )
