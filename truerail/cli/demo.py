"""`truerail demo`: a fabric without hardware. It changes and the real service monitors it, or it is checked once."""

import os
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from truerail.cli.demo_folder import faults, troubles
from truerail.errors import CommandError

KNOWN = (
    "Of cables: cable-swap, cable-rotation, cable-move, port-shift, host-swap, leaf-swap, bundle-swap, trunk-swap, "
    "panel-shift, gpu-nic-order, link-down, degraded-link, unreachable. Of traffic, without --once: storm, "
    "slow-receiver, deadlock, half-speed, straggler, dirty-optic, flaps, polarization, dead-member, incast, pxn."
)
"""The available faults, written out: help must not load the simulator."""


def demo(
    context: typer.Context,
    hosts: Annotated[int, typer.Option(min=1, help="Hosts of the fabric.")] = 64,
    rails: Annotated[int, typer.Option(min=1, help="Rails: NICs of each host.")] = 8,
    fault: Annotated[
        list[str] | None, typer.Option(metavar="KIND", help=f"A fault at the start; may be repeated. {KNOWN}")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed makes the same fabric and story.")] = 1,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for all files.")] = Path(
        "truerail-demo"
    ),
    once: Annotated[bool, typer.Option("--once", help="Check the fabric once, print the report and end.")] = False,
    details: Annotated[bool, typer.Option("--details", help="With --once: show everything, with evidence.")] = False,
    host: Annotated[str, typer.Option(help="Address of the page.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the page; 0: any free one.")] = 8080,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not print the fabric's events.")] = False,
) -> None:
    """Run the service on a simulated, changing fabric: faults appear and are repaired. Ctrl-C stops it.

    What it writes can be read by its user alone.
    """
    context.call_on_close(partial(os.umask, os.umask(0o077)))
    cabling, traffic = troubles(fault or [])
    wanted = faults(cabling)
    if once:
        from truerail.cli.demo_once import check_once

        if traffic:
            raise CommandError(f"--once shows no traffic, so no {traffic[0].kind}: omit --once to see it")
        check_once(hosts, rails, wanted, seed, output, details=details)
    else:
        from truerail.cli.demo_live import serve_living

        serve_living(hosts, rails, wanted, traffic, seed, output, host=host, port=port, quiet=quiet)
