"""`diff`: changes of links and findings, between two times or against the plan."""

from collections.abc import Hashable, Iterable, Sequence
from datetime import datetime
from typing import TypeVar

import numpy as np

from truerail.analysis.cabling import State
from truerail.analysis.published import Published
from truerail.model.columns import Codes
from truerail.model.history import EventKind, FindingEvent, History, LinkChange, RowRange
from truerail.model.plan import Port
from truerail.outputs.report_words import count
from truerail.questions.diff import Diff, FindingChange, LinkLine
from truerail.views.lines import STATES, seen_end, why_words
from truerail.views.view import View, view_of

MOST_ROWS = 1000
"""Maximum number of links, and of findings, in an answer. `Diff.whole` is False if there were more."""
_CAME = (EventKind.APPEARED, EventKind.REGRESSED, EventKind.FLAPPING)

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


def diff(publication: Published, history: History, start: datetime, end: datetime) -> Diff:
    """The differences between `start` and `end`, newest first.

    A link that changed and changed back, and a finding that came and went, are counted in `summary` only. Raises
    JournalUnavailableError if the journal cannot be read.
    """
    page = RowRange(limit=MOST_ROWS + 1)
    changes = history.link_changes(start, end, page=page)
    events = history.finding_events(start, end, page=page)
    links = [_net_link(publication, rows) for rows in _by(changes[:MOST_ROWS], [c.port for c in changes])]
    findings = [_net_finding(rows) for rows in _by(events[:MOST_ROWS], [e.finding for e in events])]
    kept_links = tuple(link for link in links if link is not None)
    kept = tuple(finding for finding in findings if finding is not None)
    back = len(links) - len(kept_links), len(findings) - len(kept)
    whole = len(changes) <= MOST_ROWS and len(events) <= MOST_ROWS
    return Diff(start, end, "time", kept_links, kept, whole, _says(kept_links, kept, back, whole))


def diff_plan(publication: Published) -> Diff:
    """The current differences from the plan: every cable that is not known to be right, and the findings."""
    view = view_of(publication)
    bad = np.flatnonzero(view.wiring.state != State.RIGHT)
    ordered: Codes = bad[np.lexsort((view.layout.place[bad], view.wiring.state[bad] == State.UNKNOWN))]
    links = tuple(_against_plan(view, cable) for cable in ordered[:MOST_ROWS].tolist())
    found = view.findings.all
    findings = tuple(
        FindingChange(life.since if (life := publication.lives.get(one)) else None, "appeared", one, f.rule,
                      f.severity.value, f.subject, f.summary)
        for one, f in zip(view.findings.ids[:MOST_ROWS], found[:MOST_ROWS], strict=True)
    )  # fmt: skip
    whole = max(len(bad), len(found)) <= MOST_ROWS
    summary = _plan_says(np.bincount(view.wiring.state, minlength=len(State)), len(found), whole)
    return Diff(None, publication.at, "plan", links, findings, whole, summary)


def _by(rows: Sequence[T], keys: Sequence[K]) -> Iterable[list[T]]:
    """Rows by key: each group in the order given, groups in the order of their first rows."""
    groups: dict[K, list[T]] = {}
    for row, key in zip(rows, keys, strict=False):
        groups.setdefault(key, []).append(row)
    return groups.values()


def _net_link(publication: Published, rows: Sequence[LinkChange]) -> LinkLine | None:
    """The changes of one link, newest first, merged into one; None if they cancel out."""
    last, first = rows[0], rows[-1]
    if (first.was, first.was_state) == (last.now, last.now_state):
        return None
    rail = publication.plan.rail_of(port_of(last.port))
    times = f", after {len(rows)} changes" if len(rows) > 1 else ""
    summary = f"{_place(first.was, first.was_state)} → {_place(last.now, last.now_state)}{times}"
    return LinkLine(last.at, last.port, rail, first.was, last.now, first.was_state, last.now_state, summary)


def port_of(subject: str) -> Port:
    """`device/port` as a port."""
    device, _, name = subject.partition("/")
    return Port(device, name)


def _place(port: str | None, state: str) -> str:
    return f"{port} ({state})" if port else f"no link seen ({state})"


def _net_finding(rows: Sequence[FindingEvent]) -> FindingChange | None:
    """The events of one finding, newest first, merged into one; None if it came and went."""
    last, first = rows[0], rows[-1]
    if first.kind in (EventKind.APPEARED, EventKind.REGRESSED) and last.kind is EventKind.RESOLVED:
        return None
    kind = (
        first.kind if last.kind in _CAME and first.kind in _CAME and last.kind is not EventKind.FLAPPING else last.kind
    )
    return FindingChange(last.at, kind.value, last.finding, last.rule, last.severity, last.subject, last.summary)


def _says(links: Sequence[LinkLine], findings: Sequence[FindingChange], back: tuple[int, int], whole: bool) -> str:
    came = sum(f.kind in {kind.value for kind in _CAME} for f in findings)
    gone = sum(f.kind == EventKind.RESOLVED.value for f in findings)
    unseen = sum(f.kind == EventKind.UNSEEN.value for f in findings)
    parts = [
        f"{count(number, one, many)}"
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
    cut = "" if whole else f" Only the newest {MOST_ROWS:,} changes are shown: choose a shorter time."
    return f"{', '.join(parts) or 'Nothing changed'}.{cut}"


def _against_plan(view: View, cable: int) -> LinkLine:
    planned, seen = view.plan.cables[cable], seen_end(view, cable)
    return LinkLine(
        at=None,
        port=str(planned.a),
        rail=planned.rail,
        was=str(planned.b),
        now=seen.name if seen else None,
        was_state=STATES[State.RIGHT],
        now_state=STATES[State(int(view.wiring.state[cable]))],
        summary=why_words(view, cable, seen),
    )


def _plan_says(states: Codes, findings: int, whole: bool) -> str:
    right, *others = states.tolist()
    parts = [
        f"{number:,} {word}" for number, word in zip(others, ("wrong", "missing", "unknown"), strict=True) if number
    ]
    cut = "" if whole else f" Only the first {MOST_ROWS:,} are shown."
    cables = f"{', '.join(parts)}; " if parts else ""
    return f"{cables}{right:,} of {count(sum(states.tolist()), 'cable')} as planned, {count(findings, 'finding')}.{cut}"
