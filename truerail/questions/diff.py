"""`diff`: changes of links and findings, between two times or against the plan."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

import numpy as np

from truerail.analysis.cabling import State
from truerail.analysis.published import Published
from truerail.errors import QueryError
from truerail.model.columns import Codes, grouped
from truerail.model.history import CauseEvent, EventKind, FindingEvent, History, LinkChange, RowRange
from truerail.model.plan import Plan, Port, Role
from truerail.outputs.report_words import count
from truerail.questions.changes import BEGINS, CausesOfChanges
from truerail.questions.diff_answer import CauseChange, Counts, Diff, FindingChange, LinkLine, diff_text
from truerail.questions.moments import span
from truerail.questions.question import Asked, Form, Given, Journal, Kind, Option, Question
from truerail.views.lines import STATES, cause_lines, seen_end, why_words
from truerail.views.view import View, view_of

MOST_ROWS = 1000
"""Maximum number of links, and of findings, that an answer lists."""
MOST_READ = 50_000
"""Maximum number of changes of links, and of events of findings, that are read and counted."""
_CAME = (EventKind.APPEARED, EventKind.REGRESSED, EventKind.FLAPPING, EventKind.RETURNED)
_STATES = {EventKind.RESOLVED: "resolved", EventKind.UNSEEN: "unseen", EventKind.FLAPPING: "flapping"}
"""The state of a cause by its last event; any other leaves it ongoing."""
_LATER = timedelta(hours=1)
"""A cause that ended in the time in question is reported as resolved up to this much later."""

Row = TypeVar("Row", LinkChange, FindingEvent, CauseEvent)


def diff(publication: Published, history: History, start: datetime, end: datetime) -> Diff:
    """The differences between `start` and `end`, newest first.

    A link that changed and changed back, and a finding that came and went, are counted and not listed. Raises
    JournalUnavailableError if the journal cannot be read.
    """
    changes, links_whole = _read(partial(history.link_changes, start, end))
    events, events_whole = _read(partial(history.finding_events, start, end))
    of_causes, _ = _read(partial(history.cause_events, start, end + _LATER))
    causes = CausesOfChanges(of_causes, events, changes)
    by_port = grouped((change.port, change) for change in changes).values()
    by_finding = grouped((event.finding, event) for event in events).values()
    tally = _Tally(publication.plan)
    links = [_net_link(publication, rows, tally.link(causes.of_link(rows[0]), rows[0].port)) for rows in by_port]
    findings = [_net_finding(found, tally.finding(causes.of_finding(found[0]))) for found in by_finding]
    kept_links = tuple(link for link in links if link is not None)
    kept = tuple(finding for finding in findings if finding is not None)
    back = len(links) - len(kept_links), len(findings) - len(kept)
    begins = history.kept_since()
    late = ""
    if begins is not None and begins > start:
        late = f" What changed before {begins:%Y-%m-%d %H:%M:%S UTC} is unknown: the journal begins there."
    whole = links_whole and events_whole
    changed = _cause_changes([one for one in of_causes if one.happened_at <= end], history, tally)
    lines = tuple(sorted(changed, key=lambda one: one.began or one.ended or start, reverse=True))
    return Diff(
        start, end, "time", lines, tally.counts(None), tally.total, kept_links[:MOST_ROWS], kept[:MOST_ROWS],
        whole and not late, _says(lines, kept_links, kept, back, whole) + late,
    )  # fmt: skip


class _Tally:
    """Changes by the key of their cause."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._of: dict[str | None, Counter[str]] = {}

    @property
    def keys(self) -> list[str]:
        """The causes with changes."""
        return [key for key in self._of if key is not None]

    def link(self, key: str | None, port: str) -> str | None:
        """Counts a link; returns its cause."""
        cable = self._plan.cable_at(Port(*port.partition("/")[::2]))
        word = "links" if cable is None else "nics" if self._plan.role_of(cable.a.device) is Role.HOST else "uplinks"
        self._of.setdefault(key, Counter())[word] += 1
        return key

    def finding(self, key: str | None) -> str | None:
        """Counts a finding; returns its cause."""
        self._of.setdefault(key, Counter())["findings"] += 1
        return key

    def counts(self, key: str | None) -> Counts:
        """The changes of one cause; None for those without."""
        return Counts(**self._of.get(key, Counter[str]()))

    @property
    def total(self) -> Counts:
        """All changes."""
        return Counts(**sum(self._of.values(), Counter[str]()))


