"""Where a host's GPUs and RDMA devices are in its PCI tree, and what each link on the way is able to carry.

Question: below which PCI bridges and next to which CPU is each GPU and each NIC?
Needs: sysfs and a POSIX shell, any user. GPUs are those of NVIDIA's driver.

Format: the real path in sysfs of each RDMA device (`.../0000:1a:00.0/infiniband/mlx5_0`) and GPU; then for each PCI
device on these paths its `class`, `numa_node`, `max_link_speed` and `max_link_width` as `address/file:value`; then
`end`. Source: the kernel's `Documentation/ABI/testing/sysfs-bus-pci`, `Documentation/PCI/sysfs-pci.rst`.

Traps:

- An answer without its `end` is cut: a tree without some of its devices looks like one of another kind of host.
- A NUMA node of -1 means that the firmware reports none.
- `Unknown` speed and the widths 0, 63 and 255 are those of a device that has no PCIe link (a virtual machine's).
- RDMA devices without a PCI function of their own (soft RoCE, subfunctions) are left out.
"""

import re
from collections.abc import Iterator, Mapping

from collector._answer import lines
from truerail.errors import NoAnswerError, UnreadableError
from truerail.model import Command, Device, PciDevice, Role, collector, minutes

_ASK = (
    'p=$(readlink -f /sys/class/infiniband/* /sys/bus/pci/drivers/nvidia/*:*); echo "$p"; cd /sys/bus/pci/devices; '
    'for a in $(echo "$p" | grep -oE "[0-9a-f]+:..:..[.][0-7]" | sort -u); '
    "do grep -sH . $a/class $a/numa_node $a/max_link_*; done; echo end"
)
_ADDRESS = r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"
_PATH = re.compile(rf"/sys/devices/(?:[^/]+/)*?pci[^/]+((?:/{_ADDRESS})+)(?:/infiniband/([\w.+-]{{1,64}}))?")
_ATTRIBUTE = re.compile(rf"({_ADDRESS})/(\w+):(.*)")
_SPEED = re.compile(r"(\d{1,3}(?:\.\d)?) GT/s(?: PCIe)?")
_CLASS = re.compile(r"0x[0-9a-f]{6}")
_UNKNOWN_WIDTHS = (0, 63, 255)
_SHORTER = 5
"""Digits of a number that is read: more are none of a PCI device."""


@collector(
    on=[Role.HOST],
    ask=[Command(_ASK)],
    every=minutes(10),
    yields=[PciDevice],
    optional=True,
    shared=True,
)
def pci_tree(answer: str, device: Device) -> list[PciDevice]:
    """One `PciDevice` for each GPU, RDMA device and bridge above them, by address. Raises `UnreadableError`."""
    above: dict[str, str | None] = {}
    names: dict[str, list[str | None]] = {}
    attributes: dict[str, dict[str, str]] = {}
    text = lines(answer)
    ended = False
    for number, line in enumerate(text, 1):
        if found := _PATH.fullmatch(line):
            addresses = found[1].strip("/").split("/")
            for at, address in enumerate(addresses):
                parent = addresses[at - 1] if at else None
                if above.setdefault(address, parent) != parent:
                    raise UnreadableError(f"{address} is in two places of the PCI tree", line=number, text=line)
            names.setdefault(addresses[-1], []).append(found[2])
        elif found := _ATTRIBUTE.fullmatch(line):
            attributes.setdefault(found[1], {})[found[2]] = found[3].strip()
        elif line.strip() == "end":
            ended = True
    if not above:
        raise NoAnswerError("no GPU and no RDMA device on a PCI bus in it", line=1, text=text[0])
    if not ended:
        raise UnreadableError("a PCI tree without its end: cut short", line=len(text), text=text[-1])
    return [
        one
        for address in sorted(above)
        for one in _rows(address, above[address], names.get(address, [None]), attributes.get(address, {}))
    ]


def _rows(address: str, above: str | None, names: list[str | None], said: Mapping[str, str]) -> Iterator[PciDevice]:
    """A device once for each RDMA device that it has."""
    if not _CLASS.fullmatch(said.get("class", "")):
        raise UnreadableError(f"no class of {address}: cut short", text=said.get("class", ""))
    speed = _SPEED.fullmatch(said.get("max_link_speed", ""))
    width, numa = _number(said.get("max_link_width")), _number(said.get("numa_node"))
    gts = float(speed[1]) if speed else None
    for name in dict.fromkeys(names):
        yield PciDevice(address, above, said["class"], name, numa, gts, None if width in _UNKNOWN_WIDTHS else width)


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) < _SHORTER else None
