"""`timeline PORT|DEVICE`: all its events, newest first."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TypeVar

from rich.console import RenderableType
from rich.text import Text

from truerail.analysis.published import Published
from truerail.errors import NodeSetError
from truerail.files.nodesets import Budget, expand
from truerail.model.columns import grouped
from truerail.model.history import CauseEvent, EventKind, FindingEvent, History, LinkChange, MaintenanceWindow, RowRange
from truerail.model.names import device_key
from truerail.outputs.options import Options
from truerail.outputs.report_words import count, name, sentence
from truerail.outputs.text.blocks import PORT, QUIET
from truerail.questions.answer_text import grid, more, severity_word
from truerail.questions.changes import CausesOfChanges
from truerail.questions.question import Form, Journal, Kind, Option, Parameter, Question
from truerail.questions.resolve import ResolvedTarget, recognise
from truerail.views.view import View, view_of

_BEGIN = datetime(1970, 1, 1, tzinfo=UTC)
_PAGES = 20
"""Maximum number of pages of a device's events read for one of its ports: older events are not needed."""
_PAGE_ROWS = 1000
MOST_FOLDED = 1000
"""Maximum number of events listed below their causes."""
MOST_CAUSES = 5000
"""Maximum number of events of causes that are read, of the whole fabric."""
MOST_SCOPED = 250_000
"""Maximum number of names of an announced window: twice the number of devices of a fabric of 100,000 GPUs."""
Row = TypeVar("Row", FindingEvent, LinkChange)


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """One event. `kind` is an `EventKind` word. An event of a cause has its key, and the number of events of `links`
    and `findings` here that are folded into it; a folded event has the key of its cause.
    """

    at: datetime
    kind: str
    subject: str
    summary: str
    finding: str | None = None
    severity: str | None = None
    author: str | None = None
    cause: str | None = None
    links: int = 0
    findings: int = 0


@dataclass(frozen=True, slots=True)
class Timeline:
    """`timeline PORT|DEVICE`, newest first. `folded` are the events of links and findings that belong to the causes
    among `events`, at most 1,000.
    """

    query: str
    events: tuple[TimelineEvent, ...]
    folded: tuple[TimelineEvent, ...]
    complete: bool
    summary: str


@dataclass(frozen=True, slots=True)
class _Scope:
    """The scope of the answer: devices whose rows are read, and the subjects that count (all, if empty)."""

    devices: frozenset[str]
    subjects: frozenset[str]
    rails: frozenset[int]
    pods: frozenset[str]

    def names(self, subjects: Iterable[str]) -> bool:
        """Whether the subjects of a cause are in scope, or on its devices."""
        if self.subjects:
            return not self.subjects.isdisjoint(subjects)
        return any(one in self.devices or one.partition("/")[0] in self.devices for one in subjects)


def timeline(publication: Published, history: History, of: str, limit: int = 100) -> Timeline:
    """The events of a port or a device: findings, links, acknowledgements, maintenance, new plans.

    Raises NotFoundError, and JournalUnavailableError if the journal cannot be read.
    """
    view = view_of(publication)
    meant = recognise(view, of)
    scope = _scope(view, meant)
    until = publication.at + timedelta(days=1)  # after the newest row, which may have the time of the evaluation
    findings, all_findings = _rows(partial(history.finding_events, _BEGIN, until), scope, lambda row: {row.subject})
    links, all_links = _rows(partial(history.link_changes, _BEGIN, until), scope, _link_ends)
    of_causes = history.cause_events(_BEGIN, until, page=RowRange(MOST_CAUSES))
    events, folded = _folded(of_causes, findings, links, scope)
    ids = {row.finding for row in findings} | _open_findings(view, meant, scope)
    events += [*_acknowledged(view, history, ids), *_maintenance(history, scope), *_plans(history)]
    events.sort(key=lambda event: event.at, reverse=True)
    reported = tuple(events[:limit])
    whole = len(events) <= limit and all_findings and all_links
    return Timeline(of, reported, tuple(folded[:MOST_FOLDED]), whole, _says(meant.name, reported, whole))


