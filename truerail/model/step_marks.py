"""What people write on a step of the punch list: who takes it, who ticked it, a note. It says nothing about the cable:
whether a step is done, only the evaluation decides.
"""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from truerail.errors import ConflictError


class MarkAction(StrEnum):
    """One thing to write on a step, or to take back."""

    TAKE = "take"
    RELEASE = "release"
    TICK = "tick"
    UNTICK = "untick"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class StepMark:
    """Everything written on one step. `at` is when the service received the last of it; `taken_at`, `ticked_at` and
    `noted_at` are when people did so, which may be earlier: entries made without a network are sent later.
    """

    step: str
    at: datetime
    taken_by: str = ""
    taken_at: datetime | None = None
    ticked_by: str = ""
    ticked_at: datetime | None = None
    note: str = ""
    noted_by: str = ""
    noted_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class StepChange:
    """An entry: `name` did `action` at `at`. `was` is what its writer saw there: the name, or the note."""

    step: str
    action: MarkAction
    name: str
    at: datetime
    note: str = ""
    was: str = ""


def changed(mark: StepMark | None, change: StepChange, now: datetime) -> StepMark:
    """The mark with the entry. One that is already there changes nothing: it may be sent twice.

    Raises ConflictError, which names the other person, if somebody else wrote there since its writer looked.
    """
    before = mark or StepMark(change.step, now)
    at = min(change.at, now)
    if change.action is MarkAction.NOTE:
        after = replace(before, at=now, note=change.note, noted_by=change.name, noted_at=at)
        _agree(change, before.note, change.note, f"{before.noted_by} noted: {before.note}", before.noted_at)
        return before if mark and before.note == change.note else after
    sets = change.action in (MarkAction.TAKE, MarkAction.TICK)
    name, moment = (change.name, at) if sets else ("", None)
    if change.action in (MarkAction.TAKE, MarkAction.RELEASE):
        held, since, after = "taken", before.taken_at, replace(before, at=now, taken_by=name, taken_at=moment)
        current = before.taken_by
    else:
        held, since, after = "ticked", before.ticked_at, replace(before, at=now, ticked_by=name, ticked_at=moment)
        current = before.ticked_by
    _agree(change, current, name, f"{held} by {current}" if current else f"no longer {held}", since)
    return before if mark and current == name else after


def _agree(change: StepChange, current: str, wanted: str, words: str, since: datetime | None) -> None:
    if current not in (change.was, wanted):
        when = f" at {since:%Y-%m-%d %H:%M} UTC" if since else ""
        raise ConflictError(f"{words}{when}", current)