def _read(ask: Callable[..., Sequence[Row]]) -> tuple[list[Row], bool]:
    """Rows up to the limit, newest first, and whether these are all."""
    rows = ask(page=RowRange(MOST_READ + 1))
    return list(rows[:MOST_READ]), len(rows) <= MOST_READ


def _cause_changes(events: Sequence[CauseEvent], history: History, tally: _Tally) -> Iterator[CauseChange]:
    """A line for each cause with events or changes. One that came and went while a fault was read in part, and to which
    nothing belongs in the end, has none.
    """
    groups = grouped((one.cause, one) for one in events)
    for key, rows in groups.items():
        begun = [one for one in rows if one.kind in BEGINS]
        last, counts = rows[0], tally.counts(key)
        ended = last.happened_at if last.kind is EventKind.RESOLVED else None
        came_and_went = (begun and ended is not None) or (not begun and last.kind is EventKind.RETURNED)
        if came_and_went and counts == Counts():
            continue
        state = _STATES.get(last.kind, "ongoing")
        began = begun[-1].happened_at if begun else None
        times = max(len(begun), 1)
        yield CauseChange(key, last.cause_kind, last.subjects, last.summary, began, ended, times, state, counts)
    for key in [one for one in tally.keys if one not in groups][:MOST_ROWS]:
        found = history.kept_cause(key)
        if found is not None:
            cause, state, counts = found.cause, found.life.state.value, tally.counts(key)
            yield CauseChange(key, cause.kind.value, cause.subjects, cause.summary, None, None, 1, state, counts)


def diff_plan(publication: Published) -> Diff:
    """The current differences from the plan: every cable that is not known to be right, and the findings."""
    view = view_of(publication)
    bad = np.flatnonzero(view.wiring.state != State.RIGHT)
    ordered: Codes = bad[np.lexsort((view.layout.place[bad], view.wiring.state[bad] == State.UNKNOWN))]
    tally, cause_of, found = _Tally(view.plan), view.sight.cause_of, view.findings.all
    keys = [tally.link(_cause_on(view, cable), str(view.plan.cables[cable].a)) for cable in ordered.tolist()]
    for one in view.findings.ids:
        tally.finding(cause_of.get(one))
    links = tuple(map(partial(_against_plan, view), ordered[:MOST_ROWS].tolist(), keys))
    findings = tuple(
        FindingChange(life.since if (life := publication.lives.get(one)) else None, "appeared", one, f.rule,
                      f.severity.value, f.subject, f.summary, cause_of.get(one))
        for one, f in zip(view.findings.ids[:MOST_ROWS], found[:MOST_ROWS], strict=True)
    )  # fmt: skip
    causes = tuple(
        CauseChange(line.key, line.kind, line.subjects, line.summary, line.since, None, 1, line.state,
                    tally.counts(line.key))
        for line in cause_lines(view)
    )  # fmt: skip
    summary = _plan_says(np.bincount(view.wiring.state, minlength=len(State)), len(found))
    return Diff(None, publication.at, "plan", causes, tally.counts(None), tally.total, links, findings, True, summary)


def _cause_on(view: View, cable: int) -> str | None:
    """The key of the cause of a cable's state: that of a finding on either end, else one that names an end."""
    ends = [str(end) for end in view.plan.cables[cable][:2]]
    keys = (view.sight.cause_of.get(finding.id) for finding in view.findings_on(ends))
    named = (key for end in ends for key in view.sight.causes_at.get(end, ()))
    devices = (key for end in ends for key in view.sight.causes_at.get(end.partition("/")[0], ()))
    return next((key for key in (*keys, *named, *devices) if key is not None), None)


def _net_link(publication: Published, rows: Sequence[LinkChange], cause: str | None) -> LinkLine | None:
    """The changes of one link, newest first, merged into one; None if they cancel out."""
    last, first = rows[0], rows[-1]
    if (first.was, first.was_state) == (last.now, last.now_state):
        return None
    rail = publication.plan.rail_of(Port(*last.port.partition("/")[::2]))
    times = f", after {len(rows)} changes" if len(rows) > 1 else ""
    summary = f"{_place(first.was, first.was_state)} → {_place(last.now, last.now_state)}{times}"
    return LinkLine(last.at, last.port, rail, first.was, last.now, first.was_state, last.now_state, summary, cause)


def _place(port: str | None, state: str) -> str:
    return f"{port} ({state})" if port else f"no link ({state})"


