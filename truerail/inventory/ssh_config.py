"""Targets from an OpenSSH client configuration: HostName, Port, User, IdentityFile, ProxyJump, UserKnownHostsFile."""

from collections.abc import Sequence
from pathlib import Path

from truerail.files.problems import Faults
from truerail.files.yaml_values import whole
from truerail.inventory.inventory_checks import (
    HIGHEST_PORT,
    address_fault,
    device_name_fault,
    hop_fault,
    role_in,
    user_fault,
)
from truerail.inventory.ssh_blocks import Config, read_blocks
from truerail.inventory.value import Inventory, several, shared_addresses
from truerail.model import SshAccess, Target

_SSH = SshAccess()
_MOST_HOPS = 8


def read_ssh_config(text: str, path: Path, names: Sequence[str], faults: Faults) -> Inventory:
    """The named hosts, patterns applied to them; without names, every `Host` entry that is no pattern and not only a
    jump host of others. Faults are noted, the caller raises them.
    """
    config = read_blocks(text, path, faults)
    concrete = config.concrete
    notes = list(config.notes)
    wanted = list(names)
    if not names:
        hops = _jump_hosts(config, list(concrete))
        wanted = [name for name in concrete if name not in hops]
        if hops:
            notes.append(f"{several(sorted(hops))}: left out, it is a jump host of others")
        if patterns := config.patterns():
            notes.append(f"Host {several(patterns)}: a pattern names no device; list the devices by name")
    targets = [_target(name, config, notes) for name in wanted]
    if not targets:
        faults.add(0, "", "no Host entry that names a device")
    return Inventory(tuple(targets), notes=(*dict.fromkeys(notes), *shared_addresses(targets)), source=faults.file)


def _jump_hosts(config: Config, names: list[str]) -> set[str]:
    """The names of the configuration that others jump through."""
    known = set(names)
    jumps = (config.options(name).get("proxyjump", "") for name in names)
    return {_host_of(hop) for jump in jumps for hop in jump.split(",")} & known


def _host_of(hop: str) -> str:
    """`bastion` of `ops@bastion:22`."""
    return hop.rpartition("@")[2].partition(":")[0]


def _target(name: str, config: Config, notes: list[str]) -> Target:
    options = config.options(name)
    block = config.concrete.get(name)
    line = block.line if block else 0
    address = _tokens(options.get("hostname", name), name, "")
    user = options.get("user", "")
    for value, fault in (
        (name, device_name_fault(name)),
        (address, address_fault(address)),
        ("", user_fault(user) if user else ""),
    ):
        if fault:
            config.faults.add(line, value, fault)
    if options.get("stricthostkeychecking", "yes").lower() not in ("yes", "ask"):
        notes.append("StrictHostKeyChecking is not read: host keys are always checked")
    if "proxycommand" in options and "proxyjump" not in options:
        notes.append(f"{name}: ProxyCommand is not used; ProxyJump is")
    return Target(
        name=name,
        address=address,
        role=role_in(name),
        ssh=SshAccess(
            user=user,
            key=_path(options.get("identityfile"), name, address),
            known_hosts=_path(options.get("userknownhostsfile"), name, address) or _SSH.known_hosts,
            port=_port(options, line, config.faults),
            jump=_jump(name, config, line),
        ),
        file=block.file if block else config.faults.file,
        line=line,
    )


def _tokens(text: str, name: str, address: str) -> str:
    """`%h`, `%n`, `%d` and `%%` filled in; `%h` is the name where the address is not known yet."""
    filled = {"%h": address or name, "%n": name, "%d": "~", "%%": "%"}
    parts = text.split("%")
    done, rest = [parts[0]], iter(parts[1:])
    for part in rest:
        if not part:  # %% split into an empty part and what follows
            done.append("%" + next(rest, ""))
        else:
            done.append(filled.get(f"%{part[0]}", f"%{part[0]}") + part[1:])
    return "".join(done)


def _path(text: str | None, name: str, address: str) -> str:
    return "" if text is None or text.lower() == "none" else _tokens(text, name, address)


def _port(options: dict[str, str], line: int, faults: Faults) -> int:
    text = options.get("port", str(_SSH.port))
    port = whole(text, HIGHEST_PORT)
    if not port:
        faults.add(line, text, f"expected a port from 1 to {HIGHEST_PORT}")
    return port or _SSH.port


def _jump(name: str, config: Config, line: int) -> tuple[str, ...]:
    """The chain of jump hosts, first hop first, each with the address, user and port that its own entry gives it."""
    hops: list[str] = []
    waiting = _hops(name, config)
    while waiting:
        hop = waiting.pop()
        hops.insert(0, _resolved(hop, config))
        if hop_fault(hops[0]):
            config.faults.add(line, hop, f"{name}: {hop_fault(hops[0])}")
            return ()
        if len(hops) > _MOST_HOPS:
            config.faults.add(line, name, f"jumps through more than {_MOST_HOPS} hosts, or through itself")
            return ()
        if not waiting:  # the jump hosts of the first hop itself
            waiting = _hops(_host_of(hop), config)
    return tuple(hops)


def _hops(name: str, config: Config) -> list[str]:
    jump = config.options(name).get("proxyjump", "none")
    return [] if jump.lower() == "none" else [hop.strip().removeprefix("ssh://") for hop in jump.split(",")]


def _resolved(hop: str, config: Config) -> str:
    """`ops@10.0.0.5:2222` for a hop that is an entry of the configuration; the hop's own values win."""
    login, _, place = hop.rpartition("@")
    alias, _, own_port = place.partition(":") if not place.startswith("[") else (place, "", "")
    options = config.options(alias)
    address = _tokens(options.get("hostname", alias), alias, "")
    user, port = login or options.get("user", ""), own_port or options.get("port", "")
    shown = f"[{address}]" if ":" in address and not address.startswith("[") else address
    return f"{user}@{shown}" * bool(user) + shown * (not user) + (f":{port}" if port else "")
