"""The remaining work over rounds: punch list steps that tick themselves off, and new ones on top."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from rich.console import Group, RenderableType
from rich.text import Text

from truerail.model import CableState, Evaluation, Plan, Port
from truerail.outputs.punch import Step, punch_list
from truerail.outputs.report_words import as_sentence, count, name, place_of, port_of

WATCHED = timedelta(seconds=15)
"""How long a completed step stays in view of who watches: three rounds."""

Key = tuple[str, str, str]


class Mark(StrEnum):
    """The status of a step. `UNSEEN`: it was to be done, and now there is no data on whether it is."""

    LEFT = "left"
    NEW = "new"
    DONE = "done"
    UNSEEN = "unseen"


@dataclass(frozen=True, slots=True)
class Entry:
    """One step and its status. `since` is the round that added it, `done_at` the time of the one that found it done.

    `findings` are the ids of the findings that it repairs.
    """

    step: Step
    findings: frozenset[str]
    since: int
    mark: Mark
    done_at: datetime | None = None

    @property
    def key(self) -> Key:
        """Equal for the same action in every round."""
        return self.step.kind, str(self.step.at), str(self.step.to or "")


@dataclass(frozen=True, slots=True)
class Change:
    """A step that was added, is done, or has other words now (`DONE` and `LEFT` of another kind of cause)."""

    mark: Mark
    entry: Entry


class Worklist:
    """The remaining steps, newest on top, those of one round in walking order. One worklist for the whole watch.

    Completed steps stay in view for `kept`.
    """

    def __init__(self, kept: timedelta = WATCHED) -> None:
        self.kept = kept
        self.round = self.done = 0
        self.pending = 0
        """Planned cables of hosts without power, in the latest round."""
        self.unread = 0
        """Planned cables in unknown state in the latest round, without pending ones."""
        self._entries: dict[Key, Entry] = {}

    @property
    def entries(self) -> list[Entry]:
        """Everything in view."""
        return list(self._entries.values())

    @property
    def left(self) -> int:
        """Steps not done."""
        return sum(entry.mark is not Mark.DONE for entry in self._entries.values())

    def update(self, evaluation: Evaluation) -> list[Change]:
        """Adds a round; returns the changes."""
        self.round += 1
        pending = {finding.id for finding in evaluation.findings if dict(finding.detail).get("reason") == "pending"}
        self.pending = len(pending)
        unknown = sum(state is CableState.UNKNOWN for state in evaluation.cable_states.values())
        self.unread = max(0, unknown - self.pending)
        now = {entry.key: entry for entry in _entries(evaluation, self.round) if entry.findings.isdisjoint(pending)}
        changes = [*self._come(now), *self._gone(now, evaluation)]
        self._entries = {
            key: entry
            for key, entry in self._entries.items()
            if not entry.done_at or evaluation.at - entry.done_at < self.kept
        }
        return changes

    def _come(self, now: dict[Key, Entry]) -> Iterator[Change]:
        """Puts new steps on top; leaves known ones in their place."""
        fresh: dict[Key, Entry] = {}
        for key, entry in now.items():
            old = self._entries.get(key)
            if old is None or old.mark is Mark.DONE:
                self._entries.pop(key, None)
                fresh[key] = replace(entry, mark=Mark.LEFT if self.round == 1 else Mark.NEW)
                yield Change(Mark.NEW, fresh[key])
            else:
                self._entries[key] = replace(entry, since=old.since, mark=Mark.LEFT)
        self._entries = {**fresh, **self._entries}

    def _gone(self, now: dict[Key, Entry], evaluation: Evaluation) -> Iterator[Change]:
        """Ticks off what is right now. A step with another explanation now is replaced."""
        found = {finding.id for finding in evaluation.findings}
        named = {_cable(entry.step, evaluation.plan) for entry in now.values()} - {None}
        unread = {reading.device for reading in evaluation.collection_errors}
        for key, entry in list(self._entries.items()):
            if key in now or entry.mark is Mark.DONE:
                continue
            if entry.findings & found or _cable(entry.step, evaluation.plan) in named:
                del self._entries[key]
            elif _is_seen(entry.step, evaluation, unread):
                self._entries[key] = replace(entry, mark=Mark.DONE, done_at=evaluation.at)
                self.done += 1
                yield Change(Mark.DONE, self._entries[key])
            elif entry.mark is not Mark.UNSEEN:
                self._entries[key] = replace(entry, mark=Mark.UNSEEN)
                yield Change(Mark.UNSEEN, self._entries[key])


def _entries(evaluation: Evaluation, number: int) -> Iterator[Entry]:
    causes = {cause.id: cause for cause in evaluation.causes}
    subjects = {finding.id: finding.subject for finding in evaluation.findings}
    for step in punch_list(evaluation):
        explained = causes[step.cause].explains
        own = frozenset(finding for finding in explained if subjects.get(finding) == str(step.far))
        yield Entry(step, own if step.to and own else frozenset(explained), number, Mark.LEFT)


def _is_seen(step: Step, evaluation: Evaluation, unread: Collection[str]) -> bool:
    """Whether the round can show that the step is done: its cable is right, or its device is none of the unread."""
    cable = _cable(step, evaluation.plan)
    return step.device not in unread if cable is None else evaluation.cable_states.get(cable) is CableState.RIGHT


def _cable(step: Step, plan: Plan) -> Port | None:
    """The planned cable of a step, by its end nearer to the GPUs."""
    ends: Iterable[Port | None] = (step.far, step.at if isinstance(step.at, Port) else port_of(step.at, plan))
    cables = (plan.cable_at(end) for end in ends if end)
    return next((cable.a for cable in cables if cable), None)


# ----------------------------------------------------------------------------------------------------------------------
# The worklist on a terminal, down to 60 columns, and as lines for a log.

_BOXES = {Mark.LEFT: "[ ]", Mark.NEW: "[!]", Mark.DONE: "[x]", Mark.UNSEEN: "[?]"}
_STYLES = {Mark.LEFT: "", Mark.NEW: "bold red", Mark.DONE: "green", Mark.UNSEEN: "yellow"}
_INDENT = "    "
_AROUND = 4
"""Lines of the screen that are not entries."""


def screen(
    work: Worklist, plan: Plan, used: Sequence[str] = (), *, width: int, height: int, status: str
) -> RenderableType:
    """The whole screen: the counts, the maps of names that are `used`, as many entries as fit, the number of further
    ones, and a line about the round.
    """
    maps = [line for one in used for line in _wrapped(one, width)]
    lines: list[RenderableType] = [Text(totals(work), style="bold"), *(Text(line) for line in maps), Text()]
    room = max(3, height - _AROUND - len(maps))
    shown = 0
    for entry in work.entries:
        block = [_wrapped(line, width) for line in _block(entry, plan)]
        room -= sum(len(part) for part in block)
        if room < 0 and shown:
            break
        style = _STYLES[entry.mark]
        lines += [Text(line, style=style) for part in block for line in part]
        shown += 1
    if hidden := len(work.entries) - shown:
        lines.append(Text(f"{_INDENT}and {hidden:,} more below", style="dim"))
    if not work.entries:
        done = Text("No work left.", style="bold green")
        lines.append(Text("No known work left; not every cable was read.") if work.unread else done)
    lines.append(Text(status[:width], style="dim"))
    return Group(*lines)


def totals(work: Worklist) -> str:
    """`done 2, left 3, host down 16, not read 0`."""
    return f"done {work.done:,}, left {work.left:,}, host down {work.pending:,}, not read {work.unread:,}"


def line_of(change: Change, plan: Plan) -> str:
    """A change in one line, for a log."""
    block = [part.strip() for part in _block(change.entry, plan)]
    head = block[0].partition("] ")[2]
    return f"{change.mark.value:<6} {'; '.join((head, *block[1:]))}"


def _block(entry: Entry, plan: Plan) -> Iterator[str]:
    """An entry's lines: where to walk, what to do, and the location of the other end."""
    step = entry.step
    where = place_of(step.at, plan)
    yield f"{_BOXES[entry.mark]} {f'{where}, ' if where else ''}{name(step.device)}: {step.kind}"
    if step.to:
        yield f"{_INDENT}{name(step.at.name if isinstance(step.at, Port) else step.at)} -> {name(str(step.to))}"
        if step.panels:
            yield f"{_INDENT}{step.panels}"
        if step.after:
            yield f"{_INDENT}not before {step.after}"
    else:
        at = f"{name(str(step.at))}: " if isinstance(step.at, Port) else ""
        yield f"{_INDENT}{at}{as_sentence(step.action)}"
    if step.far:
        far = place_of(step.far, plan)
        label = f", label {name(step.label)}" if step.label else ""
        yield f"{_INDENT}other end {name(str(step.far))}{f', {far}' if far else ''}{label}"


def _wrapped(line: str, width: int) -> list[str]:
    from textwrap import wrap

    return wrap(line, width, subsequent_indent=_INDENT, drop_whitespace=True, replace_whitespace=False) or [""]


def status_line(at: str, read: int, asked: int, seconds: float) -> str:
    """The line about the latest round."""
    return f"{at}  {read:,} of {count(asked, 'device')} read in {seconds:.1f} s, Ctrl-C ends"