def _folded(
    of_causes: Sequence[CauseEvent], findings: Sequence[FindingEvent], links: Sequence[LinkChange], scope: _Scope
) -> tuple[list[TimelineEvent], list[TimelineEvent]]:
    """The events of causes, and of what belongs to none; and those folded into the nearest event of their cause."""
    causes = CausesOfChanges(of_causes, findings, links)
    rows = [(causes.of_finding(row), _finding_event(row)) for row in findings]
    rows += [(causes.of_link(row), _link_event(row)) for row in links]
    events_of: dict[str | None, list[CauseEvent]] = grouped((event.cause, event) for event in of_causes)
    loose = [event for key, event in rows if key not in events_of]
    folded = [replace(event, cause=key) for key, event in rows if key in events_of]
    counts: dict[int, Counter[str]] = {}
    for one in folded:
        nearest = min(events_of[one.cause], key=lambda event: abs(event.happened_at - one.at))
        word = "links" if one.kind == EventKind.LINK.value else "findings"
        counts.setdefault(nearest.seq, Counter())[word] += 1
    concerned = {one.cause for one in folded}
    shown = [one for one in of_causes if one.cause in concerned or scope.names(one.subjects)]
    folded.sort(key=lambda event: event.at, reverse=True)
    return [*loose, *(_cause_event(one, counts.get(one.seq, Counter())) for one in shown)], folded


def _cause_event(event: CauseEvent, counts: Mapping[str, int]) -> TimelineEvent:
    return TimelineEvent(
        event.happened_at, event.kind.value, " and ".join(named(event.subjects)), event.summary, cause=event.cause,
        links=counts.get("links", 0), findings=counts.get("findings", 0),
    )  # fmt: skip


def named(subjects: Sequence[str]) -> list[str]:
    """At most two of a cause's subjects, and how many more."""
    more = len(subjects) - 2
    return list(subjects) if more <= 0 else [subjects[0], f"{more + 1} more"]


def _finding_event(row: FindingEvent) -> TimelineEvent:
    summary = f"{row.rule} {row.kind.value}: {row.summary}"
    return TimelineEvent(row.at, row.kind.value, row.subject, summary, row.finding, row.severity)


def _link_event(row: LinkChange) -> TimelineEvent:
    summary = f"{row.was or 'nothing'} ({row.was_state}) → {row.now or 'nothing'} ({row.now_state})"
    return TimelineEvent(row.at, EventKind.LINK.value, row.port, summary)


def _link_ends(row: LinkChange) -> set[str]:
    return {end for end in (row.port, row.was, row.now) if end is not None}


def _scope(view: View, meant: ResolvedTarget) -> _Scope:
    """The devices and, for a port, the ends of its cables."""
    ends = frozenset(str(end) for cable in meant.cables.tolist() for end in view.plan.cables[cable][:2])
    names = frozenset(
        {view.index.devices.names[meant.device]} if meant.device >= 0 else {e.partition("/")[0] for e in ends}
    )
    rails = frozenset(int(rail) for rail in view.layout.rail[meant.cables].tolist())
    pods = frozenset(view.plan.devices[name].pod for name in names if name in view.plan.devices)
    if meant.matched_type in ("host", "switch"):
        return _Scope(names, frozenset(), rails, pods)
    return _Scope(names, ends | {meant.name}, rails, pods)


def _open_findings(view: View, meant: ResolvedTarget, scope: _Scope) -> set[str]:
    """Ids of the current findings on it."""
    findings = view.findings
    places = {place for subject in scope.subjects for place in findings.by_subject.get(subject, ())}
    own: Iterable[int] = () if scope.subjects else findings.by_device.get(meant.device, ())
    return {findings.ids[place] for place in places.union(own)}


def _rows(ask: Callable[..., Sequence[Row]], scope: _Scope, ends: Callable[[Row], set[str]]) -> tuple[list[Row], bool]:
    """Rows in scope, newest first, and whether these are all."""
    before, found = None, list[Row]()
    for _ in range(_PAGES):
        rows = ask(devices=scope.devices, page=RowRange(_PAGE_ROWS + 1, before))
        found += [row for row in rows if not scope.subjects or not scope.subjects.isdisjoint(ends(row))]
        if len(rows) <= _PAGE_ROWS:
            return found, True
        if len(found) > _PAGE_ROWS:
            break
        before = rows[-1].seq
    return found, False


