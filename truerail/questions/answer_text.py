"""The answers as text for a terminal: the summary first, then what to do, then the evidence; and their common parts."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, TypeVar

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from truerail.model import Device
from truerail.outputs.options import Options
from truerail.outputs.report_words import Tone, as_sentence, count, name, place, sentence, sure
from truerail.outputs.text import drawn
from truerail.outputs.text.blocks import PORT, QUIET, SEVERITY_STYLES, STATE_STYLES, TONE_MARKS, hanging, heading
from truerail.questions import question_of
from truerail.views.pieces import CauseLine, End, FindingLine

T = TypeVar("T")
MOST_LINES = 12
MOST_JOBS = 3
_STATES = {state.value: style for state, style in STATE_STYLES.items()}
_SEVERITIES = {severity.value: style for severity, style in SEVERITY_STYLES.items()}
TONES = {True: Tone.GOOD, False: Tone.BAD, None: Tone.DOUBT}
"""By whether something is as planned; None if unknown."""


def verdict(tone: Tone, summary: str) -> RenderableType:
    """The summary, with its mark."""
    mark, style = TONE_MARKS[tone]
    return hanging(Text(mark, style), Text(as_sentence(summary), style), indent=0)


def to_do(action: str) -> Iterator[RenderableType]:
    """What to do, if anything."""
    if action:
        yield hanging("do", Text(sentence(action), style="bold"), indent=2)


def finding(line: FindingLine) -> RenderableType:
    """A finding on one line, with its message below."""
    title = Text().append_text(severity_word(line.severity))
    title.append(f" {name(line.rule)} ").append(name(line.subject), style=PORT)
    muted = f", {name(line.muted)}" if line.muted else ""
    since = f" since {when(line.since)}" if line.since else ""
    title.append(f"  {name(line.id)}, {name(line.state)}{since}{muted}", style=QUIET)
    return hanging("!", title.append(f"\n{sentence(line.summary)}", style="not dim"))


def cause(line: CauseLine, *, reported: bool = False) -> Iterator[RenderableType]:
    """A cause: what it is, its impact, and, unless already `reported`, what to do."""
    title = Text().append(name(line.kind), style="bold").append(f"  {as_sentence(line.summary)}")
    impact = f", {count(line.impact, 'GPU')} affected" if line.impact else ", GPUs unknown" * (not line.impact_known)
    muted = f", {name(line.muted)}" if line.muted else ""
    since = f", since {when(line.since)}" if line.since else ""
    title.append(f"  {sure(line.confidence)} sure{impact}{since}{muted}, {name(line.key)}", style=QUIET)
    yield hanging("!", title)
    if line.action and not reported:
        yield hanging("do", Text(sentence(line.action), style="bold"), indent=4)
    if line.jobs:
        yield hanging("", Text(_affected_jobs(line)), indent=4)


def _affected_jobs(line: CauseLine) -> str:
    """The jobs that a cause affects, the first few."""
    words = []
    for job in line.jobs[:MOST_JOBS]:
        named = f" ({name(job.name)})" if job.name and job.name != job.key.partition("/")[2] else ""
        hours = "" if job.gpu_hours is None else f", {job.gpu_hours:,.1f} GPU-hours so far"
        words.append(f"job {name(job.key)}{named} on {name(job.hosts)}{hours}")
    more = (line.jobs_affected or len(line.jobs)) - len(words)
    return f"affects {'; '.join(words)}{f'; and {more:,} more' if more > 0 else ''}"


def state_word(state: str) -> Text:
    """A cable's state in its colour."""
    return Text(name(state), style=_STATES.get(state, ""))


def severity_word(severity: str) -> Text:
    """A severity in its colour."""
    return Text(name(severity), style=_SEVERITIES.get(severity, ""))


def end(one: End | None) -> Text:
    """A port with its location."""
    if one is None:
        return Text("nothing", style=QUIET)
    line = Text().append(name(one.name), style=PORT)
    where = place(Device(one.device, rack=one.rack, unit=one.unit))
    return line.append(f" ({where})", style=QUIET) if where else line


def rows(pairs: Iterable[tuple[str, RenderableType | str]], *, indent: int = 2) -> RenderableType:
    """Words and their meaning, in two columns."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True, style=QUIET)
    grid.add_column(overflow="fold")
    for word, value in pairs:
        grid.add_row(word, value)
    return Padding(grid, (0, 0, 0, indent))


def section(
    items: Sequence[T],
    draw: Callable[[T], RenderableType | Iterator[RenderableType]],
    what: str,
    title: str = "",
    aside: str = "",
    *,
    most: int | None = MOST_LINES,
    total: int | None = None,
    how: str = "--format json shows all",
) -> Iterator[RenderableType]:
    """A heading, `most` of the items (None: all), and how many more of `total` there are; nothing without items."""
    if items and title:
        yield heading(title, aside)
    shown = items[:most]
    for item in shown:
        drawn = draw(item)
        yield from drawn if isinstance(drawn, Iterator) else (drawn,)
    yield from more((len(items) if total is None else total) - len(shown), what, how)


def grid(*columns: str) -> Table:
    """A table without lines; each column is `left` or `right`, which do not wrap, or `fold`."""
    table = Table.grid(padding=(0, 2, 0, 0))
    for column in columns:
        fold = column == "fold"
        table.add_column(
            justify="right" if column == "right" else "left", no_wrap=not fold, overflow="fold" if fold else "ellipsis"
        )
    return table


def more(number: int, what: str, how: str = "--format json shows all") -> Iterator[RenderableType]:
    """Reports that rows were left out, and how to see them."""
    if number > 0:
        yield Text(f"  … and {number:,} more {what}: {how}", style=QUIET)


def when(at: datetime | None) -> str:
    """Date and time to the second, with the zone."""
    return f"{at:%Y-%m-%d %H:%M:%S %Z}".strip() if at else "time unknown"


def age(seconds: float) -> str:
    """An age in its largest two units: `4 s`, `3 min`, `2 h 5 min`, `8 d 3 h`."""
    left = max(0, round(seconds))
    for word, size, below, smaller in (("d", 86400, "h", 3600), ("h", 3600, "min", 60)):
        if left >= size:
            rest = left % size // smaller
            return f"{left // size} {word}" + (f" {rest} {below}" if rest else "")
    return f"{left // 60} min" if left >= 60 else f"{left} s"


def tone_of(answer: Any) -> Tone:
    """Good only if everything in question is known to be as planned."""
    return TONES[question_of(answer).good(answer)]


def answer_text(answer: Any, options: Options) -> str:
    """An answer as text, at most `options.width` columns wide, with foreign text made safe to show."""
    return drawn(_blocks(answer, options), options)


def _blocks(answer: Any, options: Options) -> Iterator[RenderableType]:
    """An answer with a summary begins with it; one of the past with its time."""
    if (as_of := getattr(answer, "as_of", None)) is not None:
        yield Text(f"As of {when(as_of.at)}, from the {name(as_of.source)}; not live", style="bold")
        yield from (hanging("-", Text(as_sentence(words), style=QUIET)) for words in as_of.unknown)
    if hasattr(answer, "summary"):
        yield verdict(tone_of(answer), answer.summary)
    if (text := question_of(answer).text) is not None:
        yield from text(answer, options)
