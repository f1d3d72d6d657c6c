"""Starting, using and ending a lab: what the command line and the tests call."""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from truerail.model import Port

from . import cables, devices, hearing, losses, papers, registry, routing
from .files import equip
from .layout import MANAGEMENT_PREFIX, Layout
from .system import LabError, ip_batch, refuse_unless_able, run, wait_until

_START_SECONDS = 120.0


def start(layout: Layout, *, tied: bool = False) -> None:
    """Builds the fabric and waits until every lldpd hears its neighbours. `tied`: it ends when this process ends.

    Raises `LabError`; what was built is then removed again.
    """
    refuse_unless_able()
    with registry.claimed(layout) as alive:
        try:
            _build(layout, alive, tied=tied)
        except BaseException:
            stop(layout)
            raise


def stop(layout: Layout) -> None:
    """Ends the lab and removes all that it made."""
    registry.remove(layout.name)
    papers.throw_away(layout.folder)


@contextmanager
def running(layout: Layout) -> Iterator[Layout]:
    """A lab for the length of a `with`; it ends with this process at the latest."""
    start(layout, tied=True)
    try:
        yield layout
    finally:
        stop(layout)


def _build(layout: Layout, alive: int, *, tied: bool) -> None:
    public_key = papers.make_key(layout.folder)
    _make_networks(layout)
    cables.lay(layout)
    routing.route(layout)
    for device in layout.devices:
        equip(layout, device, public_key)
        devices.start(layout, device, alive, tied=tied)
    papers.write(layout)
    waiting = "daemons do not start: see the log files under " + str(layout.root)
    wait_until(lambda: all(devices.is_running(layout, d) for d in layout.devices), waiting, _START_SECONDS)
    hearing.settle(layout, _START_SECONDS)


def _make_networks(layout: Layout) -> None:
    """All namespaces, and in each device an eth0 that ends on a bridge in the management namespace."""
    names = [layout.management, layout.patch_panel, *map(layout.namespace, layout.devices)]
    ip_batch(f"netns add {name}" for name in names)
    routing.configure(layout)
    bridge = ["link set lo up", "link add mgmt type bridge", f"addr add {MANAGEMENT_PREFIX}.0.1/16 dev mgmt"]
    ip_batch([*bridge, "link set mgmt up"], layout.management)
    ip_batch(
        f"link add eth0 netns {layout.namespace(device)} type veth peer name m{number} netns {layout.management}"
        for number, device in enumerate(layout.devices)
    )
    ip_batch((f"link set m{number} master mgmt up" for number in range(len(layout.devices))), layout.management)
    for device in layout.devices:
        own = [f"addr add {layout.address(device)}/16 dev eth0", "link set eth0 up", "link set lo up"]
        ip_batch(own, layout.namespace(device))


def rename(layout: Layout, device: str, name: str) -> None:
    """Makes a device call itself by another name, to its neighbours and in LLDP-MIB, as a wrong label does."""
    home = layout.home(layout.known(device)) / "lab"
    (home / "hostname").write_text(f"{name}\n", encoding="utf-8")
    devices.call(layout, device, "hostname", name)
    devices.call(layout, device, "lldpcli", "configure", "system", "hostname", name)


def exchange_names(layout: Layout, a: str, b: str) -> None:
    """Gives each of two devices the other's present name."""
    names = [hearing.hostname(layout, layout.known(device)) for device in (a, b)]
    rename(layout, a, names[1])
    rename(layout, b, names[0])


def faults(layout: Layout) -> Iterable[str]:
    """What is not as planned, in words, and which devices do not run: the truth, from cables and names themselves."""
    for device in layout.devices:
        try:
            devices.first_process(layout, device)
        except LabError as error:
            yield str(error)
        if (name := hearing.hostname(layout, device)) != device:
            yield f"{device} calls itself {name}"
    wired = cables.wiring(layout)
    for jack in layout.jacks:
        planned, found = layout.fabric.plan.peer_of(jack), wired.get(jack)
        if planned != found:
            yield f"{jack} has {_end(found)} in it, planned is {_end(planned)}"
    yield from (f"{jack} loses {share} of the packets that arrive" for jack, share in losses.lost(layout))
    if alike := routing.hash_alike(layout):
        yield f"{', '.join(alike)} hash alike"


def heal(layout: Layout) -> None:
    """Ends all losses, and lets every switch hash by itself again."""
    losses.stop_all(layout)
    if routing.has_seeds():
        routing.seed(layout)


def _end(far: Port | None) -> str:
    return f"the cable from {far}" if far else "no cable"


def links(layout: Layout, device: str) -> list[str]:
    """The names of a device's interfaces that have carrier."""
    found = json.loads(run("ip", "-n", layout.namespace(device), "-j", "link"))
    return [link["ifname"] for link in found if "LOWER_UP" in link["flags"]]
