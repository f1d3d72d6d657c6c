"""`truerail demo`: a whole fabric without hardware. It lives and is watched by the real service, or is checked once."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from truerail.cli.errors import CannotJudge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from truerail.simulator import Fault
    from truerail.simulator.flows import FlowFault


def demo(
    hosts: Annotated[int, typer.Option(min=1, help="Hosts of the fabric.")] = 64,
    rails: Annotated[int, typer.Option(min=1, help="Rails, that is NICs of a host.")] = 8,
    fault: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help="A fault to begin with: cable-swap, storm, ... May be repeated."),
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed makes the same fabric and story.")] = 1,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for everything made.")] = Path(
        "truerail-demo"
    ),
    once: Annotated[bool, typer.Option("--once", help="Check the fabric once, print the report and end.")] = False,
    details: Annotated[bool, typer.Option("--details", help="With --once: show everything, with evidence.")] = False,
    host: Annotated[str, typer.Option(help="Address to serve the page on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to serve the page on, or the next free one; 0: any.")
    ] = 8080,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not tell what happens on the fabric.")] = False,
) -> None:
    """Serve a simulated fabric that lives: faults appear and are repaired while you look. Ctrl-C ends it."""
    cabling, traffic = troubles(fault or [])
    wanted = faults(cabling)
    if once:
        from truerail.cli.demo_once import check_once

        if traffic:
            raise CannotJudge(f"--once shows no traffic, so no {traffic[0].kind}: leave --once out to see it")
        check_once(hosts, rails, wanted, seed, output, details=details)
    else:
        from truerail.cli.demo_live import serve_living

        serve_living(hosts, rails, wanted, traffic, seed, output, host=host, port=port, quiet=quiet)


def faults(words: "Sequence[str]") -> "list[Fault]":
    """`cable-swap` or `cable-swap:one-leaf`. Raises CannotJudge for a kind or variant that cannot be planted."""
    from truerail.files.problems import nearest
    from truerail.model import CauseKind
    from truerail.simulator import KINDS, Fault

    made = []
    for word in words:
        kind, _, variant = word.partition(":")
        if kind not in KINDS:
            known = [*(known.value for known in KINDS), *_troubles()]
            raise CannotJudge(f"no fault {kind!r} can be planted{nearest(kind, known)}")
        try:
            made.append(Fault(CauseKind(kind), variant))
        except ValueError as error:
            raise CannotJudge(str(error)) from error
    return made


def troubles(words: "Sequence[str]") -> "tuple[list[str], list[FlowFault]]":
    """Words that are faults of the cabling, and those that are of the traffic: `storm` or `slow-receiver:pcie`."""
    from truerail.simulator.flows import FlowFault, FlowFaultKind

    known = _troubles()
    traffic = [word for word in words if word.partition(":")[0] in known]
    made = [FlowFault(FlowFaultKind(word.partition(":")[0]), variant=word.partition(":")[2]) for word in traffic]
    return [word for word in words if word not in traffic], made


def _troubles() -> list[str]:
    """What can go wrong with the traffic."""
    from truerail.simulator.flows.faults import KINDS

    return [kind.value for kind in KINDS]
