"""`truerail plan`: creates, checks, shows, converts plans and infers them from a fabric."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from truerail.cli import terminal_output
from truerail.cli.check import FailOn
from truerail.cli.exit_codes import ExitCode, refused_by_system, refusing
from truerail.errors import CommandError, QueryError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from truerail.model import Plan
    from truerail.plans.shape import Shape, SwitchShape

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


class Paper(StrEnum):
    """The paper of label sheets, rack sheets and port maps."""

    A4 = "a4"
    LETTER = "letter"


class Language(StrEnum):
    """The format of a plan file: this project's three, then those of other tools."""

    YAML = "yaml"
    CSV = "csv"
    DOT = "dot"
    XLSX = "xlsx"
    NDT = "ndt"
    NETBOX = "netbox"
    CONTAINERLAB = "containerlab"
    TOPO = "topo"


@app.command()
def new(
    template: Annotated[
        str | None, typer.Option(metavar="NAME", help="A published design, its numbers changed by the other options.")
    ] = None,
    hosts: Annotated[int | None, typer.Option(help="Number of hosts. [default: 64]")] = None,
    rails: Annotated[int | None, typer.Option(help="Rails: NICs of each host. [default: 8]")] = None,
    spines: Annotated[int | None, typer.Option(help="Number of spines; 0: rail-only. [default: 8]")] = None,
    uplinks: Annotated[int | None, typer.Option(help="Uplinks of a leaf. [default: non-blocking]")] = None,
    pods: Annotated[int | None, typer.Option(help="Pods. [default: 1]")] = None,
    rails_per_leaf: Annotated[int | None, typer.Option(help="Rails on each leaf. [default: 1]")] = None,
    planes: Annotated[int | None, typer.Option(help="Ports of each NIC, each to its own switch. [default: 1]")] = None,
    speed: Annotated[float | None, typer.Option(help="Gb/s of every cable. [default: 400]")] = None,
    platform: Annotated[
        str | None, typer.Option(help="Sets the names of switch ports: cumulus, sonic, eos, ... [default: cumulus]")
    ] = None,
    templates: Annotated[bool, typer.Option("--list", help="List the templates and end.")] = False,
    output: Output = None,
) -> None:
    """Write a starting plan of a regular fabric, or of a published design."""
    from truerail.plans.starting import TEMPLATES, from_template, summary

    if templates:
        width = max(map(len, TEMPLATES))
        _put("\n".join(f"{name:<{width}}  {summary(name)}" for name in TEMPLATES), output)
        return
    numbers: dict[str, Any] = {"hosts": hosts, "rails": rails, "spines": spines, "uplinks": uplinks, "pods": pods}
    numbers |= {"planes": planes, "rails_per_leaf": rails_per_leaf, "speed_gbps": speed, "platform": platform}
    with refusing(ValueError):
        text = from_template(template, {name: value for name, value in numbers.items() if value is not None})
    _put(text, output)


@app.command()
def lint(
    plan: PlanFile,
    fail_on: Annotated[
        FailOn, typer.Option(help="Exit with code 1 for problems of this severity or worse.")
    ] = FailOn.WARNING,
) -> None:
    """Find mistakes in the plan itself."""
    from truerail.cli.evaluating import load_plan
    from truerail.model import Severity
    from truerail.outputs.report_words import count
    from truerail.plans import lint as problems_of

    loaded = load_plan(plan, unnamed=True)
    terminal_output.remark(*loaded.notes)
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

    loaded = load_plan(plan, unnamed=True)
    if view is View.SVG:
        from truerail.plans import draw_svg

        _put(draw_svg(loaded), output)
        return
    from truerail.plans import describe

    _put(_table(loaded, describe(loaded)), output)


