"""`truerail check --inventory`: the same evaluation and report, from devices that are polled now."""

from collections.abc import Collection
from pathlib import Path

from truerail.cli import live, live_progress
from truerail.cli.evaluating import evaluated_round
from truerail.model import Evaluation
from truerail.poller import Limits


def evaluated_live(
    plan: Path | None, inventory: Path, codes: Collection[str] | None, only: str | None, deadline: float
) -> tuple[Evaluation, bool, bool]:
    """The evaluation, whether any device answered anything readable, and whether Ctrl-C ended the round early.

    Raises CommandError for errors that the user has to fix.
    """
    fleet = live.load_fleet(inventory, plan)
    wanted = fleet.asked_for(only)
    with live_progress.reported() as progress:
        seen = live.one_round(fleet, only=wanted, limits=Limits(deadline_seconds=deadline), progress=progress)
    evaluation, answered = evaluated_round(fleet.plan, seen, codes, only)
    return evaluation, answered, seen.interrupted
