"""Speeds in Linux' sysfs, as `grep -H .` prints them: of netdevs in Mb/s, of RDMA devices with width and standard."""

from collections.abc import Iterable, Iterator

from truerail.simulator.render.links import Link

SPEEDS = "grep -sH . /sys/class/infiniband/*/ports/*/rate /sys/class/net/*/speed; :"
_STANDARDS = {100: "4X EDR", 200: "4X HDR", 400: "4X NDR", 800: "8X NDR"}
"""Rates in Gb/s, as the kernel words them (drivers/infiniband/core/sysfs.c)."""
_SEARCHING = "40 Gb/sec (4X QDR)"
"""What mlx5 says of an Ethernet port without link (drivers/infiniband/hw/mlx5/main.c)."""


def speeds(rdma: Iterable[Link], netdevs: Iterable[Link]) -> str:
    """The answer, in the shell's order of names. A netdev without link has speed -1."""
    rates = sorted((link.name, _rate(link)) for link in rdma)
    found = sorted((link.name, f"{link.gbps * 1000:.0f}" if link.up else "-1") for link in netdevs)
    return "".join((*_lines("infiniband", "ports/1/rate", rates), *_lines("net", "speed", found)))


def _lines(kind: str, file: str, values: Iterable[tuple[str, str]]) -> Iterator[str]:
    return (f"/sys/class/{kind}/{name}/{file}:{value}\n" for name, value in values)


def _rate(link: Link) -> str:
    standard = _STANDARDS.get(int(link.gbps), "4X NDR")
    return f"{link.gbps:g} Gb/sec ({standard})" if link.up else _SEARCHING
