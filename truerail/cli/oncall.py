"""The on-call questions: `truerail where|job|blast|path|diff|why|storm|timeline`, from the service or a capture."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from truerail.cli.exit_codes import ExitCode
from truerail.cli.oncall_options import (
    LOCAL_SERVICE,
    Capture,
    Details,
    Format,
    Inventory,
    OnlyCapture,
    OnlyPlanFile,
    PlanFile,
    Service,
    Shown,
    TokenFile,
)

if TYPE_CHECKING:
    from truerail.cli.oncall_source import Question, Source


def where(
    port: Annotated[str, typer.Argument(help="gpu-012/enp26s0f0np0, 'gpu-012 GPU 3', leaf-3/swp12, a MAC, a host.")],
    service: Service = LOCAL_SERVICE,
    token_file: TokenFile = None,
    capture: Capture = None,
    inventory: Inventory = None,
    plan: PlanFile = None,
    fmt: Shown = Format.TEXT,
    details: Details = False,
) -> None:
    """The whole path of a cable: GPU, NIC, leaf port, rail, uplinks; planned and actual, and its findings."""
    from truerail.cli.oncall_source import Question, Source
    from truerail.questions.models import Where
    from truerail.questions.where import where as answer

    question = Question(Where, "where", {"port": port}, lambda shown, history: answer(shown, port, history))
    _tell(question, Source(service, token_file, capture, inventory, plan), fmt, details)


def job(
    nodeset: Annotated[str, typer.Argument(help="The hosts of the job: 'gpu-[001-064]'.")],
    service: Service = LOCAL_SERVICE,
    token_file: TokenFile = None,
    capture: Capture = None,
    inventory: Inventory = None,
    plan: PlanFile = None,
    fmt: Shown = Format.TEXT,
    details: Details = False,
) -> None:
    """Which rails of these hosts are whole, which are not, and how NCCL reacts."""
    from truerail.cli.oncall_source import Question, Source
    from truerail.questions.job import job as answer
    from truerail.questions.models import Job

    question = Question(Job, "job", {"nodes": nodeset}, lambda shown, _: answer(shown, nodeset))
    _tell(question, Source(service, token_file, capture, inventory, plan), fmt, details)


def blast(
    of: Annotated[str, typer.Argument(help="A device or a port: leaf-3, spine-1/swp4, gpu-012/mlx5_3.")],
    service: Service = LOCAL_SERVICE,
    token_file: TokenFile = None,
    capture: Capture = None,
    inventory: Inventory = None,
    plan: PlanFile = None,
    fmt: Shown = Format.TEXT,
    details: Details = False,
) -> None:
    """The impact while a device, a port, a rail (`rail3`) or a pod is down, and what to do first."""
    from truerail.cli.oncall_source import Question, Source
    from truerail.questions.blast import blast as answer
    from truerail.questions.models import Blast

    question = Question(Blast, "blast", {"of": of}, lambda shown, _: answer(shown, of))
    _tell(question, Source(service, token_file, capture, inventory, plan), fmt, details)


def path(
    source: Annotated[str, typer.Argument(metavar="HOST", help="The sending host, or its GPU: 'gpu-001 GPU 3'.")],
    target: Annotated[str, typer.Argument(metavar="HOST", help="The receiving host, or its GPU.")],
    rail: Annotated[int | None, typer.Option(min=0, help="Limit to this rail.")] = None,
    service: Service = LOCAL_SERVICE,
    token_file: TokenFile = None,
    capture: Capture = None,
    inventory: Inventory = None,
    plan: PlanFile = None,
    fmt: Shown = Format.TEXT,
    details: Details = False,
) -> None:
    """The actual hops from host to host on each rail, and where a path leaves its rail; between GPUs also by PXN."""
    from truerail.cli.oncall_source import Question, Source
    from truerail.questions.models import PathAnswer
    from truerail.questions.path import path as answer

    query = {"from": source, "to": target, "rail": None if rail is None else str(rail)}
    question = Question(PathAnswer, "path", query, lambda shown, _: answer(shown, source, target, rail))
    _tell(question, Source(service, token_file, capture, inventory, plan), fmt, details)


def diff(
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="From this time until now: 2h, 14:00, yesterday.")
    ] = None,
    start: Annotated[str | None, typer.Option("--from", metavar="TIME", help="Start: ISO 8601, or as above.")] = None,
    end: Annotated[str | None, typer.Option("--to", metavar="TIME", help="End. [default: now]")] = None,
    against_plan: Annotated[bool, typer.Option("--plan", help="Current differences from the plan.")] = False,
    before: Annotated[
        Path | None, typer.Option(metavar="CAPTURE", help="With --capture: compare with this capture's newest round.")
    ] = None,
    service: Service = LOCAL_SERVICE,
    token_file: TokenFile = None,
    capture: OnlyCapture = None,
    inventory: Inventory = None,
    plan: OnlyPlanFile = None,
    fmt: Shown = Format.TEXT,
    details: Details = False,
) -> None:
    """Show changes of links and findings: since a time, between two times or captures, or against the plan.

    In a capture with several rounds, times count back from the newest one.
    """
    from truerail.cli.oncall_source import Question, Source
    from truerail.questions.diff import diff_plan
    from truerail.questions.models import Diff

    if sum(map(bool, (since, start, against_plan, before))) != 1:
        raise typer.BadParameter(
            "give one of: --since TIME, --from TIME [--to TIME], --plan, or --before CAPTURE --capture CAPTURE"
        )
    if end and not start:
        raise typer.BadParameter("--to goes with --from")
    if before and not capture:
        raise typer.BadParameter("--before goes with --capture")
    if capture and not against_plan and not inventory:
        from truerail.cli.oncall_rounds import Wanted, diff_rounds
        from truerail.views.plain import as_json

        found = diff_rounds(Wanted(capture, plan, before, since, start, end))
        _show(found, as_json(found), fmt, details)
    query = {"since": since, "from": start, "to": end, "plan": "true" if against_plan else None}
    question = Question(Diff, "diff", query, (lambda shown, _: diff_plan(shown)) if against_plan else None)
    _tell(question, Source(service, token_file, capture, inventory, plan), fmt, details)


def why(
    finding: Annotated[str, typer.Argument(help="The id of a finding: 6f4dbffbab52.")],
    service: Service = LOCAL_SERVICE,
    token_file: TokenFile = None,
    capture: Capture = None,
    inventory: Inventory = None,
    plan: PlanFile = None,
    fmt: Shown = Format.TEXT,
    details: Details = False,
) -> None:
    """The basis of a finding: evidence, both ends, alternatives, and what was ruled out."""
    from truerail.cli.oncall_source import Question, Source
    from truerail.questions.models import Why
    from truerail.questions.why import why as answer

    question = Question(Why, "why", {"finding": finding}, lambda shown, history: answer(shown, history, finding))
    _tell(question, Source(service, token_file, capture, inventory, plan), fmt, details)


def storm(
    of: Annotated[str | None, typer.Argument(help="Limit to storms with this port or device. [default: all]")] = None,
    service: Service = LOCAL_SERVICE,
    token_file: TokenFile = None,
    capture: Capture = None,
    inventory: Inventory = None,
    plan: PlanFile = None,
    fmt: Shown = Format.TEXT,
    details: Details = False,
) -> None:
    """PFC storms: the NIC or egress at the root, the reason, and the paused ports as a tree."""
    from truerail.cli.oncall_source import Question, Source
    from truerail.questions.models import Storm
    from truerail.questions.storm import storm as answer

    question = Question(Storm, "storm", {"of": of}, lambda shown, _: answer(shown, of))
    _tell(question, Source(service, token_file, capture, inventory, plan), fmt, details)


def timeline(
    of: Annotated[str, typer.Argument(help="A device or a port.")],
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Maximum number of events, newest first.")] = 100,
    service: Service = LOCAL_SERVICE,
    token_file: TokenFile = None,
    capture: Capture = None,
    inventory: Inventory = None,
    plan: PlanFile = None,
    fmt: Shown = Format.TEXT,
    details: Details = False,
) -> None:
    """The history of a port or a device: findings, links, acknowledgements, maintenance, plans; newest first."""
    from truerail.cli.oncall_source import Question, Source
    from truerail.questions.models import Timeline

    question = Question(Timeline, "timeline", {"of": of, "limit": str(limit)}, None)
    _tell(question, Source(service, token_file, capture, inventory, plan), fmt, details)


def _tell(question: "Question", source: "Source", fmt: Format, details: bool) -> None:
    """Queries, shows the answer, and ends with 0 if all is well, else 1."""
    from truerail.cli.oncall_source import ask

    _show(*ask(question, source), fmt, details)


def _show(answer: Any, value: Any, fmt: Format, details: bool) -> NoReturn:
    """Shows an answer, of which `value` is the JSON, and ends with the exit code of its status."""
    import json

    from truerail.cli import terminal_output
    from truerail.outputs.report_words import Tone
    from truerail.questions.tones import tone_of

    if fmt is Format.JSON:
        terminal_output.say(json.dumps(value, indent=2))
    else:
        from truerail.outputs.options import Options
        from truerail.questions.text import answer_text

        options = Options(terminal_output.width(), terminal_output.colorful(), details, terminal_output.ascii_only())
        terminal_output.say(answer_text(answer, options))
    raise typer.Exit(ExitCode.GOOD if tone_of(answer) is Tone.GOOD else ExitCode.FOUND)
