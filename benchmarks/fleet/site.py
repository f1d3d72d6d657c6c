"""The folder of a fleet: answers, keys, inventory, plan and settings, as an operator would have them."""

from dataclasses import replace
from pathlib import Path

import asyncssh

from benchmarks.fleet.answers import addresses, prepare
from benchmarks.fleet.server import DEVICES, HOST_KEY, PORT, STORE, USER_KEY
from collector import collectors
from truerail.inventory import Inventory, dump_yaml
from truerail.model import Plan, SshAccess, Target
from truerail.plans import dump_csv
from truerail.simulator import Shape

SETTINGS = """\
fabric: fleet
inventory: {site}/inventory.yaml
plan: {site}/plan.csv
http: {{port: {port}}}
schedule:
  every: {{{every}}}
log: {{level: warning}}
"""
COUNTERS = tuple(sorted(name for name, one in collectors().items() if one.every_seconds <= 10))


def make(folder: Path, shape: Shape, port: int, counters_seconds: float, *, swaps: int = 0) -> None:
    """Fills an empty folder for a fabric of this shape, whose counters are read every so many seconds. `swaps`: so many
    pairs of cables of hosts are swapped.
    """
    devices(folder, shape, swaps=swaps)
    settings(folder, folder, port, counters_seconds)


def devices(folder: Path, shape: Shape, *, swaps: int = 0) -> None:
    """Fills an empty folder with all but the settings."""
    plan = _swapped(prepare(shape, folder / STORE), swaps)
    at = addresses(plan)
    for name in (HOST_KEY, USER_KEY):
        key = asyncssh.generate_private_key("ssh-ed25519")
        key.write_private_key(folder / name)
        key.write_public_key(folder / f"{name}.pub")
        (folder / name).chmod(0o600)
    public = " ".join((folder / f"{HOST_KEY}.pub").read_text().split()[:2])
    (folder / "known_hosts").write_text("".join(f"[{address}]:{PORT} {public}\n" for address in at.values()))
    (folder / DEVICES).write_text("".join(f"{address} {name}\n" for name, address in at.items()))
    ssh = replace(
        SshAccess(), user="fleet", port=PORT, key=str(folder / USER_KEY), known_hosts=str(folder / "known_hosts")
    )
    targets = [
        Target(name, at[name], device.role, device.platform or "linux", device.pod, device.rack, device.unit, ssh=ssh)
        for name, device in plan.devices.items()
    ]
    (folder / "inventory.yaml").write_text(dump_yaml(Inventory(tuple(targets))))
    (folder / "plan.csv").write_text(dump_csv(plan))


def settings(site: Path, folder: Path, port: int, counters_seconds: float) -> None:
    """Writes the settings of a service of this site into a folder, where its journal will be as well."""
    every = ", ".join(f"{name}: {counters_seconds:g}s" for name in COUNTERS)
    (folder / "truerail.yaml").write_text(SETTINGS.format(site=site, port=port, every=every))


def _swapped(plan: Plan, swaps: int) -> Plan:
    """The plan of a fabric in which so many pairs of cables are swapped: cables of one host on neighboring rails."""
    cables = list(plan.cables)
    for number in range(swaps):
        one = 16 * number
        first, second = cables[one : one + 2]
        cables[one : one + 2] = first._replace(b=second.b), second._replace(b=first.b)
    return replace(plan, cables=tuple(cables))
