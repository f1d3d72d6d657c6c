"""`truerail probe`: sends packets between the hosts, and evaluates what came of them. No other command sends."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from truerail.cli.check import Failing, FailOn, ReportFile, ReportFormat, by_suffix, refuse_binary_on_terminal, tell
from truerail.cli.exit_codes import ExitCode
from truerail.errors import CommandError

if TYPE_CHECKING:
    from truerail.probe.host_tasks import Settings


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a user asks for, checked."""

    inventory: Path
    plan: Path | None
    lists: tuple[str, ...]
    settings: "Settings"
    only: str | None
    user: str
    key: str
    piped: bool
    allow_jobs: bool
    assume_idle: bool
    heavy: bool
    dry_run: bool
    yes: bool
    record: Path | None
    deadline: float


def probe(
    inventory: Annotated[Path, typer.Option(metavar="INVENTORY", help="Inventory of the devices.")],
    plan: Annotated[
        Path | None, typer.Option(metavar="PLAN", help="Plan file. Without it the cables of the inventory.")
    ] = None,
    what: Annotated[
        str, typer.Option(metavar="WORDS", help="What to show: reach, nic, mtu, dscp, paths, loss; or all.")
    ] = "reach,nic,mtu,dscp",
    lists: Annotated[
        str, typer.Option("--list", metavar="LETTERS", help="Pinglists: A, B, C, D, E; with commas.")
    ] = "A,B,C,E",
    only: Annotated[str | None, typer.Option(metavar="NODESET", help="Limit to these hosts.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be sent, and send nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Send without asking first.")] = False,
    user: Annotated[
        str, typer.Option(metavar="NAME", help="The account that may send probes on the hosts.")
    ] = "truerail-probe",
    key: Annotated[str, typer.Option(metavar="FILE", help="Its private key. [default: that of the inventory]")] = "",
    pipe: Annotated[
        bool, typer.Option("--pipe", help="Send the script along instead of using the installed one.")
    ] = False,
    by_operator: Annotated[str, typer.Option(metavar="NAME", help="With --pipe: your own account on the hosts.")] = "",
    allow_jobs: Annotated[
        bool, typer.Option("--allow-jobs", help="Probe busy hosts too: 20 packets a second, no large ones.")
    ] = False,
    assume_idle: Annotated[
        bool, typer.Option("--assume-idle", help="Probe hosts that do not show whether they are busy.")
    ] = False,
    heavy: Annotated[
        bool,
        typer.Option(
            "--heavy",
            help="Then test RDMA with rping and ib_write_bw: one NIC of a host at a time, at full speed. "
            "Needs --pipe, and never uses busy hosts.",
        ),
    ] = False,
    rate: Annotated[int, typer.Option(min=1, max=10_000, help="Packets a second from each host.")] = 100,
    mtu: Annotated[
        int | None, typer.Option(min=128, max=65_000, help="Bytes of a large packet. [default: the plan's, else 9000]")
    ] = None,
    ipv6: Annotated[bool, typer.Option("--ipv6", help="Probe the IPv6 addresses.")] = False,
    per_switch: Annotated[
        float, typer.Option(min=1, max=10_000, help="Most ICMP answers that a path sweep asks of a switch in a second.")
    ] = 50.0,
    per_nic: Annotated[
        float, typer.Option(min=0.1, max=1000, help="The same, by one NIC: Linux answers one target once a second.")
    ] = 1.0,
    record: Annotated[
        Path | None, typer.Option("--record", metavar="DIR", help="Store all answers for `check --from`.")
    ] = None,
    fmt: ReportFormat = None,
    output: ReportFile = None,
    fail_on: Failing = FailOn.WARNING,
    details: Annotated[bool, typer.Option("--details", help="Show everything, with evidence.")] = False,
    deadline: Annotated[float, typer.Option(min=0.1, metavar="SECONDS", help="Time limit of polling first.")] = 60.0,
) -> None:
    """Send packets between the hosts: does each NIC reach its rail, by itself, at full size, in its class?

    With --what all, also over every path: which links lose packets, which tiers hash alike, which uplinks are unused.
    The devices are polled first, as by `check`. Hosts that carry a job are left out. Ctrl-C ends the probes within a
    second; what came by then is evaluated.
    """
    from truerail.cli.probing import probed
    from truerail.model import Severity
    from truerail.probe.host_tasks import WHAT, Settings
    from truerail.probe.path_sweep import Budget
    from truerail.probe.pinglists import LISTS

    chosen = fmt or by_suffix(output)
    refuse_binary_on_terminal(chosen, output)
    if pipe != bool(by_operator):
        raise typer.BadParameter("--pipe and --by-operator NAME belong together: it runs a script by your own account")
    if heavy:
        _refuse_heavy_unless(pipe, {"--allow-jobs": allow_jobs, "--assume-idle": assume_idle, "--ipv6": ipv6})
    settings = Settings(
        what=WHAT if what == "all" else _words(what, WHAT, "--what"),
        version=6 if ipv6 else 4,
        packets_per_second=min(rate, 20) if allow_jobs else rate,
        mtu=mtu or 0,
        budget=Budget(per_switch, per_nic),
        echoes=not allow_jobs,
    )
    wanted = Wanted(
        inventory,
        plan,
        _words(lists, LISTS, "--list"),
        settings,
        only,
        by_operator or user,
        key,
        pipe,
        allow_jobs,
        assume_idle,
        heavy,
        dry_run,
        yes,
        record,
        deadline,
    )
    severity = Severity(fail_on.value)
    found = probed(wanted)
    if found is None:
        raise typer.Exit(ExitCode.GOOD)
    tell(found.evaluation, chosen, output, severity, details=details)
    if found.unstored:
        raise CommandError(f"not stored: {found.unstored}")
    if found.interrupted:
        raise typer.Exit(ExitCode.INTERRUPTED)
    if not found.recorded:
        raise CommandError("no host took part: nothing was probed")
    raise typer.Exit(ExitCode.FOUND if found.evaluation.at_or_above(severity) else ExitCode.GOOD)


def _refuse_heavy_unless(pipe: bool, others: Mapping[str, object]) -> None:
    """Raises BadParameter where --heavy cannot be, or must not be."""
    if not pipe:
        raise typer.BadParameter("--heavy needs --pipe and --by-operator NAME: the account of probes runs no tests")
    if refused := [name for name, given in others.items() if given]:
        raise typer.BadParameter(f"--heavy and {refused[0]} exclude each other: it tests idle hosts, once, over IPv4")


def _words(text: str, known: tuple[str, ...], option: str) -> tuple[str, ...]:
    """Words with commas, each a known one. Raises BadParameter."""
    spelled = {word.lower(): word for word in known}
    words = [word.strip() for word in text.split(",") if word.strip()]
    if unknown := [word for word in words if word.lower() not in spelled]:
        raise typer.BadParameter(f"{option}: no {unknown[0]!r} (there are: {', '.join(known)})")
    if not words:
        raise typer.BadParameter(f"{option}: names nothing (there are: {', '.join(known)})")
    return tuple(dict.fromkeys(spelled[word.lower()] for word in words))
