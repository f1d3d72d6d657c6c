"""`truerail check --inventory`: the same judge and the same report, from devices that are asked now."""

from collections.abc import Collection
from pathlib import Path

from truerail.cli import live, live_progress
from truerail.cli.judging import judged_round
from truerail.model import Evaluation
from truerail.poller import Limits


def judged_live(
    plan: Path | None, inventory: Path, codes: Collection[str] | None, only: str | None, deadline: float
) -> tuple[Evaluation, bool, bool]:
    """The judgement, whether any device answered anything readable, and whether Ctrl-C ended the round early.

    Raises CannotJudge for what a user has to mend.
    """
    fleet = live.load_fleet(inventory, plan)
    wanted = fleet.asked_for(only)
    with live_progress.told() as progress:
        seen = live.one_round(fleet, only=wanted, limits=Limits(deadline_seconds=deadline), progress=progress)
    evaluation, answered = judged_round(fleet.plan, seen, codes, only)
    return evaluation, answered, seen.interrupted
