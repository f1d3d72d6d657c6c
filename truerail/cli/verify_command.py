"""`truerail verify`: replays the orders of a report on what the devices of its capture see."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from truerail.cli import terminal_output
from truerail.cli.exit_codes import ExitCode
from truerail.errors import CommandError

if TYPE_CHECKING:
    from truerail.model import Cause


def verify(
    report: Annotated[Path, typer.Argument(metavar="REPORT", help="What `check --format json` wrote.")],
    capture: Annotated[Path, typer.Option("--from", metavar="CAPTURE", help="The capture that it was written for.")],
    plan: Annotated[
        Path | None, typer.Option(metavar="PLAN", help="Its plan. Without it the rails are inferred.")
    ] = None,
) -> None:
    """Replay every order of moves of a report: can it be followed, and does each move make a planned link?

    Exit code 1: an order cannot be followed.
    """
    from truerail.cli.evaluating import load_plan, planned_round, read
    from truerail.verify import Proof, observed

    causes = read_causes(report)
    intended = load_plan(plan) if plan else None
    seen = read(capture, intended)
    wiring = planned_round(intended, seen)[0].cabling
    broken = Proof(causes, observed(wiring, causes), wiring.index.plan).broken
    orders = [cause for cause in causes if cause.moves]
    for cause in orders:
        count = f"{len(cause.moves)} move{'s' * (len(cause.moves) > 1)}"
        words = f"cannot be followed: {broken[cause.key]}" if cause.key in broken else "each makes a planned link"
        terminal_output.say(f"{cause.id}  {cause.kind}, {count}: {words}")
    refused = any(cause.unproven for cause in causes)
    terminal_output.say(f"{len(orders) - len(broken)} of {len(orders)} orders hold.")
    raise typer.Exit(ExitCode.FOUND if broken or refused else ExitCode.GOOD)


def read_causes(report: Path) -> "list[Cause]":
    """The causes of a report. Raises CommandError if it is none."""
    import json
    from dataclasses import replace

    from truerail.model import Cause, CauseKind, Move, Port
    from truerail.model.finding import Rename

    def port(text: str) -> Port:
        device, _, name = text.partition("/")
        return Port(device, name)

    def move(row: dict[str, Any], causes: dict[str, Cause]) -> Move:
        ends = port(row["cable"]), port(row["from"]), port(row["to"])
        return Move(*ends, after_causes=tuple(causes[key].key for key in row["after"]))

    try:
        found = json.loads(report.read_text(encoding="utf-8"))["causes"]
        bare = {
            one["id"]: Cause(one["id"], CauseKind(one["kind"]), tuple(one["subjects"]), one["summary"], one["action"])
            for one in found
        }
        return [
            replace(
                bare[one["id"]],
                moves=tuple(move(row, bare) for row in one["moves"]),
                renames=tuple(Rename(name["actual"], name["planned"]) for name in one["renames"]),
            )
            for one in found
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CommandError(f"{report} is no report of `check --format json`: {error}") from error
