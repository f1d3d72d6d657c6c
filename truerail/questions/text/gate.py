"""`gate` as text: the hosts that are not fit, and why."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from truerail.outputs.options import Options
from truerail.outputs.report_words import name, sentence
from truerail.outputs.text.blocks import hanging
from truerail.outputs.text.style import PORT
from truerail.questions.gate import Gate
from truerail.questions.text.pieces import MOST_LINES, more


def gate_text(answer: Gate, options: Options) -> Iterator[RenderableType]:
    """A line for each host that is not known to be fit."""
    shown = answer.hosts if options.details else answer.hosts[:MOST_LINES]
    for host in shown:
        mark = "?" if host.fit is None else "!"
        yield hanging(mark, Text().append(name(host.host), style=PORT).append(f"  {sentence(host.summary)}"))
        if host.drained:
            yield hanging("", Text(f"no new job starts there already: {name(host.drained)}"), indent=2)
        elif host.drain:
            yield hanging("", Text("to keep new jobs away:"), indent=2)
            yield hanging("", Text(name(host.drain)), indent=4)
    yield from more(len(answer.hosts) - len(shown), "hosts")
