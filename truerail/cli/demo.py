"""`truerail demo`: a whole fabric without hardware, checked through the same path as a real one."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from truerail.cli.errors import CannotJudge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from truerail.simulator import Fault

MARK = ".truerail-demo"


def demo(
    hosts: Annotated[int, typer.Option(min=1, help="Hosts of the pod.")] = 64,
    rails: Annotated[int, typer.Option(min=1, help="Rails, that is NICs of a host.")] = 8,
    fault: Annotated[
        list[str] | None, typer.Option(metavar="KIND", help="A fault to plant, such as cable-swap. May be repeated.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed makes the same fabric.")] = 1,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for everything made.")] = Path(
        "truerail-demo"
    ),
    details: Annotated[bool, typer.Option("--details", help="Show everything, with evidence.")] = False,
    once: Annotated[bool, typer.Option("--once", help="End after the report.")] = False,
    host: Annotated[str, typer.Option(help="Reserved for the page: the report is printed and written.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Reserved for the page.")] = 8080,
) -> None:
    """Simulate a faulty fabric as devices' answers in files, check it, print the report and write it as HTML."""
    from truerail.cli import terminal
    from truerail.cli.check import Format, tell
    from truerail.cli.judging import judged
    from truerail.model import Severity

    with terminal.working(f"simulating {hosts} hosts with {rails} rails"):
        capture = _simulate(hosts, rails, faults(fault or []), seed, output)
    plan = output / "plan.csv"
    judgement, _ = judged(plan, capture, None, None)
    tell(judgement, Format.TEXT, None, Severity.WARNING, details=details)
    tell(judgement, Format.HTML, output / "report.html", Severity.WARNING, details=details)
    terminal.say(_next(plan, capture, output))


def faults(words: "Sequence[str]") -> "list[Fault]":
    """`cable-swap` or `cable-swap:one-leaf`. Raises CannotJudge for a kind or variant that cannot be planted."""
    from truerail.files.problems import nearest
    from truerail.model import CauseKind
    from truerail.simulator import KINDS, Fault

    made = []
    for word in words:
        kind, _, variant = word.partition(":")
        if kind not in KINDS:
            raise CannotJudge(f"no fault {kind!r} can be planted{nearest(kind, [known.value for known in KINDS])}")
        try:
            made.append(Fault(CauseKind(kind), variant))
        except ValueError as error:
            raise CannotJudge(str(error)) from error
    return made


def _simulate(hosts: int, rails: int, wanted: "list[Fault]", seed: int, output: Path) -> Path:
    """Writes the fabric; gives the capture's folder."""
    from truerail.simulator import NoRoom, demo_simulation

    try:
        simulation = demo_simulation(hosts, rails, wanted, seed) if wanted else demo_simulation(hosts, rails, seed=seed)
        _clear(output)
        return simulation.write(output)
    except NoRoom as error:
        raise CannotJudge(f"{hosts} hosts with {rails} rails are too few for these faults: {error}") from error
    except OSError as error:
        raise CannotJudge(f"{output}: {error.strerror or error}") from error


def _clear(output: Path) -> None:
    """Makes the folder, or empties the one of an earlier demo. What no demo made is never touched."""
    import shutil

    mark = output / MARK
    if output.exists() and not mark.exists() and any(output.iterdir()):
        raise CannotJudge(f"{output} is not empty and not made by a demo: name another folder with --output")
    if mark.exists():
        shutil.rmtree(output / "capture", ignore_errors=True)
    output.mkdir(parents=True, exist_ok=True)
    mark.write_text("Made by truerail demo, which empties it when it runs again.\n", encoding="utf-8")


def _next(plan: Path, capture: Path, output: Path) -> str:
    """Command lines to try."""
    from shlex import quote

    called = _called()
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


def _called() -> str:
    """The command as the user can type it: `truerail` where that is on the path, else what was typed now."""
    import shutil
    import sys
    from shlex import quote

    if shutil.which("truerail"):
        return "truerail"
    return f"{quote(sys.executable)} -m truerail" if sys.argv[0].endswith("__main__.py") else quote(sys.argv[0])
