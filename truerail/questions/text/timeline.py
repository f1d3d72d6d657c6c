"""`timeline` as text: one line for each event, newest first."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from truerail.outputs.options import Options
from truerail.outputs.report_words import count, name, sentence
from truerail.outputs.text.style import PORT, QUIET
from truerail.questions.text.pieces import more, severity_word
from truerail.questions.timeline import Timeline, TimelineEvent


def timeline_text(answer: Timeline, options: Options) -> Iterator[RenderableType]:
    """The events, with date and time once each; on request with those folded into causes."""
    events = (
        sorted((*answer.events, *answer.folded), key=lambda one: one.at, reverse=True)
        if options.details
        else answer.events
    )
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for event in events:
        body = Text().append(name(event.subject), style=PORT).append(f"  {sentence(event.summary)}")
        if event.cause is not None and event.finding is None:
            body.append(f"  {', '.join((*_folded(event), name(event.cause)))}", style=QUIET)
        grid.add_row(
            Text(f"  {event.at:%Y-%m-%d %H:%M:%S}", style=QUIET),
            Text(name(event.kind), style=severity_word(event.severity or "").style or "bold"),
            body,
        )
    if answer.events:
        yield Text()
        yield grid
    if answer.folded and not options.details:
        yield Text("  --details lists the events of each cause", style=QUIET)
    if not answer.complete:
        yield from more(1, "events at least", "use a larger --limit")


def _folded(event: TimelineEvent) -> Iterator[str]:
    """What is folded into a cause's event."""
    for number, what in ((event.links, "link"), (event.findings, "finding")):
        if number:
            yield count(number, what)
