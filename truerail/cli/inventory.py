"""`truerail inventory`: the devices of an inventory, whether login works, and which host keys are trusted."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from truerail.cli import terminal_output
from truerail.cli.exit_codes import ExitCode

if TYPE_CHECKING:
    from truerail.model import Target
    from truerail.poller import Row
    from truerail.transport.known_hosts import Trust

app = typer.Typer(help="List, probe and trust the devices of an inventory.", no_args_is_help=True)

Inventory = Annotated[Path, typer.Argument(metavar="INVENTORY", help="Inventory file.")]
Only = Annotated[str | None, typer.Option(metavar="NODESET", help="Limit to these nodes.")]


@app.command("list", short_help="List every device of an inventory.")
def list_devices(inventory: Inventory, only: Only = None) -> None:
    """List every device of an inventory, as it would be polled. Contacts no device."""
    rows = [(t.name, _role(t), t.platform or "?", _way(t), t.pod or "-", _place(t)) for t in _targets(inventory, only)]
    terminal_output.say_rows([("device", "role", "platform", "reached by", "pod", "place"), *rows])


@app.command(short_help="Log in to every device once, and report it.")
def probe(
    inventory: Inventory,
    only: Only = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="File to write the inventory with the results to."),
    ] = None,
    deadline: Annotated[float, typer.Option(min=0.1, metavar="SECONDS", help="Time limit for all devices.")] = 60.0,
) -> None:
    """Log in to every device once: its platform, which collectors it answers and how fast.

    An inventory with roles and platforms saves every later command one query.
    """
    from truerail.cli import live
    from truerail.poller import Limits

    targets = _targets(inventory, only)
    fleet = live.Fleet(inventory, targets, None)
    seen = live.one_round(fleet, limits=Limits(deadline_seconds=deadline), quiet=True)
    terminal_output.say_rows([("device", "role", "platform", "seconds", "answers"), *map(_probed, seen.rows)])
    if output:
        terminal_output.write(output, _with_findings(targets, seen.rows))
        terminal_output.remark(f"written: {output}")
    if seen.interrupted:
        raise typer.Exit(ExitCode.INTERRUPTED)
    raise typer.Exit(ExitCode.FOUND if seen.unreached else ExitCode.GOOD)


@app.command(short_help="Record the current host keys of the devices.")
def trust(
    inventory: Inventory,
    only: Only = None,
    known_hosts: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File to write. [default: each device's known_hosts]")
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Also replace a key that has changed.")] = False,
) -> None:
    """Record the current host keys of the devices. Compare the fingerprints with the devices' consoles."""
    import asyncio

    from truerail.transport import known_hosts as keys
    from truerail.transport.fleet_transport import kind_of

    results: list[Trust] = []
    reached = [target for target in _targets(inventory, only) if kind_of(target) not in ("snmp", "gnmi", "local")]
    for file, targets in _by_file(reached, known_hosts).items():
        results += asyncio.run(keys.trust(targets, Path(file), replace=replace))
    terminal_output.say_rows([("device", "host key", "fingerprint", "what"), *map(_trusted, results)])
    raise typer.Exit(ExitCode.FOUND if any(result.error for result in results) else ExitCode.GOOD)


def _targets(inventory: Path, only: str | None) -> "tuple[Target, ...]":
    """The devices, those that `only` names. Raises CommandError."""
    from truerail.cli.evaluating import named
    from truerail.cli.live import load_fleet

    targets = load_fleet(inventory, None).targets
    wanted = named(only, [target.name for target in targets]) if only else None
    return tuple(target for target in targets if wanted is None or target.name in wanted)


def _with_findings(targets: "Sequence[Target]", rows: "Iterable[Row]") -> str:
    """The inventory as native YAML; reached devices have their role and platform."""
    from dataclasses import replace

    from truerail.inventory import Inventory, dump_yaml

    fabric = {target.name for target in targets if target.apart}
    found = {row.name: row for row in rows if not row.error and row.name not in fabric}
    reported = (
        replace(target, role=row.device.role, platform=target.platform if target.by_gnmi else row.platform)
        if (row := found.get(target.name))
        else target
        for target in targets
    )
    return dump_yaml(Inventory(tuple(reported)))


def _by_file(targets: "Iterable[Target]", given: Path | None) -> "dict[str, list[Target]]":
    """Targets by the known_hosts file for their keys."""
    from truerail.model.columns import grouped

    return grouped((str(given or target.ssh.known_hosts), target) for target in targets)


def _way(target: "Target") -> str:
    """`ssh truerail@10.0.1.1:22 via ops@bastion`, `snmp 2c 10.0.3.1:161`, `gnmi 10.0.3.1:9339` or `local`. It
    contains no secret.
    """
    from truerail.transport.fleet_transport import kind_of

    kind = kind_of(target)
    if kind == "local":
        return kind
    if kind == "snmp":
        access = target.snmp
        return (
            f"snmp {access.version} {target.address}:{access.port}" if access else f"snmp {target.address}: no access"
        )
    if kind == "gnmi":
        return f"gnmi {target.address}:{target.gnmi.port}" if target.gnmi else f"gnmi {target.address}: no access"
    user = f"{target.ssh.user}@" if target.ssh.user else ""
    jump = f" via {', '.join(target.ssh.jump)}" if target.ssh.jump else ""
    return f"ssh {user}{target.address}:{target.ssh.port}{jump}"


def _role(target: "Target") -> str:
    """`-` for a machine that reports a fabric: it is no device of the plan."""
    return "-" if target.apart else target.role or "?"


def _place(target: "Target") -> str:
    unit = f" unit {target.unit}" if target.unit is not None else ""
    return f"{target.rack}{unit}" if target.rack else "-"


def _probed(row: "Row") -> Sequence[str]:
    """A device's line: its answers, or the reason for none."""
    good = [reading.collector for reading in row.readings if not reading.error]
    said = row.error or ", ".join(good) or "no readable answer"
    role = "-" if row.platform == "infiniband" else row.device.role
    return row.name, role, row.platform or "?", f"{row.took_seconds:.1f}", said


def _trusted(result: "Trust") -> Sequence[str]:
    what = result.error or ("recorded" if result.added else "already known")
    return result.target.name, result.key_type or "-", result.fingerprint or "-", what
