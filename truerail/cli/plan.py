"""`truerail plan`: creates, checks, shows, converts plans and infers them from a fabric."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from truerail.cli.check import FailOn
from truerail.cli.exit_codes import ExitCode
from truerail.errors import CommandError

if TYPE_CHECKING:
    from truerail.model import Plan

app = typer.Typer(help="Make, check, show, convert and infer plans.", no_args_is_help=True)

PlanFile = Annotated[
    Path,
    typer.Argument(metavar="PLAN", help="Plan (.yaml .csv .dot), or a cable list of another tool (.xlsx .json ...)."),
]
Output = Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="File to write. [default: stdout]")]


class View(StrEnum):
    """How a plan is shown."""

    TABLE = "table"
    SVG = "svg"


class Language(StrEnum):
    """The format of a plan file."""

    YAML = "yaml"
    CSV = "csv"
    DOT = "dot"


@app.command()
def new(
    hosts: Annotated[int, typer.Option(help="Number of hosts.")] = 64,
    rails: Annotated[int, typer.Option(help="Rails: NICs of each host.")] = 8,
    spines: Annotated[int, typer.Option(help="Number of spines; 0: rail-only.")] = 8,
    uplinks: Annotated[int | None, typer.Option(help="Uplinks of a leaf. [default: non-blocking]")] = None,
    pods: Annotated[int, typer.Option(help="Pods.")] = 1,
    rails_per_leaf: Annotated[int, typer.Option(help="Rails on each leaf.")] = 1,
    planes: Annotated[int, typer.Option(help="Ports of each NIC, each to its own switch.")] = 1,
    speed: Annotated[float, typer.Option(help="Gb/s of every cable.")] = 400,
    platform: Annotated[str, typer.Option(help="Sets the names of switch ports: cumulus, sonic, eos, ...")] = "cumulus",
    output: Output = None,
) -> None:
    """Write a starting plan of a regular fabric."""
    from truerail.plans import new_plan

    try:
        text = new_plan(
            hosts,
            rails,
            spines=spines,
            uplinks=uplinks,
            pods=pods,
            rails_per_leaf=rails_per_leaf,
            planes=planes,
            speed_gbps=speed,
            platform=platform,
        )
    except ValueError as error:
        raise CommandError(str(error)) from error
    _put(text, output)


@app.command()
def lint(
    plan: PlanFile,
    fail_on: Annotated[
        FailOn, typer.Option(help="Exit with code 1 for problems of this severity or worse.")
    ] = FailOn.WARNING,
) -> None:
    """Find mistakes in the plan itself."""
    from truerail.cli import terminal_output
    from truerail.cli.evaluating import load_plan
    from truerail.model import Severity
    from truerail.outputs.report_words import count
    from truerail.plans import lint as problems_of

    loaded = load_plan(plan)
    for note in loaded.notes:
        terminal_output.remark(note)
    problems = problems_of(loaded)
    for problem in problems:
        terminal_output.say(f"{problem.severity.value:<8}  {problem}")
    terminal_output.remark(f"{count(len(problems), 'problem')} in {count(len(loaded.cables), 'cable')}")
    loud = [problem for problem in problems if problem.severity.rank >= Severity(fail_on.value).rank]
    raise typer.Exit(ExitCode.FOUND if loud else ExitCode.GOOD)


@app.command(short_help="Show pods, rails, leaves and oversubscription.")
def show(
    plan: PlanFile,
    view: Annotated[View, typer.Option("--format", help="A table, or a drawing.")] = View.TABLE,
    output: Output = None,
) -> None:
    """Show pods, rails and leaves, each leaf's oversubscription and the fabric's bisection bandwidth."""
    from truerail.cli.evaluating import load_plan

    loaded = load_plan(plan)
    if view is View.SVG:
        from truerail.plans import draw_svg

        _put(draw_svg(loaded), output)
        return
    from truerail.cli.plan_table import table
    from truerail.plans import describe

    _put(table(loaded, describe(loaded)), output)


@app.command()
def convert(
    plan: PlanFile,
    out_of_band: Annotated[
        bool, typer.Option("--out-of-band", help="Keep the cables of the management network that a cable list has.")
    ] = False,
    to: Annotated[Language | None, typer.Option(help="Format to write. [default: by --output, else csv]")] = None,
    output: Output = None,
) -> None:
    """Write a plan, or a cable list of another tool, in a format of truerail."""
    from truerail.cli import terminal_output
    from truerail.cli.evaluating import load_plan

    loaded = load_plan(plan, out_of_band=out_of_band)
    for note in loaded.notes:
        terminal_output.remark(note)
    _put(_written(loaded, to or _language(output, Language.CSV)), output)


@app.command(short_help="Infer the rails of a fabric; write them as a plan.")
def infer(
    capture: Annotated[Path, typer.Option("--from", metavar="CAPTURE", help="Folder or tar archive with the answers.")],
    to: Annotated[Language | None, typer.Option(help="Format to write. [default: by --output, else yaml]")] = None,
    output: Output = None,
) -> None:
    """Infer the rails of a fabric by consensus over its hosts, and write them as a plan."""
    from truerail.cli import terminal_output
    from truerail.cli.evaluating import inferred, read

    plan, reported = inferred(read(capture, None).snapshot())
    for line in reported:
        terminal_output.remark(line)
    language = to or _language(output, Language.YAML)
    doubts = [line for line in reported if plan.undecided and line.startswith("Not decided")]
    remarks = "".join(f"# {line}\n" for line in doubts) if language is Language.YAML else ""
    _put(remarks + _written(plan, language), output)


def _language(output: Path | None, otherwise: Language) -> Language:
    suffix = output.suffix.lower() if output else ""
    by_suffix = {
        ".yaml": Language.YAML,
        ".yml": Language.YAML,
        ".csv": Language.CSV,
        ".dot": Language.DOT,
        ".gv": Language.DOT,
    }
    return by_suffix.get(suffix, otherwise)


def _written(plan: "Plan", language: Language) -> str:
    from truerail import plans

    writers = {Language.YAML: plans.dump_yaml, Language.CSV: plans.dump_csv, Language.DOT: plans.dump_dot}
    return writers[language](plan)


def _put(text: str, output: Path | None) -> None:
    from truerail.cli import terminal_output

    if output is None:
        terminal_output.say(text)
    else:
        terminal_output.write(output, text if text.endswith("\n") else text + "\n")
        terminal_output.remark(f"written: {output}")