def _acknowledged(view: View, history: History, ids: Collection[str]) -> Iterator[TimelineEvent]:
    causes = {view.sight.cause_of[one] for one in ids if one in view.sight.cause_of}
    for one in history.acknowledgements(open_only=False):
        if one.target not in ids and one.target not in causes:
            continue
        finding = one.target if one.target in ids else None
        until = f" until {one.until:%Y-%m-%d %H:%M}" if one.until else ""
        summary = f"acknowledged by {one.author}{until}: {one.reason}"
        yield TimelineEvent(one.at, EventKind.ACKNOWLEDGED.value, one.target, summary, finding, author=one.author)
        if one.ended_at:
            yield TimelineEvent(one.ended_at, EventKind.WITHDRAWN.value, one.target, "acknowledgement ended", finding)


def _maintenance(history: History, scope: _Scope) -> Iterator[TimelineEvent]:
    for window in history.windows(open_only=False):
        if _covers(window, scope):
            until = min(window.ends, window.ended_at or window.ends)
            summary = f"maintenance by {window.author} until {until:%Y-%m-%d %H:%M}: {window.reason}"
            what = f"{window.scope} {window.what}"
            yield TimelineEvent(window.starts, EventKind.MAINTENANCE.value, what, summary, author=window.author)
            if window.ended_at:
                ended = "maintenance ended early"
                yield TimelineEvent(window.ended_at, EventKind.MAINTENANCE_ENDED.value, what, ended)


def _covers(window: MaintenanceWindow, scope: _Scope) -> bool:
    match window.scope:
        case "rail":
            return window.what in {str(rail) for rail in scope.rails}
        case "pod":
            return window.what in scope.pods
        case _:
            try:
                named = {device_key(name) for name in expand(window.what, Budget(MOST_SCOPED))}
            except NodeSetError:
                return False
            return not named.isdisjoint(map(device_key, scope.devices))


def _plans(history: History) -> Iterator[TimelineEvent]:
    for plan in history.plans():
        summary = f"plan {plan.digest[:12]} in force: {count(plan.devices, 'device')}, {count(plan.cables, 'cable')}"
        yield TimelineEvent(plan.at, EventKind.PLAN.value, plan.source, summary)


def _says(name: str, reported: tuple[TimelineEvent, ...], whole: bool) -> str:
    if not reported:
        return f"The journal has no events of {name}."
    first = f"{count(len(reported), 'event')} of {name}, the newest at {reported[0].at:%Y-%m-%d %H:%M:%S}"
    return f"{first}." if whole else f"{first}; there are older ones."


def timeline_text(answer: Timeline, options: Options) -> Iterator[RenderableType]:
    """The events, with date and time once each; on request with those folded into causes."""
    every = (*answer.events, *(answer.folded if options.details else ()))
    events = sorted(every, key=lambda one: one.at, reverse=True)
    table = grid("left", "left", "fold")
    for event in events:
        body = Text().append(name(event.subject), style=PORT).append(f"  {sentence(event.summary)}")
        if event.cause is not None and event.finding is None:
            body.append(f"  {', '.join((*_folded_words(event), name(event.cause)))}", style=QUIET)
        kind = Text(name(event.kind), style=severity_word(event.severity or "").style or "bold")
        table.add_row(Text(f"  {event.at:%Y-%m-%d %H:%M:%S}", style=QUIET), kind, body)
    if answer.events:
        yield Text()
        yield table
    if answer.folded and not options.details:
        yield Text("  --details lists the events of each cause", style=QUIET)
    if not answer.complete:
        yield from more(1, "events at least", "use a larger --limit")


def _folded_words(event: TimelineEvent) -> Iterator[str]:
    """What is folded into a cause's event."""
    for number, what in ((event.links, "link"), (event.findings, "finding")):
        if number:
            yield count(number, what)


QUESTION = Question(
    "timeline",
    Timeline,
    (
        Parameter("of", help="A device or a port."),
        Option("limit", help="Maximum number of events.", kind=Kind.NUMBER, default=100, least=1, most=1000),
    ),
    lambda asked, given: timeline(asked.publication, asked.history, given["of"], given["limit"]),
    "The history of a port or a device, newest first: causes, each with the number of its links and findings; "
    "findings and links without a cause; acknowledgements, maintenance, plans. --details lists every event.",
    good=lambda answer: True,
    text=timeline_text,
    form=Form("What happened here?", page="/timeline"),
    journal=lambda given: Journal.NEEDED,
    service_only=True,
)
