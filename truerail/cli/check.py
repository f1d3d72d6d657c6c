"""`truerail check`: from a plan and a capture to causes and repairs."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from truerail.cli import terminal_output
from truerail.cli.exit_codes import ExitCode
from truerail.errors import CommandError
from truerail.outputs import Format

if TYPE_CHECKING:
    from truerail.model import Evaluation, Severity


class FailOn(StrEnum):
    """The severity from which findings make exit code 1."""

    CRITICAL = "critical"
    WARNING = "warning"
    INFO = "info"


ReportFormat = Annotated[
    Format | None, typer.Option("--format", help="Format of the report. [default: by --output, else text]")
]
ReportFile = Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="File to write the report to.")]
Failing = Annotated[FailOn, typer.Option(help="Exit with code 1 for findings of this severity or worse.")]
_BY_SUFFIX = {
    ".txt": Format.TEXT,
    ".json": Format.JSON,
    ".csv": Format.CSV,
    ".xlsx": Format.XLSX,
    ".xml": Format.JUNIT,
    ".html": Format.HTML,
    ".htm": Format.HTML,
}


def check(
    capture: Annotated[
        Path | None, typer.Option("--from", metavar="CAPTURE", help="Folder or tar archive with the devices' answers.")
    ] = None,
    inventory: Annotated[
        Path | None, typer.Option(metavar="INVENTORY", help="Poll the devices of this inventory now.")
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(metavar="PLAN", help="Plan file (.yaml .csv .dot). Without it the rails are inferred."),
    ] = None,
    fmt: ReportFormat = None,
    output: ReportFile = None,
    only: Annotated[
        str | None, typer.Option(metavar="NODESET", help="Limit to these nodes: 'gpu-[001-004],leaf-2'.")
    ] = None,
    rule: Annotated[list[str] | None, typer.Option(metavar="CODE", help="Run only this rule. May be repeated.")] = None,
    fail_on: Failing = FailOn.WARNING,
    details: Annotated[
        bool, typer.Option("--details", help="Text, HTML: show everything, with evidence; HTML also prints it.")
    ] = False,
    deadline: Annotated[
        float, typer.Option(min=0.1, metavar="SECONDS", help="With --inventory: time limit for all devices.")
    ] = 60.0,
) -> None:
    """Compare a fabric with its plan: what is wrong, why, and the fewest moves that fix it."""
    from truerail.model import Severity

    chosen = fmt or by_suffix(output)
    refuse_binary_on_terminal(chosen, output)
    evaluation, answered, interrupted = _found(plan, capture, inventory, rule or [], only, deadline)
    severity = Severity(fail_on.value)
    tell(evaluation, chosen, output, severity, details=details)
    if interrupted:
        raise typer.Exit(ExitCode.INTERRUPTED)
    if not answered:
        raise CommandError(f"{capture or inventory}: no device gave a readable answer, nothing was evaluated")
    raise typer.Exit(ExitCode.FOUND if evaluation.at_or_above(severity) else ExitCode.GOOD)


def by_suffix(output: Path | None) -> Format:
    """The format for a file's suffix; text without one. Raises BadParameter for an unknown suffix."""
    suffix = output.suffix.lower() if output else ""
    if suffix and suffix not in _BY_SUFFIX:
        known = ", ".join(_BY_SUFFIX)
        raise typer.BadParameter(
            f"no report format has the ending {suffix} (there are: {known}): add --format for that"
        )
    return _BY_SUFFIX.get(suffix, Format.TEXT)


def _found(
    plan: Path | None, capture: Path | None, inventory: Path | None, rule: list[str], only: str | None, deadline: float
) -> "tuple[Evaluation, bool, bool]":
    """Evaluates the capture or polls the inventory's devices: the evaluation, whether any device answered, and whether
    Ctrl-C ended the round early. Raises BadParameter if it is unclear which.
    """
    from truerail.cli.evaluating import codes, evaluated, evaluated_round

    if (capture is None) == (inventory is None):
        raise typer.BadParameter("give either --from CAPTURE or --inventory INVENTORY")
    wanted = codes(rule)
    if inventory is None:
        assert capture is not None  # noqa: S101 - one of the two is there, see above
        return *evaluated(plan, capture, wanted, only), False
    from truerail.cli import live
    from truerail.poller import Limits

    fleet = live.load_fleet(inventory, plan)
    seen = live.one_round(fleet, only=fleet.asked_for(only), limits=Limits(deadline_seconds=deadline))
    return *evaluated_round(fleet.plan, seen, wanted, only), seen.interrupted


def refuse_binary_on_terminal(fmt: Format, output: Path | None) -> None:
    """Refuses a workbook on a terminal: raises CommandError before any work is done."""
    import sys

    if fmt is Format.XLSX and output is None and sys.stdout.isatty():
        raise CommandError("--format xlsx is not for a terminal: add --output FILE.xlsx")


def tell(evaluation: "Evaluation", fmt: Format, output: Path | None, fail_on: "Severity", *, details: bool) -> None:
    """Renders the report and writes it to the file or to stdout."""
    import sys

    from truerail.outputs.report import Options, render
    from truerail.outputs.report_words import headline

    on_screen = output is None
    options = Options(
        width=terminal_output.width(),
        color=on_screen and terminal_output.colorful(),
        details=details,
        ascii=on_screen and terminal_output.ascii_only(),
        fail_on=fail_on,
        next_step="add --details",
    )
    report = render(evaluation, fmt.value, options)
    if output is not None:
        terminal_output.write(output, report)
        terminal_output.remark(f"{headline(evaluation).cables} Report: {output}")
    elif isinstance(report, bytes):
        sys.stdout.buffer.write(report)
    else:
        terminal_output.say(report)
