"""Speeds in Linux' sysfs, as `grep -H .` prints them: of netdevs in Mb/s, of RDMA devices with width and standard."""

from collections.abc import Iterable, Iterator

from truerail.simulator.platforms._platform import Link

SPEEDS = "grep -sH . /sys/class/infiniband/*/ports/*/rate /sys/class/net/*/speed; :"
RDMA_COUNTERS = "grep -sH . /sys/class/infiniband/*/ports/*/hw_counters/* /sys/class/infiniband/*/ports/*/counters/*; :"
_FULL = {"link_downed": 255, "port_xmit_wait": (1 << 32) - 1, "symbol_error": 65535}
"""The maximum at which InfiniBand's counters of 8, 16 and 32 bits stick (rdma-core, perfquery)."""
_STANDARDS = {100: "4X EDR", 200: "4X HDR", 400: "4X NDR", 800: "8X NDR"}
"""Rates in Gb/s -> the kernel's words (drivers/infiniband/core/sysfs.c)."""
_NO_LINK = {"mlx5": "40 Gb/sec (4X QDR)", "bnxt": "2.5 Gb/sec (1X SDR)", "ionic": "2.5 Gb/sec (1X SDR)"}
"""A driver's rate for an Ethernet port without link (drivers/infiniband/hw/mlx5/main.c; core/verbs.c)."""
_EFA = "100 Gb/sec (4X EDR)"
"""EFA's rate, whatever its speed (drivers/infiniband/hw/efa/efa_verbs.c)."""
_MOST_GBPS = 400.0
"""The kernel's rate for any Ethernet port above 200 Gb/s without a lane count (core/verbs.c)."""


def speeds(rdma: Iterable[Link], netdevs: Iterable[Link], driver: str = "mlx5") -> str:
    """The answer, in the shell's order of names. A netdev without link has speed -1, a disabled one is unreadable."""
    rates = sorted((link.name, _rate(link, driver)) for link in rdma)
    found = sorted((link.name, f"{link.gbps * 1000:.0f}" if link.up else "-1") for link in netdevs if not link.off)
    return "".join((*_lines("infiniband", "ports/1/rate", rates), *_lines("net", "speed", found)))


def full_counters(devices: Iterable[str]) -> str:
    """Counters of the ports of these RDMA devices, of which some are full."""
    values = {"port_rcv_data": 230539874932483, "port_rcv_errors": 14, "port_xmit_data": 230442669431839, **_FULL}
    return "".join(
        f"/sys/class/infiniband/{device}/ports/1/counters/{name}:{value}\n"
        for device in sorted(devices)
        for name, value in sorted(values.items())
    )


def _lines(kind: str, file: str, values: Iterable[tuple[str, str]]) -> Iterator[str]:
    return (f"/sys/class/{kind}/{name}/{file}:{value}\n" for name, value in values)


def _rate(link: Link, driver: str) -> str:
    if driver == "efa":
        return _EFA
    gbps = min(link.gbps, _MOST_GBPS)
    return f"{gbps:g} Gb/sec ({_STANDARDS.get(int(gbps), '4X NDR')})" if link.up else _NO_LINK[driver]
