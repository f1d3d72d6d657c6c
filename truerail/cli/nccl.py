"""`truerail nccl`: a job's NCCL log on the rails of the fabric, and whether the network slows the job."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from truerail.cli.exit_codes import ExitCode
from truerail.cli.oncall_options import LOCAL_SERVICE, Details, Format, Inventory, Service, Shown, TokenFile
from truerail.errors import CommandError

if TYPE_CHECKING:
    from datetime import datetime

    from truerail.analysis.round import Round
    from truerail.cli.evaluating import Seen
    from truerail.model import Fact, Plan, Reading
    from truerail.questions.answers.nccl import NcclAnswer

Capture = Annotated[
    Path | None,
    typer.Option("--capture", "--from", metavar="CAPTURE", help="The fabric's state: a folder or tar archive."),
]
PlanFile = Annotated[Path | None, typer.Option("--plan", metavar="PLAN", help="The plan. Without one it is inferred.")]


def nccl(
    logs: Annotated[list[Path], typer.Argument(metavar="LOG...", help="Logs of the job, with NCCL_DEBUG=INFO.")],
    plan: PlanFile = None,
    capture: Capture = None,
    inventory: Inventory = None,
    service: Service = LOCAL_SERVICE,
    token_file: TokenFile = None,
    fmt: Shown = Format.TEXT,
    details: Details = False,
) -> None:
    """Show which cable and rail each connection of a job uses, and the findings on its path.

    Logs with the subsystems INIT, NET, GRAPH and ENV of all hosts show both ends of each connection. The cabling is
    that of the running service, unless a capture, an inventory or a plan is given. Ends with 0 if the path is known to
    be good, 1 if it has findings or is not known.
    """
    from truerail.cli import terminal_output
    from truerail.questions.text.nccl import nccl_text

    if capture is not None and inventory is not None:
        raise CommandError("give a capture or an inventory, not both")
    hops = details or fmt is Format.JSON
    if plan is None and capture is None and inventory is None:
        from truerail.cli.nccl_service import of_service

        answer = of_service(logs, service, token_file, hops=hops)
    else:
        answer = _here(logs, plan, capture, inventory, hops=hops)
    if fmt is Format.JSON:
        import json

        from truerail.views.plain import as_json

        terminal_output.say(json.dumps(as_json(answer), indent=2))
    else:
        terminal_output.say(nccl_text(answer, details=details))
    raise typer.Exit(ExitCode.GOOD if answer.network == "good" else ExitCode.FOUND)


def _here(
    logs: list[Path], plan: Path | None, capture: Path | None, inventory: Path | None, *, hops: bool
) -> "NcclAnswer":
    from truerail.questions.answers.nccl import nccl_answer
    from truerail.rounds import evaluate

    round = _round(logs, plan, capture, inventory)
    if round.nccl is None:
        raise CommandError(f"{', '.join(map(str, logs))}: no lines of NCCL with ranks, devices or connections")
    return nccl_answer(round, evaluate(round), round.nccl, hops=hops)


def _round(logs: list[Path], plan: Path | None, capture: Path | None, inventory: Path | None) -> "Round":
    """The round of the fabric with the logs among its readings."""
    from datetime import UTC, datetime

    from truerail.analysis.round import Round
    from truerail.cli.evaluating import inferred, load_plan, read
    from truerail.cli.plug_history import round_of
    from truerail.model import Snapshot

    intended = load_plan(plan) if plan else None
    if capture is None and inventory is None:
        assert intended is not None  # noqa: S101 - one of the three is given
        at = datetime.now(UTC)
        return Round(intended, Snapshot(at, _logs(logs, intended, at)))
    seen: Seen
    if capture is not None:
        seen = read(capture, intended)
    else:
        from truerail.cli import live, live_progress

        assert inventory is not None  # noqa: S101 - one of the two is given
        fleet = live.load_fleet(inventory, plan)
        intended = fleet.plan
        with live_progress.reported() as progress:
            seen = live.one_round(fleet, progress=progress)
    snapshot = seen.snapshot()
    if intended is None:
        intended, _ = inferred(snapshot)
    readings = [*snapshot.readings, *_logs(logs, intended, snapshot.at)]
    return round_of(intended, seen, Snapshot(snapshot.at, readings, snapshot.previous, snapshot.inventory))


def _logs(logs: list[Path], plan: "Plan", at: "datetime") -> "list[Reading]":
    """The logs as readings."""
    from truerail.model import Reading
    from truerail.questions.answers.nccl_asked import devices_of

    devices = devices_of([log.name for log in logs], plan)
    return [
        Reading(device, "nccl_log", at, facts_of(log), source=str(log))
        for log, device in zip(logs, devices, strict=True)
    ]


def facts_of(log: Path) -> "tuple[Fact, ...]":
    """What one log shows. Raises CommandError."""
    from collector import collectors
    from truerail.cli.parse import answer_of
    from truerail.errors import UnreadableError
    from truerail.model import Device

    try:
        return collectors()["nccl_log"].read(answer_of(log), Device(f"log {log.name}"))
    except UnreadableError as error:
        raise CommandError(f"{log}: {error}") from error