@app.command()
def convert(
    plan: PlanFile,
    form: Annotated[
        str, typer.Option("--from", metavar="FORMAT", help="Format of PLAN, such as netbox. [default: by content]")
    ] = "",
    out_of_band: Annotated[
        bool, typer.Option("--out-of-band", help="Keep the cables of the management network that a cable list has.")
    ] = False,
    layout: Annotated[
        Path | None, typer.Option(metavar="CSV", help="Racks and their scalable units, which become pods.")
    ] = None,
    hca_mapping: Annotated[
        Path | None, typer.Option(metavar="CSV", help="port,hca-name: RDMA devices for the hosts' port numbers.")
    ] = None,
    to: Annotated[Language | None, typer.Option(help="Format to write. [default: by --output, else csv]")] = None,
    output: Output = None,
) -> None:
    """Write a plan, or a cable list of another tool, in another format."""
    from truerail.cli.evaluating import load_plan

    loaded = load_plan(plan, out_of_band=out_of_band, unnamed=True, form=form)
    loaded = _with_companions(loaded, layout, hca_mapping)
    terminal_output.remark(*loaded.notes)
    _put(_written(loaded, to or _language(output, Language.CSV)), output)


def _with_companions(plan: "Plan", layout: Path | None, hca_mapping: Path | None) -> "Plan":
    """The plan with the files that come with a cable list. Raises CommandError."""
    from truerail.plans import PlanError
    from truerail.plans.companions import with_hca_names, with_layout

    with refusing(PlanError):
        plan = with_layout(plan, layout) if layout else plan
        return with_hca_names(plan, hca_mapping) if hca_mapping else plan


@app.command(short_help="Labels, rack sheets, port maps and a bill of cables.")
def pack(
    plan: PlanFile,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for the files.")],
    base_url: Annotated[
        str, typer.Option(metavar="URL", help="Address of the service's page: QR codes open the cable there.")
    ] = "",
    paper: Annotated[Paper, typer.Option(help="Sheets of labels: Avery L7160 on A4, 5160 on Letter.")] = Paper.A4,
) -> None:
    """Write what is needed to cable a plan: labels with QR codes for both ends of each cable, rack sheets, port
    maps, and a bill of cables by kind and length.
    """
    from truerail.cli.evaluating import load_plan
    from truerail.outputs.pack import COLUMNS, bill_of, make_pack

    loaded = load_plan(plan)
    with refused_by_system(output, ""), refusing(QueryError):
        output.mkdir(parents=True, exist_ok=True)
        for name, content in make_pack(loaded, base_url, paper.value):
            terminal_output.write(output / name, content)
            terminal_output.remark(f"written: {output / name}")
    terminal_output.say_rows([COLUMNS, *(tuple(map(str, row)) for row in bill_of(loaded))])


@app.command(short_help="Infer the rails of a fabric; write them as a plan.")
def infer(
    capture: Annotated[Path, typer.Option("--from", metavar="CAPTURE", help="Folder or tar archive with the answers.")],
    to: Annotated[Language | None, typer.Option(help="Format to write. [default: by --output, else yaml]")] = None,
    output: Output = None,
) -> None:
    """Infer the rails of a fabric by consensus over its hosts, and write them as a plan."""
    from truerail.cli.evaluating import inferred, read

    plan, reported = inferred(read(capture, None).snapshot())
    terminal_output.remark(*reported)
    language = to or _language(output, Language.YAML)
    doubts = [line for line in reported if plan.undecided and line.startswith(("Not decided", "No adapter"))]
    remarks = "".join(f"# {line}\n" for line in doubts) if language is Language.YAML else ""
    written = _written(plan, language)
    _put(remarks + written if isinstance(written, str) else written, output)


@app.command(short_help="Match the plan's names with the devices'; write it with theirs.")
def fit(
    plan: PlanFile,
    capture: Annotated[Path, typer.Option("--from", metavar="CAPTURE", help="Folder or tar archive with the answers.")],
    accept: Annotated[bool, typer.Option("--accept", help="Answer yes to each question.")] = False,
    to: Annotated[Language | None, typer.Option(help="Format to write. [default: by --output, else csv]")] = None,
    output: Output = None,
) -> None:
    """Show which names of a plan the devices do not have and which of theirs they mean; write the plan with these."""
    from truerail.cli.evaluating import load_plan, read, round_of
    from truerail.plans.orient import with_own_names

    loaded = load_plan(plan)
    seen = read(capture, loaded)
    found = round_of(loaded, seen, seen.snapshot()).cabling.identity.fit
    matches = [f"{match.words}{'?' * match.open}" for match in found.matches]
    terminal_output.remark(*(matches or ["The devices have the names of the plan."]))
    if output or to:
        ports = {**found.ports, **found.proposed} if accept else found.ports
        devices = {**found.devices, **found.maybe} if accept else found.devices
        _put(_written(with_own_names(loaded, devices, ports), to or _language(output, Language.CSV)), output)
    raise typer.Exit(ExitCode.FOUND if any(one.open for one in found.matches) and not accept else ExitCode.GOOD)


