"""`truerail demo`: a fabric without hardware. It changes and the real service monitors it, or it is checked once."""

import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from truerail.cli import terminal_output
from truerail.cli.demo_folder import faults, prepare, refused_as_too_few, troubles
from truerail.cli.exit_codes import refused_by_system, with_options_of
from truerail.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from truerail.simulator import Fault

KNOWN = (
    "Of cables: cable-swap, cable-rotation, cable-move, port-shift, host-swap, leaf-swap, bundle-swap, trunk-swap, "
    "panel-shift, gpu-nic-order, link-down, degraded-link, unreachable. Of traffic, without --once: storm, "
    "slow-receiver, deadlock, half-speed, straggler, dirty-optic, flaps, polarization, dead-member, incast, pxn."
)
"""The available faults, written out: help must not load the simulator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoOptions:
    """The options of `truerail demo`."""

    context: typer.Context
    hosts: Annotated[int, typer.Option(min=1, help="Hosts of the fabric.")] = 64
    rails: Annotated[int, typer.Option(min=1, help="Rails: NICs of each host.")] = 8
    fault: Annotated[
        list[str] | None, typer.Option(metavar="KIND", help=f"A fault at the start; may be repeated. {KNOWN}")
    ] = None
    seed: Annotated[int, typer.Option(help="The same seed makes the same fabric and story.")] = 1
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for all files.")] = Path(
        "truerail-demo"
    )
    once: Annotated[bool, typer.Option("--once", help="Check the fabric once, print the report and end.")] = False
    details: Annotated[bool, typer.Option("--details", help="With --once: show everything, with evidence.")] = False
    host: Annotated[str, typer.Option(help="Address of the page.")] = "127.0.0.1"
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the page; 0: any free one.")] = 8080
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not print the fabric's events.")] = False


@with_options_of(DemoOptions)
def demo(options: DemoOptions) -> None:
    """Run the service on a simulated, changing fabric: faults appear and are repaired. Ctrl-C stops it.

    What it writes can be read by its user alone.
    """
    options.context.call_on_close(partial(os.umask, os.umask(0o077)))
    cabling, traffic = troubles(options.fault or [])
    wanted = faults(cabling)
    if not options.once:
        from truerail.cli.demo_live import serve_living

        serve_living(options, wanted, traffic)
    elif traffic:
        raise CommandError(f"--once shows no traffic, so no {traffic[0].kind}: omit --once to see it")
    else:
        _check_once(options, wanted)


def _check_once(options: DemoOptions, wanted: "Sequence[Fault]") -> None:
    """Writes the fabric, checks it, prints the report and writes it as HTML."""
    from truerail.cli.check import tell
    from truerail.cli.evaluating import evaluated
    from truerail.model import Severity
    from truerail.outputs import Format

    output, details = options.output, options.details
    with terminal_output.working(f"simulating {options.hosts} hosts with {options.rails} rails"):
        capture = _simulate(options, wanted)
    plan = output / "plan.csv"
    evaluation, _ = evaluated(plan, capture, None, None)
    tell(evaluation, Format.TEXT, None, Severity.WARNING, details=details)
    tell(evaluation, Format.HTML, output / "report.html", Severity.WARNING, details=details)
    terminal_output.say(_next(plan, capture, output))


def _simulate(options: DemoOptions, wanted: "Sequence[Fault]") -> Path:
    """Writes the fabric; returns the capture's folder."""
    from truerail.simulator import demo_simulation

    given = {"faults": wanted} if wanted else {}
    with refused_as_too_few(options.hosts, options.rails):
        simulation = demo_simulation(options.hosts, options.rails, seed=options.seed, **given)
    with refused_by_system(options.output, ""):
        prepare(options.output)
        return simulation.write(options.output)


def _next(plan: Path, capture: Path, output: Path) -> str:
    """Command lines to try."""
    from shlex import quote

    called = terminal_command()
    check = f"{called} check --plan {quote(str(plan))} --from {quote(str(capture))}"
    return "\n".join(
        (
            "",
            "Try next",
            f"  {check} --details",
            f"  {check} --format json",
            f"  {check} --output {quote(str(output / 'report.xlsx'))}",
            f"  {called} check --from {quote(str(capture))}          # without a plan: the rails are inferred",
            f"  {called} plan show {quote(str(plan))}",
            f"  {called} rules list",
            f"The report as a page: {output / 'report.html'}",
        )
    )


def terminal_command() -> str:
    """The command for the user to type: `truerail` if that is on the path, else the current one."""
    import shutil
    import sys
    from shlex import quote

    if shutil.which("truerail"):
        return "truerail"
    return f"{quote(sys.executable)} -m truerail" if sys.argv[0].endswith("__main__.py") else quote(sys.argv[0])
