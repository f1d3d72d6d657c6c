"""`truerail nccl`: a job's NCCL log on the rails of the fabric, and whether the network slows the job."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from truerail.cli.exit_codes import ExitCode
from truerail.cli.oncall_options import Details, Format, Inventory, Shown
from truerail.errors import CommandError

if TYPE_CHECKING:
    from datetime import datetime

    from truerail.analysis.round import Round
    from truerail.cli.evaluating import Seen
    from truerail.model import Plan, Reading

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
    fmt: Shown = Format.TEXT,
    details: Details = False,
) -> None:
    """Show which cable and rail each connection of a job uses, and the findings on its path.

    Logs with the subsystems INIT, NET, GRAPH and ENV of all hosts show both ends of each connection. Ends with 0 if the
    path is known to be good, 1 if it has findings or is not known.
    """
    from truerail.cli import terminal_output
    from truerail.questions.answers.nccl import nccl_answer
    from truerail.questions.text.nccl import nccl_text
    from truerail.rounds import evaluate

    if capture is not None and inventory is not None:
        raise CommandError("give a capture or an inventory, not both")
    if plan is None and capture is None and inventory is None:
        raise CommandError("--plan PLAN is needed, --capture CAPTURE or --inventory INVENTORY: a log knows no rails")
    round = _round(logs, plan, capture, inventory)
    if round.nccl is None:
        raise CommandError(f"{', '.join(map(str, logs))}: no lines of NCCL with ranks, devices or connections")
    answer = nccl_answer(round, evaluate(round), round.nccl)
    if fmt is Format.JSON:
        import json

        from truerail.views.plain import as_json

        terminal_output.say(json.dumps(as_json(answer), indent=2))
    else:
        terminal_output.say(nccl_text(answer, details=details))
    raise typer.Exit(ExitCode.GOOD if answer.network == "good" else ExitCode.FOUND)


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
    """The logs as readings. Lines without a host are of the planned host that the file is named after."""
    from collector import collectors
    from truerail.cli.parse import answer_of
    from truerail.errors import UnreadableError
    from truerail.model import Device, Reading
    from truerail.model.names import device_key

    known = {device_key(name): name for name in plan.devices}
    found = []
    for log in logs:
        device = known.get(device_key(log.name.partition(".")[0]), f"log {log.name}")
        try:
            facts = collectors()["nccl_log"].read(answer_of(log), Device(device))
        except UnreadableError as error:
            raise CommandError(f"{log}: {error}") from error
        found.append(Reading(device, "nccl_log", at, facts, source=str(log)))
    return found