def _net_finding(rows: Sequence[FindingEvent], cause: str | None) -> FindingChange | None:
    """The events of one finding, newest first, merged into one; None if it came and went."""
    last, first = rows[0], rows[-1]
    if first.kind in BEGINS and last.kind is EventKind.RESOLVED:
        return None
    if first.kind not in _CAME and last.kind is EventKind.RETURNED:
        return None
    came = {first.kind, last.kind} <= set(_CAME) and last.kind is not EventKind.FLAPPING
    kind = first.kind if came else last.kind
    return FindingChange(last.at, kind.value, last.finding, last.rule, last.severity, last.subject, last.summary, cause)


def _says(
    causes: Sequence[CauseChange],
    links: Sequence[LinkLine],
    findings: Sequence[FindingChange],
    back: tuple[int, int],
    whole: bool,
) -> str:
    came = sum(f.kind in {kind.value for kind in _CAME} for f in findings)
    gone = sum(f.kind == EventKind.RESOLVED.value for f in findings)
    unseen = sum(f.kind == EventKind.UNSEEN.value for f in findings)
    times = {"began": [c.began for c in causes if c.began], "ended": [c.ended for c in causes if c.ended]}
    of_causes = [count(len(at), f"cause {word}", f"causes {word}") for word, at in times.items() if at]
    parts = [
        count(number, one, many)
        for number, one, many in (
            (len(links), "link changed", "links changed"),
            (came, "finding appeared", "findings appeared"),
            (gone, "was resolved", "were resolved"),
            (unseen, "became unknown", "became unknown"),
            (back[0], "link changed and changed back", "links changed and changed back"),
            (back[1], "finding came and went", "findings came and went"),
        )
        if number
    ]
    cut = "" if whole else f" Only the newest {MOST_READ:,} changes are counted: choose a shorter time."
    first = f"{', '.join(of_causes)}: " if of_causes and parts else ", ".join(of_causes)
    return f"{first}{', '.join(parts)}{'' if of_causes or parts else 'Nothing changed'}.{cut}"


def _against_plan(view: View, cable: int, cause: str | None) -> LinkLine:
    planned, seen = view.plan.cables[cable], seen_end(view, cable)
    now, state, why = seen.name if seen else None, State(int(view.wiring.state[cable])), why_words(view, cable, seen)
    states = STATES[State.RIGHT], STATES[state]
    return LinkLine(None, str(planned.a), planned.rail, str(planned.b), now, *states, why, cause)


def _plan_says(states: Codes, findings: int) -> str:
    right, *others = states.tolist()
    parts = [f"{n:,} {word}" for n, word in zip(others, ("wrong", "missing", "unknown"), strict=True) if n]
    cables = f"{', '.join(parts)}; " if parts else ""
    return f"{cables}{right:,} of {count(sum(states.tolist()), 'cable')} as planned, {count(findings, 'finding')}."


def _find(asked: Asked, given: Given) -> Diff:
    since, until = given["since"], given["until"]
    if not given["planned"]:
        return diff(asked.publication, asked.history, *span(since, until, asked.now))
    if since or until:
        raise QueryError("planned=true compares with the plan now: omit since and until")
    return diff_plan(asked.publication)


def _misuse(given: Given, capture: bool) -> str:
    if sum(map(bool, (given["since"], given["planned"], given["before"]))) != 1:
        return "give one of: --since TIME [--until TIME], --planned, or --before CAPTURE --from CAPTURE"
    if given["until"] and not given["since"]:
        return "--until goes with --since"
    return "--before goes with --from" if given["before"] and not capture else ""


QUESTION = Question(
    "diff",
    Diff,
    (
        Option("since", help="Start: 2h, 14:00, yesterday, ISO 8601.", kind=Kind.TIME, metavar="TIME"),
        Option("until", help="End. [default: now]", kind=Kind.TIME, metavar="TIME"),
        Option("planned", help="Current differences from the plan.", kind=Kind.FLAG, default=False),
        Option(
            "before",
            help="With --from: compare with this capture's newest round.",
            kind=Kind.CAPTURE,
            metavar="CAPTURE",
        ),
    ),
    _find,
    "What changed since a time, between two times or captures, or against the plan: one line for each cause that began "
    "or ended, then what belongs to no cause. --details lists every link and finding.\n\n"
    "In a capture with several rounds, times count back from the newest one.",
    good=lambda answer: False if answer.causes or answer.links or answer.findings else answer.complete or None,
    text=diff_text,
    form=Form("What changed?", page="/changes"),
    journal=lambda given: Journal.UNUSED if given["planned"] else Journal.NEEDED,
    misuse=_misuse,
    between_rounds=True,
)
