"""What to send after an evaluation: faults that began, got more severe or ended since the last message about them.

The state of each fault that was announced decides, not the steps between two evaluations: a message that was not sent
because the service stopped is sent by the next evaluation.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from truerail.analysis.published import Published
from truerail.model.cause_kinds import CAUSE_KINDS, minutes_of
from truerail.model.finding import Severity
from truerail.model.open_fault import OpenFault
from truerail.outputs.report_words import count
from truerail.service.notify.notification import MOST_FINDINGS, Affected, Event, Folded, Notification, in_words
from truerail.service.notify.pod_use import as_sent

MOST_SINGLE = 20
"""More messages than this from one evaluation are folded into one, except for the first ones."""
SHOWN_OF_MANY = 10
"""Messages beside a folded one."""
_SAME = ("severity", "summary", "action", "subject", "pod", "rack", "unit", "since")
"""What a message says as the fault has it."""


@dataclass(frozen=True, slots=True)
class Announced:
    """A fault about which a message was sent. `message` is the last one; None if it was folded into another."""

    kind: str
    severity: Severity
    message: Notification | None = None


def news_of(
    publication: Published, announced: Mapping[str, Announced], in_use: Collection[str]
) -> tuple[list[Notification], dict[str, Announced]]:
    """The messages that an evaluation causes, in the order in which to send them and without ids, and the faults that
    are announced then. What ended comes first. `in_use` are the pods in use.
    """
    faults = [as_sent(fault, in_use) for fault in publication.open_faults]
    due = {fault.key: fault for fault in faults if _due(fault, publication)}
    began = [_message(publication, fault, Event.BEGAN) for key, fault in due.items() if key not in announced]
    worse = [
        _message(publication, fault, Event.WORSENED)
        for key, fault in due.items()
        if key in announced and fault.severity.rank > announced[key].severity.rank
    ]
    gone = announced.keys() - {fault.key for fault in publication.open_faults}
    ended, folded_ends = _ended(publication.at, {key: announced[key] for key in announced if key in gone})
    messages, now = list(ended), {key: one for key, one in announced.items() if key not in gone}
    messages += _folded(publication, folded_ends, Event.ENDED)
    for event, found in ((Event.WORSENED, worse), (Event.BEGAN, began)):
        single, many = _split(found)
        messages += single
        messages += _folded(publication, [(one.kind or one.rule or "", one.severity) for one in many], event)
        now |= {one.fault or "": Announced(one.kind or one.rule or "", one.severity, one) for one in single}
        now |= {one.fault or "": Announced(one.kind or one.rule or "", one.severity) for one in many}
    return messages, now


def _due(fault: OpenFault, publication: Published) -> bool:
    """Whether a fault is reported: not muted, of warning or more, and as old as its alert would have to be."""
    minutes = minutes_of(fault.kind, fault.severity)
    if minutes is None or (fault.findings and all(one in publication.mutes for one in fault.findings)):
        return False
    return fault.since is None or publication.at - fault.since >= timedelta(minutes=minutes)


def _message(publication: Published, fault: OpenFault, event: Event) -> Notification:
    title = CAUSE_KINDS[fault.kind].title if fault.kind else "A finding without a known cause"
    return _worded(
        Notification(
            at=publication.at,
            event=event,
            fabric=publication.fabric,
            title=title,
            kind=fault.kind.value if fault.kind else None,
            rule=fault.rule or None,
            fault=fault.key,
            affected=Affected(gpus=fault.affected_gpus, hosts=fault.affected_hosts),
            page=f"{publication.page_url}{fault.path}" if publication.page_url else "",
            findings=fault.findings[:MOST_FINDINGS],
            findings_total=len(fault.findings),
            **{name: getattr(fault, name) for name in _SAME},
        )
    )


def _ended(at: datetime, gone: Mapping[str, Announced]) -> tuple[list[Notification], list[tuple[str, Severity]]]:
    """Messages about ends, and the kinds of those that are folded: what began folded ends folded."""
    known = [one.message for one in gone.values() if one.message is not None]
    single, many = _split(known)
    messages = [_worded(one.model_copy(update={"at": at, "ended": at, "event": Event.ENDED})) for one in single]
    folded = [(one.kind, one.severity) for one in gone.values() if one.message is None]
    return messages, folded + [(one.kind or one.rule or "", one.severity) for one in many]


def _split(messages: Sequence[Notification]) -> tuple[Sequence[Notification], Sequence[Notification]]:
    """Those that are sent one by one, and those that are folded."""
    single = len(messages) if len(messages) <= MOST_SINGLE else SHOWN_OF_MANY
    return messages[:single], messages[single:]


def _folded(publication: Published, faults: Iterable[tuple[str, Severity]], event: Event) -> list[Notification]:
    """One message about many faults; none about none."""
    counts = Counter(faults)
    if not counts:
        return []
    order = sorted(counts.items(), key=lambda one: (-one[0][1].rank, -one[1], one[0][0]))
    kinds = tuple(Folded(kind=kind, severity=severity, count=many) for (kind, severity), many in order)
    total = count(counts.total(), "more fault")
    listed = ", ".join(f"{one.count} {one.kind} ({one.severity})" for one in kinds)
    message = Notification(
        at=publication.at,
        event=event,
        fabric=publication.fabric,
        severity=kinds[0].severity,
        title="Many faults at once",
        summary=f"{total} {event} at once: {listed}",
        action="" if event is Event.ENDED else "Look at the list of causes: the worst ones are first.",
        ended=publication.at if event is Event.ENDED else None,
        page=f"{publication.page_url}/causes" if publication.page_url else "",
        folded=kinds,
    )
    return [_worded(message)]


def message_of_test(fabric: str, at: datetime, number: str, page_url: str) -> Notification:
    """The message of `truerail notify test`."""
    return _worded(
        Notification(
            id=number,
            at=at,
            event=Event.TEST,
            fabric=fabric,
            severity=Severity.WARNING,
            title="Test of a receiver",
            summary="truerail sends its messages about faults to this receiver",
            action="Nothing has to be done.",
            page=page_url,
        )
    )


def _worded(message: Notification) -> Notification:
    return message.model_copy(update={"text": in_words(message)})
