"""The answer of `diff`, and its text: one line for each cause, then what belongs to none."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from rich.console import RenderableType
from rich.text import Text

from truerail.outputs.options import Options
from truerail.outputs.report_words import count, name, sentence
from truerail.outputs.text.blocks import PORT, QUIET, hanging, heading
from truerail.questions.answer_text import section, severity_word, when

MOST_ROWS = 40


@dataclass(frozen=True, slots=True)
class LinkLine:
    """A link that changed, or (against the plan) differs."""

    at: datetime | None
    port: str
    rail: int | None
    was: str | None
    now: str | None
    was_state: str
    now_state: str
    summary: str
    cause: str | None = None
    """Key of the cause to which the change belongs."""


@dataclass(frozen=True, slots=True)
class FindingChange:
    """A finding that came or went. `kind` is an `EventKind` word."""

    at: datetime | None
    kind: str
    finding: str
    rule: str
    severity: str
    subject: str
    summary: str
    cause: str | None = None
    """Key of the cause to which the change belongs."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Links by their lower end (`links`: those that are no longer in the plan) and findings that changed. A link that
    changed back, and a finding that came and went, count.
    """

    nics: int = 0
    uplinks: int = 0
    links: int = 0
    findings: int = 0


@dataclass(frozen=True, slots=True)
class CauseChange:
    """A cause that began or ended, or to which changes belong. `began` and `ended` are None if that was not in the
    time in question; `times` is how often it began then. `state` is a `LifeState` word.
    """

    cause: str
    kind: str
    subjects: tuple[str, ...]
    summary: str
    began: datetime | None
    ended: datetime | None
    times: int
    state: str
    counts: Counts


@dataclass(frozen=True, slots=True)
class Diff:
    """`diff`. The counts of `causes` and `no_cause` add up to `total`; `links` and `findings` list at most 1,000 rows
    each, without those that changed back. `complete` is False if even the counts are not of all changes: there are too
    many, or the journal begins later than `start`.
    """

    start: datetime | None
    end: datetime | None
    against: str
    """`time` or `plan`."""
    causes: tuple[CauseChange, ...]
    """By the time when they began, else ended; newest first."""
    no_cause: Counts
    total: Counts
    links: tuple[LinkLine, ...]
    findings: tuple[FindingChange, ...]
    complete: bool
    summary: str


def diff_text(answer: Diff, options: Options) -> Iterator[RenderableType]:
    """What changed, newest first."""
    if answer.against == "time":
        yield Text(f"  from {when(answer.start)} to {when(answer.end)}", style=QUIET)
    most = None if options.details else MOST_ROWS
    yield from section(answer.causes, _cause, "causes", "Causes", most=most)
    shown = options.details or not answer.causes
    links = answer.links if shown else tuple(link for link in answer.links if link.cause is None)
    findings = answer.findings if shown else tuple(one for one in answer.findings if one.cause is None)
    if answer.causes and answer.no_cause != Counts():
        yield heading("Without a cause", ", ".join(counted(answer.no_cause)))
    yield from section(links, _link, "links", "Links" * shown, most=most)
    yield from section(findings, _finding, "findings", "Findings" * shown, most=most)
    folded = len(answer.links) - len(links), len(answer.findings) - len(findings)
    words = [count(number, what) for number, what in zip(folded, ("link", "finding"), strict=True) if number]
    if words:
        yield Text(f"\n  {' and '.join(words)} of these causes: --details lists them", style=QUIET)


def counted(counts: Counts) -> list[str]:
    """`16 uplinks`, `128 NICs`, as many as there are."""
    kinds = {"uplink": counts.uplinks, "NIC": counts.nics, "unplanned link": counts.links, "finding": counts.findings}
    return [count(number, what) for what, number in kinds.items() if number]


def _cause(cause: CauseChange) -> RenderableType:
    """A cause on one line: what, how much, and since when or until when."""
    line = Text().append(sentence(in_short(cause.summary)), style="bold")
    parts = counted(cause.counts)
    if cause.times > 1:
        parts.append(f"{cause.times} times")
    line.append(f"  {', '.join(parts)}" if parts else "").append(f"; {_state(cause)}")
    time = f"{at:%m-%d %H:%M:%S}" if (at := cause.began or cause.ended) else "earlier"
    return hanging(Text(time, style=QUIET), line.append(f"  {name(cause.cause)}", style=QUIET))


def in_short(summary: str) -> str:
    """The first clause of a cause's sentence; a name alone, before a colon, is none."""
    clause = summary.partition(": ")[0]
    return (clause if " " in clause else summary).partition(". ")[0]


def _state(cause: CauseChange) -> str:
    if cause.ended is not None:
        day = "" if cause.began and cause.began.date() == cause.ended.date() else f"{cause.ended:%m-%d} "
        return f"ended at {day}{cause.ended:%H:%M}" if cause.began else "ended"
    return {"unseen": "no data on it now"}.get(cause.state, name(cause.state))


def _link(link: LinkLine) -> RenderableType:
    rail = "" if link.rail is None else f" (rail {link.rail})"
    line = Text().append(name(link.port), style=PORT).append(f"{rail}  ", style=QUIET).append(sentence(link.summary))
    return hanging(Text(f"{link.at:%m-%d %H:%M:%S}" if link.at else "", style=QUIET), line)


def _finding(one: FindingChange) -> RenderableType:
    line = Text().append(name(one.kind), style="bold").append(" ").append_text(severity_word(one.severity))
    line.append(f" {name(one.rule)} ").append(name(one.subject), style=PORT)
    line.append(f"  {name(one.finding)}", style=QUIET).append(f"\n{sentence(one.summary)}")
    return hanging(Text(f"{one.at:%m-%d %H:%M:%S}" if one.at else "", style=QUIET), line)
