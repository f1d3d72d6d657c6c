"""What Cumulus Linux prints: `ethtool -S` of its ports in a loop, and NVUE's counters of one port."""

from json import dumps
from typing import Any

from truerail.simulator.flows.cli_output.counter_table import CounterTable
from truerail.simulator.flows.ledger import Key, Q

_HW: tuple[tuple[str, Key], ...] = (
    ("HwIfInOctets", (Q.RX_BYTES, False)),
    ("HwIfInUcastPkts", (Q.RX_PACKETS, False)),
    ("HwIfOutOctets", (Q.TX_BYTES, False)),
    ("HwIfOutUcastPkts", (Q.TX_PACKETS, False)),
    ("HwIfInDiscards", (Q.RX_DISCARDS, False)),
    ("HwIfInErrors", (Q.RX_ERRORS, False)),
    ("HwIfOutDiscards", (Q.TX_DISCARDS, False)),
    ("HwIfInPfc{}Pkt", (Q.RX_PAUSE_FRAMES, True)),
    ("HwIfOutPfc{}Pkt", (Q.TX_PAUSE_FRAMES, True)),
)


def ethtool(sheet: CounterTable) -> str:
    """Every port's answer below the command that asks for it, and how often the kernel saw the link go."""
    columns = [(name.format(sheet.priority), sheet.of(key[0], rdma=key[1])) for name, key in _HW]
    downs = sheet.of(Q.LINK_DOWNS)
    lines: list[str] = []
    for number, port in enumerate(sheet.ports):
        lines += [f"# ethtool -S {port}", "NIC statistics:"]
        lines += [f"     {name}: {values[number]}" for name, values in columns]
        lines.append(f"carrier_down_count: {downs[number]}")
    return "\n".join(lines) + "\n"


def nvue(sheet: CounterTable) -> str:
    """`nv show interface -o json`: the link's counters of every port."""
    names: tuple[tuple[str, Key], ...] = (
        ("in-bytes", (Q.RX_BYTES, False)),
        ("in-drops", (Q.RX_DISCARDS, False)),
        ("in-errors", (Q.RX_ERRORS, False)),
        ("in-pkts", (Q.RX_PACKETS, False)),
        ("out-bytes", (Q.TX_BYTES, False)),
        ("out-drops", (Q.TX_DISCARDS, False)),
        ("out-pkts", (Q.TX_PACKETS, False)),
    )
    changes = [2 * falls for falls in sheet.of(Q.LINK_DOWNS)]
    columns = [("carrier-transitions", changes), *((name, sheet.of(key[0])) for name, key in names)]
    found = {
        port: {"link": {"stats": {name: values[number] for name, values in columns}}, "type": "swp"}
        for number, port in enumerate(sheet.ports)
    }
    return dumps(found, indent=2) + "\n"


def nvue_qos(sheet: CounterTable, port: str) -> str:
    """`nv show interface swp1 counters qos -o json`."""
    at = sheet.ports.index(port)
    frames = {
        "rx-pause-frames": Q.RX_PAUSE_FRAMES,
        "tx-pause-frames": Q.TX_PAUSE_FRAMES,
        "rx-pause-duration": Q.RX_PAUSE_US,
        "tx-pause-duration": Q.TX_PAUSE_US,
    }
    queue = {
        "ecn-marked-frames": Q.ECN_MARKED_PACKETS,
        "tx-frames": Q.TX_PACKETS,
        "tx-bytes": Q.TX_BYTES,
        "tx-uc-buffer-discards": Q.QUEUE_DROPS,
    }
    groups: dict[str, Any] = {
        group: {str(sheet.priority): {name: sheet.of(quantity, rdma=True)[at] for name, quantity in names.items()}}
        for group, names in (("egress-queue-stats", queue), ("pfc-stats", frames))
    }
    return dumps(groups, indent=2) + "\n"
