"""`timeline` as text: one line for each event, newest first."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from truerail.outputs.report_words import name, sentence
from truerail.outputs.text.style import PORT, QUIET
from truerail.questions.text.pieces import more, severity_word
from truerail.questions.timeline import Timeline


def timeline_text(answer: Timeline) -> Iterator[RenderableType]:
    """The events, with date and time once each."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for event in answer.events:
        body = Text().append(name(event.subject), style=PORT).append(f"  {sentence(event.summary)}")
        grid.add_row(
            Text(f"  {event.at:%Y-%m-%d %H:%M:%S}", style=QUIET),
            Text(name(event.kind), style=severity_word(event.severity or "").style or "bold"),
            body,
        )
    if answer.events:
        yield Text()
        yield grid
    if not answer.whole:
        yield from more(1, "events at least", "use a larger --limit")
