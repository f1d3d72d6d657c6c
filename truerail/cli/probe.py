"""`truerail probe`: sends packets between the hosts, and evaluates what came of them. No other command sends."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from truerail.cli.check import Failing, FailOn, ReportFile, ReportFormat, by_suffix, refuse_binary_on_terminal, tell
from truerail.cli.exit_codes import ExitCode, with_options_of
from truerail.errors import CommandError

if TYPE_CHECKING:
    from truerail.probe.host_tasks import Settings


@dataclass(slots=True, kw_only=True)
class Wanted:
    """What a user asks for. Raises BadParameter for words that are unknown, and options that do not go together."""

    inventory: Annotated[Path, typer.Option(metavar="INVENTORY", help="Inventory of the devices.")]
    plan: Annotated[
        Path | None, typer.Option(metavar="PLAN", help="Plan file. Without it the cables of the inventory.")
    ] = None
    what: Annotated[
        str, typer.Option(metavar="WORDS", help="What to show: reach, nic, mtu, dscp, paths, loss; or all.")
    ] = "reach,nic,mtu,dscp"
    lists: Annotated[str, typer.Option("--list", metavar="LETTERS", help="Pinglists: A, B, C, D, E; with commas.")] = (
        "A,B,C,E"
    )
    only: Annotated[str | None, typer.Option(metavar="NODESET", help="Limit to these hosts.")] = None
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be sent, and send nothing.")] = False
    yes: Annotated[bool, typer.Option("--yes", help="Send without asking first.")] = False
    user: Annotated[str, typer.Option(metavar="NAME", help="The account that may send probes on the hosts.")] = (
        "truerail-probe"
    )
    key: Annotated[str, typer.Option(metavar="FILE", help="Its private key. [default: that of the inventory]")] = ""
    pipe: Annotated[bool, typer.Option("--pipe", help="Send the script along instead of using the installed one.")] = (
        False
    )
    by_operator: Annotated[str, typer.Option(metavar="NAME", help="With --pipe: your own account on the hosts.")] = ""
    allow_jobs: Annotated[
        bool, typer.Option("--allow-jobs", help="Probe busy hosts too: 20 packets a second, no large ones.")
    ] = False
    assume_idle: Annotated[
        bool, typer.Option("--assume-idle", help="Probe hosts that do not show whether they are busy.")
    ] = False
    heavy: Annotated[
        bool,
        typer.Option(
            "--heavy",
            help="Then test RDMA with rping and ib_write_bw: one NIC of a host at a time, at full speed. "
            "Needs --pipe, and never uses busy hosts.",
        ),
    ] = False
    rate: Annotated[int, typer.Option(min=1, max=10_000, help="Packets a second from each host.")] = 100
    mtu: Annotated[
        int | None, typer.Option(min=128, max=65_000, help="Bytes of a large packet. [default: the plan's, else 9000]")
    ] = None
    ipv6: Annotated[bool, typer.Option("--ipv6", help="Probe the IPv6 addresses.")] = False
    per_switch: Annotated[
        float, typer.Option(min=1, max=10_000, help="Most ICMP answers that a path sweep asks of a switch in a second.")
    ] = 50.0
    per_nic: Annotated[
        float, typer.Option(min=0.1, max=1000, help="The same, by one NIC: Linux answers one target once a second.")
    ] = 1.0
    record: Annotated[
        Path | None, typer.Option("--record", metavar="DIR", help="Store all answers for `check --from`.")
    ] = None
    fmt: ReportFormat = None
    output: ReportFile = None
    fail_on: Failing = FailOn.WARNING
    details: Annotated[bool, typer.Option("--details", help="Show everything, with evidence.")] = False
    deadline: Annotated[float, typer.Option(min=0.1, metavar="SECONDS", help="Time limit of polling first.")] = 60.0
    settings: "Settings" = field(init=False)
    pinglists: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        from truerail.probe.host_tasks import WHAT, Settings
        from truerail.probe.path_sweep import Budget
        from truerail.probe.pinglists import LISTS

        if self.pipe != bool(self.by_operator):
            why = "it runs a script by your own account"
            raise typer.BadParameter(f"--pipe and --by-operator NAME belong together: {why}")
        if self.heavy:
            self._check_heavy()
        self.pinglists = _words(self.lists, LISTS, "--list")
        self.settings = Settings(
            what=WHAT if self.what == "all" else _words(self.what, WHAT, "--what"),
            version=6 if self.ipv6 else 4,
            packets_per_second=min(self.rate, 20) if self.allow_jobs else self.rate,
            mtu=self.mtu or 0,
            budget=Budget(self.per_switch, self.per_nic),
            echoes=not self.allow_jobs,
        )

    def _check_heavy(self) -> None:
        if not self.pipe:
            raise typer.BadParameter("--heavy needs --pipe and --by-operator NAME: the account of probes runs no tests")
        others = {"--allow-jobs": self.allow_jobs, "--assume-idle": self.assume_idle, "--ipv6": self.ipv6}
        if other := next((name for name, given in others.items() if given), ""):
            raise typer.BadParameter(f"--heavy and {other} exclude each other: it tests idle hosts, once, over IPv4")


@with_options_of(Wanted)
def probe(wanted: Wanted) -> None:
    """Send packets between the hosts: does each NIC reach its rail, by itself, at full size, in its class?

    With --what all, also over every path: which links lose packets, which tiers hash alike, which uplinks are unused.
    The devices are polled first, as by `check`. Hosts that carry a job are left out. Ctrl-C ends the probes within a
    second; what came by then is evaluated.
    """
    from truerail.cli.probing import probed
    from truerail.model import Severity

    chosen = wanted.fmt or by_suffix(wanted.output)
    refuse_binary_on_terminal(chosen, wanted.output)
    severity = Severity(wanted.fail_on.value)
    found = probed(wanted)
    if found is None:
        raise typer.Exit(ExitCode.GOOD)
    tell(found.evaluation, chosen, wanted.output, severity, details=wanted.details)
    if found.unstored:
        raise CommandError(f"not stored: {found.unstored}")
    if found.interrupted:
        raise typer.Exit(ExitCode.INTERRUPTED)
    if not found.recorded:
        raise CommandError("no host took part: nothing was probed")
    raise typer.Exit(ExitCode.FOUND if found.evaluation.at_or_above(severity) else ExitCode.GOOD)


def _words(text: str, known: tuple[str, ...], option: str) -> tuple[str, ...]:
    """Words with commas, each a known one. Raises BadParameter."""
    spelled = {word.lower(): word for word in known}
    words = [word.strip() for word in text.split(",") if word.strip()]
    if unknown := [word for word in words if word.lower() not in spelled]:
        raise typer.BadParameter(f"{option}: no {unknown[0]!r} (there are: {', '.join(known)})")
    if not words:
        raise typer.BadParameter(f"{option}: names nothing (there are: {', '.join(known)})")
    return tuple(dict.fromkeys(spelled[word.lower()] for word in words))
