"""The patch panel: every port ends there in a veth, and a cable is a bridge between two of these ends.

So a port outlives its cable, as a real one does: its name, MAC, ifIndex and counters stay, and carrier goes when the
cable is pulled. The bridges pass LLDP, which bridges normally keep to themselves. What is cabled to what is read from
the kernel, never from notes: each panel end carries the name of its port as its alias.
"""

import json
import time
from collections.abc import Iterable, Mapping
from typing import Any

from truerail.model import Port

from .layout import Layout
from .system import LabError, ip_batch, run

LLDP_PASSES = 1 << 14
"""group_fwd_mask of a bridge: bit 14 lets 01:80:C2:00:00:0E through (kernel, bridge sysfs documentation)."""
SWITCH_MTU, HOST_MTU = 9216, 9000
BLINK_SECONDS = 1.5
"""How long a re-plugged port is dark. lldpd forgets a neighbour only after about a second without carrier; after less,
the old neighbour stays beside the new one until its TTL runs out."""


def lay(layout: Layout) -> None:
    """Makes every port and its panel end, and plugs the cables of the plan. The namespaces are there already."""
    ip_batch(_port_lines(layout))
    ends = (f"link set p{i} alias {jack} mtu {SWITCH_MTU}" for i, jack in enumerate(layout.jacks))
    ip_batch(ends, layout.patch_panel)
    for device in layout.devices:
        ip_batch((f"link set {port} up" for port in layout.ports(device)), layout.namespace(device))
    connect(layout, [(cable.a, cable.b) for cable in layout.fabric.plan.cables])


def _port_lines(layout: Layout) -> Iterable[str]:
    for number, jack in enumerate(layout.jacks):
        mtu = SWITCH_MTU if jack.device in layout.switches else HOST_MTU
        yield (
            f"link add {jack.name} netns {layout.namespace(jack.device)} address {layout.mac(jack)} mtu {mtu}"
            f" type veth peer name p{number} netns {layout.patch_panel}"
        )


def connect(layout: Layout, pairs: Iterable[tuple[Port, Port]]) -> None:
    """Plugs cables into ports that are free."""
    lines: list[str] = []
    for a, b in pairs:
        ends = sorted(layout.jacks.index(jack) for jack in (a, b))
        bridge = f"c{ends[0]}"
        lines.append(f"link add {bridge} type bridge group_fwd_mask {LLDP_PASSES} mcast_snooping 0")
        lines.append(f"link set {bridge} up")
        lines += [f"link set p{end} master {bridge} up" for end in ends]
    ip_batch(lines, layout.patch_panel)


def pull(layout: Layout, jacks: Iterable[Port]) -> None:
    """Pulls the cables out of these ports, at both ends. Ports without a cable stay as they are."""
    wired = wiring(layout)
    lines: list[str] = []
    for jack in jacks:
        if jack in wired:
            ends = [layout.jacks.index(end) for end in (jack, wired.pop(jack))]
            wired.pop(layout.jacks[ends[1]])
            lines += [f"link set p{end} down" for end in ends]
            lines.append(f"link del c{min(ends)}")
    ip_batch(lines, layout.patch_panel)


def plug(layout: Layout, a: Port, b: Port) -> None:
    """Puts one cable between two ports; whatever is in them is pulled first."""
    if a.device == b.device:
        raise LabError(f"{a} and {b} are on one device")
    if wiring(layout).get(a) != b:
        _replug(layout, (a, b), [(a, b)])


def swap(layout: Layout, x: Port, y: Port) -> None:
    """Swaps the far ends of the cables in two ports, as when two plugs are swapped."""
    wired = wiring(layout)
    far = []
    for jack in (x, y):
        if jack not in wired:
            raise LabError(f"{jack} has no cable in it: there is nothing to swap")
        far.append(wired[jack])
    if x == y or far[0] == y:
        raise LabError(f"{x} and {y} are one cable")
    _replug(layout, (x, y), [(x, far[1]), (y, far[0])])


def _replug(layout: Layout, pulled: Iterable[Port], plugged: Iterable[tuple[Port, Port]]) -> None:
    pull(layout, pulled)
    time.sleep(BLINK_SECONDS)
    connect(layout, plugged)


def slow(layout: Layout, jack: Port, rate: str) -> None:
    """Limits what a cable carries in both directions to a rate as `tc` writes it, such as 50mbit."""
    ends = [jack, *filter(None, [wiring(layout).get(jack)])]
    for end in ends:
        limit(layout.patch_panel, f"p{layout.jacks.index(end)}", rate)


def limit(namespace: str, interface: str, rate: str) -> None:
    """Lets an interface send no faster than a rate."""
    shaper = ("tbf", "rate", rate, "burst", "32k", "latency", "400ms")
    run("tc", "-n", namespace, "qdisc", "replace", "dev", interface, "root", *shaper)


def wiring(layout: Layout) -> Mapping[Port, Port]:
    """What is really cabled to what, each cable in both directions."""
    cables: dict[str, list[Port]] = {}
    links: list[dict[str, Any]] = json.loads(run("ip", "-n", layout.patch_panel, "-j", "link"))
    for link in links:
        if "ifalias" in link and "master" in link:
            cables.setdefault(link["master"], []).append(Port(*link["ifalias"].split("/", 1)))
    return {a: b for ends in cables.values() if len(ends) == 2 for a, b in (ends, reversed(ends))}
