"""The answer of `why`, and its text."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from truerail.outputs.options import Options
from truerail.outputs.report_words import as_sentence, name, sentence, sure
from truerail.outputs.text.blocks import PORT, QUIET, hanging, heading
from truerail.questions.answer_text import cause, finding, rows, section, to_do, when
from truerail.questions.where import path_block
from truerail.views.pieces import CablePath, CauseLine, FindingLine

MOST_EXPLAINED = 8


@dataclass(frozen=True, slots=True)
class EvidenceLine:
    """One fact and its source. `source` is the command or file, `command` the command for which the file is named,
    empty for another file; `fact` is the raw fact as JSON values.
    """

    device: str
    collector: str
    at: datetime
    kind: str
    source: str
    command: str
    fact: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Why:
    """`why ID`: the evidence and the alternatives. `ruled_out` are sentences: each alternative and the evidence
    against it. `finding` is None if the id is that of a cause; `explained` are then its findings, at most 200.

    What is resolved comes from the journal: as it was last seen, without an action, and with `repair`.
    """

    finding: FindingLine | None
    detail: Mapping[str, Any]
    cause: CauseLine | None
    path: CablePath | None
    evidence: tuple[EvidenceLine, ...]
    alternatives: tuple[str, ...]
    ruled_out: tuple[str, ...]
    explanation: str
    """The rule's own page, Markdown."""
    episodes: int
    first_seen: datetime | None
    acknowledged_by: str | None
    acknowledged_reason: str | None
    explained: tuple[FindingLine, ...] = ()
    ended: datetime | None = None
    repair: str = ""
    """What ended it, as far as the journal has it: a sentence without its full stop."""
    trace: tuple[str, ...] = ()
    """If wanted: each step of the search for causes in this evaluation, and what it took."""

    @property
    def state(self) -> str:
        """A `LifeState` word."""
        line = self.finding or self.cause
        return line.state if line else ""


def why_text(answer: Why, options: Options) -> Iterator[RenderableType]:
    """The full answer, conclusion first."""
    yield from _head(answer)
    yield rows(_life(answer))
    if answer.cause and answer.finding:
        yield heading("Cause")
        yield from cause(answer.cause, reported=True)
    yield from section(answer.trace, lambda step: Text(f"  {sentence(step)}"), "", "Steps", most=None)
    most = None if options.details else MOST_EXPLAINED
    yield from section(answer.explained, finding, "findings", "Explains", most=most)
    for alternative in answer.alternatives:
        yield hanging("or", Text(sentence(alternative)), indent=4)
    yield from section(answer.ruled_out, _ruled_out, "", "Ruled out", most=None)
    yield from section(_numbers(answer), lambda words: hanging("", Text(words, style=QUIET)), "", "Measured", most=None)
    yield from section(answer.evidence, _evidence, "", "Evidence", most=None)
    if answer.path and options.details:
        yield heading("Cable")
        yield from path_block(answer.path)
    if answer.finding is None:
        return
    if options.details:
        yield heading("Rule")
        yield from (Text(f"  {sentence(line)}") for line in answer.explanation.splitlines())
    else:
        yield Text(f"\n  the rule: truerail rules explain {name(answer.finding.rule)}", style=QUIET)


def _head(answer: Why) -> Iterator[RenderableType]:
    """What it is, and what to do unless it is over."""
    if answer.finding:
        yield finding(answer.finding)
    elif answer.cause:
        yield from cause(answer.cause, reported=True)
    action = answer.cause.action if answer.cause else answer.finding.action if answer.finding else ""
    if answer.state != "resolved":
        yield from to_do(action)


def _ruled_out(words: str) -> RenderableType:
    return hanging("-", Text(as_sentence(words)))


def _life(answer: Why) -> Iterator[tuple[str, RenderableType | str]]:
    line = answer.finding
    if line and (line.expected or line.observed):
        yield "expected", Text(name(line.expected or "nothing"), style=PORT)
        yield "observed", Text(name(line.observed or "nothing"), style=PORT)
    since = line or answer.cause
    if line:
        yield "sure", sure(line.confidence)
    if answer.first_seen:
        times = f", {answer.episodes} times" if answer.episodes > 1 else ""
        yield "first seen", f"{when(answer.first_seen)}{times}"
    if answer.ended and since:
        yield "began", when(since.since)
        yield "ended", when(answer.ended)
    if answer.repair:
        yield "repaired", sentence(answer.repair)
    if answer.acknowledged_by:
        yield "known to", f"{name(answer.acknowledged_by)}: {sentence(answer.acknowledged_reason or '')}"


def _evidence(line: EvidenceLine) -> RenderableType:
    facts = ", ".join(f"{name(key)} {sentence(_shown(value))}" for key, value in _worded(line))
    source = f" by {name(line.source)}" if line.source else ""
    body = Text().append(f"{name(line.kind)} {facts}").append(f"  {line.at:%H:%M:%S}{source}", style=QUIET)
    return hanging(Text(name(line.device), style=PORT), body)


def _worded(line: EvidenceLine) -> Iterator[tuple[str, object]]:
    """The fields of a fact; counters as name and value."""
    fact = dict(line.fact)
    counters, values = fact.pop("counters", ()), fact.pop("values", ())
    yield from fact.items()
    for (counter, priority), value in zip(counters, values, strict=True):
        yield (counter if priority is None else f"{counter}:{priority}"), f"{value:,}"


def _numbers(answer: Why) -> list[str]:
    """The numbers of a finding, as its rule computed them, in one line."""
    numbers = ((key, value) for key, value in answer.detail.items() if not isinstance(value, bool))
    plain = {key: value for key, value in numbers if isinstance(value, int | float | str)}
    words = ", ".join(f"{name(key.replace('_', ' '))} {sentence(_shown(value))}" for key, value in plain.items())
    return [words] if words else []


def _shown(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