def _language(output: Path | None, otherwise: Language) -> Language:
    named = (Language.YAML, Language.CSV, Language.DOT, Language.XLSX, Language.NDT, Language.TOPO)
    by_suffix = {".yml": Language.YAML, ".gv": Language.DOT, **{f".{one.value}": one for one in named}}
    if output and output.name.lower().endswith((".clab.yml", ".clab.yaml")):
        return Language.CONTAINERLAB
    return by_suffix.get(output.suffix.lower() if output else "", otherwise)


def _written(plan: "Plan", language: Language) -> str | bytes:
    """The plan in a format. What that cannot hold is reported. Raises CommandError for names that it cannot."""
    from truerail import plans
    from truerail.plans import exports

    if plan.qos and language is not Language.YAML:
        terminal_output.remark("not in this format: qos")
    own = {Language.YAML: plans.dump_yaml, Language.CSV: plans.dump_csv, Language.DOT: plans.dump_dot}
    if language in own:
        return own[language](plan)
    if language is Language.XLSX:
        return exports.dump_workbook(plan)
    with refusing(QueryError):
        text = exports.TEXTS[language](plan)
    terminal_output.remark(f"not in this format: {exports.LOSES[language]}")
    return text


def _put(content: str | bytes, output: Path | None) -> None:
    if output is None:
        if isinstance(content, bytes):
            raise CommandError("a workbook is no text: give a file with --output")
        terminal_output.say(content)
        return
    ends = isinstance(content, bytes) or content.endswith("\n")
    terminal_output.write(output, content if ends else f"{content!s}\n")
    terminal_output.remark(f"written: {output}")


# ----------------------------------------------------------------------------------------------------------------------
# A plan in numbers, as text: the fabric, then a line for each switch.

_COLUMNS = ("switch", "role", "pod", "rails", "planes", "down", "up", "oversubscribed")


def _table(plan: "Plan", shape: "Shape") -> str:
    """The whole table."""
    return "\n".join([*_fabric(plan, shape), "", *terminal_output.aligned([_COLUMNS, *map(_switch, shape.switches)])])


def _fabric(plan: "Plan", shape: "Shape") -> "Iterator[str]":
    from truerail.outputs.report_words import count, title

    yield f"{title(plan)}: {plan.transport.value}, {plan.load_balancing.value}"
    parts = [count(shape.hosts, "host"), count(len(shape.rails), "rail"), count(len(shape.leaves), "leaf", "leaves")]
    parts += [count(len(shape.switches) - len(shape.leaves), "switch above", "switches above")]
    yield ", ".join([*([count(shape.gpus, "GPU")] if shape.gpus is not None else []), *parts])
    yield f"{count(shape.host_cables, 'host cable')}, {count(shape.uplinks, 'uplink')}"
    yield f"bisection bandwidth: {_bisection(shape)}"


def _bisection(shape: "Shape") -> str:
    gbytes = shape.bisection_gbytes_per_second
    if gbytes is None:
        return "unknown, not every uplink has a speed"
    if not gbytes:
        return "none, leaves have no uplinks (rail-only)"
    return f"{gbytes / 1000:g} TB/s ({shape.bisection_gbps:,.0f} Gb/s)"


def _switch(switch: "SwitchShape") -> tuple[str, ...]:
    from truerail.outputs.report_words import name

    ratio = switch.oversubscription
    numbers = (_numbers(switch.rails), _numbers(switch.planes), str(switch.down_ports), str(switch.up_ports))
    oversubscribed = "-" if ratio is None else f"{ratio:.2f}:1"
    return (name(switch.name), switch.role.value, name(switch.pod), *numbers, oversubscribed)


def _numbers(numbers: "Sequence[int]") -> str:
    """`0-7`, `0,4`, or `-` for none."""
    if len(numbers) > 2 and list(numbers) == list(range(numbers[0], numbers[-1] + 1)):
        return f"{numbers[0]}-{numbers[-1]}"
    return ",".join(map(str, numbers)) or "-"
