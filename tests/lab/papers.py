"""What a user of the lab gets: plan, inventories, key, known hosts and SNMP secrets, in a folder of his own."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from truerail.model import Plan, Role
from truerail.plans import dump_csv

from .files import COMMUNITY, SNMP_AUTH, SNMP_PRIVACY, SNMP_USER
from .layout import Layout
from .system import LabError, run

PLAN, KEY, KNOWN_HOSTS = "plan.csv", "key", "known_hosts"
INVENTORY = "inventory.yaml"
"""All devices by SSH."""
BY_SNMP = {"inventory-snmp.yaml": "2c", "inventory-snmpv3.yaml": "3"}
"""Hosts by SSH, switches by SNMP alone; file to SNMP version."""
_SECRETS = {"snmp-community": COMMUNITY, "snmp-auth": SNMP_AUTH, "snmp-privacy": SNMP_PRIVACY}
_MARK = ".truerail-lab"
"""Says that the folder is the lab's: no other folder's files are ever overwritten or removed."""
_ALL = (PLAN, KEY, f"{KEY}.pub", KNOWN_HOSTS, INVENTORY, *BY_SNMP, *_SECRETS, _MARK)


def make_key(folder: Path) -> str:
    """Makes the key pair that opens every device, and returns the public half. Raises `LabError` for a bad folder."""
    throw_away(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LabError(f"{folder}: {error.strerror}") from error
    if any(folder.iterdir()):
        raise LabError(f"{folder}: has other files in it; the lab needs a folder of its own")
    (folder / _MARK).touch()
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "truerail-lab", "-f", str(folder / KEY))
    return (folder / f"{KEY}.pub").read_text(encoding="ascii")


def write(layout: Layout) -> None:
    """Writes everything but the key."""
    folder = layout.folder
    (folder / PLAN).write_text(dump_csv(_without_speeds(layout.fabric.plan)), encoding="utf-8")
    (folder / KNOWN_HOSTS).write_text("".join(_known_hosts(layout)), encoding="ascii")
    for name, value in _SECRETS.items():
        (folder / name).touch(mode=0o600)
        (folder / name).write_text(f"{value}\n", encoding="ascii")
    (folder / INVENTORY).write_text(_inventory(layout, "platform: cumulus"), encoding="utf-8")
    for name, version in BY_SNMP.items():
        by_snmp = f"platform: snmp, snmp: {_snmp(folder, version)}"
        (folder / name).write_text(_inventory(layout, by_snmp), encoding="utf-8")


def throw_away(folder: Path) -> None:
    """Removes these files from a folder of the lab, and the folder where nothing else is in it."""
    if not (folder / _MARK).exists():
        return
    for name in _ALL:
        (folder / name).unlink(missing_ok=True)
    if not any(folder.iterdir()):
        folder.rmdir()


def _without_speeds(plan: Plan) -> Plan:
    """A veth says 10 Gb/s whatever stands in a plan, so the lab's plan leaves speeds out."""
    return replace(plan, cables=tuple(cable._replace(speed_gbps=None) for cable in plan.cables))


def _known_hosts(layout: Layout) -> Iterator[str]:
    for device in layout.devices:
        key = (layout.home(device) / "lab/host_key.pub").read_text(encoding="ascii").split()
        yield f"{layout.address(device)} {key[0]} {key[1]}\n"


def _inventory(layout: Layout, switch: str) -> str:
    key, known_hosts = (_quoted(layout.folder / name) for name in (KEY, KNOWN_HOSTS))
    lines = [
        f"# Reached in the management network of the lab: ip netns exec {layout.management} truerail ...",
        "defaults:",
        f"  {{user: root, key: {key}, known_hosts: {known_hosts}, timeout_seconds: 12}}",
        "devices:",
    ]
    for role in (Role.HOST, Role.LEAF, Role.SPINE, Role.SUPERSPINE):
        how = "platform: linux" if role is Role.HOST else switch
        for _, of_pod in groupby(layout.fabric.plan.of_role(role), key=lambda device: device.pod):
            names = [device.name for device in of_pod]
            addresses = [layout.address(name) for name in names]
            lines.append(
                f"  - {{name: {_quoted(_range(names))}, role: {role}, {how}, address: {_quoted(_range(addresses))}}}"
            )
    return "\n".join(lines) + "\n"


def _snmp(folder: Path, version: str) -> str:
    community, auth, privacy = (f"{{file: {_quoted(folder / name)}}}" for name in _SECRETS)
    if version == "2c":
        return f'{{version: "2c", community: {community}}}'
    protocols = f"auth_protocol: sha256, auth: {auth}, privacy_protocol: aes128, privacy: {privacy}"
    return f'{{version: "3", user: {SNMP_USER}, {protocols}}}'


def _range(texts: Sequence[str]) -> str:
    """A node set: `gpu-[001-004]` for gpu-001 to gpu-004."""
    first, last = texts[0], texts[-1]
    stem = first.rstrip("0123456789")
    return first if len(texts) == 1 else f"{stem}[{first.removeprefix(stem)}-{last.removeprefix(stem)}]"


def _quoted(value: object) -> str:
    return json.dumps(str(value))
