"""`truerail check`: a plan and a capture in, the causes and the repairs out."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from truerail.cli.errors import CannotJudge, ExitCode

if TYPE_CHECKING:
    from truerail.model import Judgement, Severity


class Format(StrEnum):
    """The formats of a report, as `truerail.outputs.options` has them; said again so that --help need not import it."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"
    XLSX = "xlsx"
    JUNIT = "junit"
    HTML = "html"


class FailOn(StrEnum):
    """The loudness from which on findings make exit code 1."""

    CRITICAL = "critical"
    WARNING = "warning"
    INFO = "info"


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
        Path, typer.Option("--from", metavar="CAPTURE", help="Folder or tar archive with the devices' answers.")
    ],
    plan: Annotated[
        Path | None,
        typer.Option(metavar="PLAN", help="Plan file (.yaml .csv .dot). Without it the rails are inferred."),
    ] = None,
    fmt: Annotated[
        Format | None, typer.Option("--format", help="Format of the report. [default: by --output, else text]")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the report there.")
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(metavar="NODESET", help="Tell only what concerns these devices: 'gpu-[001-004],leaf-2'."),
    ] = None,
    rule: Annotated[list[str] | None, typer.Option(metavar="CODE", help="Run only this rule. May be repeated.")] = None,
    fail_on: Annotated[FailOn, typer.Option(help="Findings from this severity on make exit code 1.")] = FailOn.WARNING,
    details: Annotated[bool, typer.Option("--details", help="Text: show everything, with evidence.")] = False,
) -> None:
    """Compare a fabric with its plan: what is wrong, why, and the fewest moves that put it right."""
    from truerail.cli.judging import codes, judged
    from truerail.model import Severity

    chosen = fmt or (_BY_SUFFIX.get(output.suffix.lower()) if output else None) or Format.TEXT
    refuse_binary_on_terminal(chosen, output)
    judgement, answered = judged(plan, capture, codes(rule or []), only)
    severity = Severity(fail_on.value)
    tell(judgement, chosen, output, severity, details=details)
    if not answered:
        raise CannotJudge(f"{capture}: no device gave an answer that could be read, nothing was judged")
    raise typer.Exit(ExitCode.FOUND if judgement.at_or_above(severity) else ExitCode.GOOD)


def refuse_binary_on_terminal(fmt: Format, output: Path | None) -> None:
    """A workbook on a terminal helps nobody. Raises CannotJudge before any work is done."""
    import sys

    if fmt is Format.XLSX and output is None and sys.stdout.isatty():
        raise CannotJudge("--format xlsx is not for a terminal: add --output FILE.xlsx")


def tell(judgement: "Judgement", fmt: Format, output: Path | None, fail_on: "Severity", *, details: bool) -> None:
    """Renders the report and puts it where it belongs."""
    import sys

    from truerail.cli import terminal
    from truerail.outputs.report import Options, render
    from truerail.outputs.words import headline

    on_screen = output is None
    options = Options(
        width=terminal.width(),
        color=on_screen and terminal.colorful(),
        details=details,
        ascii=on_screen and terminal.ascii_only(),
        fail_on=fail_on,
        next_step="add --details",
    )
    report = render(judgement, fmt.value, options)
    if output is not None:
        terminal.write(output, report)
        terminal.remark(f"{headline(judgement).cables} Report: {output}")
    elif isinstance(report, bytes):
        sys.stdout.buffer.write(report)
    else:
        terminal.say(report)
