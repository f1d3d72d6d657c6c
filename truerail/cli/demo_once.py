"""`truerail demo --once`: the fabric as devices' answers in files, checked like any capture, and reported."""

from pathlib import Path
from typing import TYPE_CHECKING

from truerail.errors import CommandError, NoRoomError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from truerail.simulator import Fault


def check_once(hosts: int, rails: int, wanted: "Sequence[Fault]", seed: int, output: Path, *, details: bool) -> None:
    """Writes the fabric, checks it, prints the report and writes it as HTML."""
    from truerail.cli import terminal_output
    from truerail.cli.check import tell
    from truerail.cli.evaluating import evaluated
    from truerail.model import Severity
    from truerail.outputs import Format

    with terminal_output.working(f"simulating {hosts} hosts with {rails} rails"):
        capture = _simulate(hosts, rails, wanted, seed, output)
    plan = output / "plan.csv"
    evaluation, _ = evaluated(plan, capture, None, None)
    tell(evaluation, Format.TEXT, None, Severity.WARNING, details=details)
    tell(evaluation, Format.HTML, output / "report.html", Severity.WARNING, details=details)
    terminal_output.say(_next(plan, capture, output))


def _simulate(hosts: int, rails: int, wanted: "Sequence[Fault]", seed: int, output: Path) -> Path:
    """Writes the fabric; returns the capture's folder."""
    from truerail.cli.demo_folder import prepare, too_few
    from truerail.simulator import demo_simulation

    try:
        simulation = demo_simulation(hosts, rails, wanted, seed) if wanted else demo_simulation(hosts, rails, seed=seed)
        prepare(output)
        return simulation.write(output)
    except NoRoomError as error:
        raise too_few(hosts, rails, error) from error
    except OSError as error:
        raise CommandError(f"{output}: {error.strerror or error}") from error


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
