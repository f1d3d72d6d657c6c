"""`diff` as text: links, then findings."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from truerail.outputs.options import Options
from truerail.outputs.report_words import name, sentence
from truerail.outputs.text.blocks import hanging, heading
from truerail.outputs.text.style import PORT, QUIET
from truerail.questions.diff import Diff, FindingChange, LinkLine
from truerail.questions.text.pieces import more, severity_word, when

MOST_ROWS = 40


def diff_text(answer: Diff, options: Options) -> Iterator[RenderableType]:
    """What changed, newest first."""
    if answer.against == "time":
        yield Text(f"  from {when(answer.start)} to {when(answer.end)}", style=QUIET)
    most = None if options.details else MOST_ROWS
    if answer.links:
        yield heading("Links")
    for link in answer.links[:most]:
        yield _link(link)
    yield from more(len(answer.links) - len(answer.links[:most]), "links")
    if answer.findings:
        yield heading("Findings")
    for finding in answer.findings[:most]:
        yield _finding(finding)
    yield from more(len(answer.findings) - len(answer.findings[:most]), "findings")


def _link(link: LinkLine) -> RenderableType:
    rail = "" if link.rail is None else f" (rail {link.rail})"
    line = Text().append(name(link.port), style=PORT).append(f"{rail}  ", style=QUIET).append(sentence(link.summary))
    return hanging(Text(f"{link.at:%m-%d %H:%M:%S}" if link.at else "", style=QUIET), line)


def _finding(one: FindingChange) -> RenderableType:
    line = Text().append(name(one.kind), style="bold").append(" ").append_text(severity_word(one.severity))
    line.append(f" {name(one.rule)} ").append(name(one.subject), style=PORT)
    line.append(f"  {name(one.finding)}", style=QUIET)
    return hanging(
        Text(f"{one.at:%m-%d %H:%M:%S}" if one.at else "", style=QUIET), line.append(f"\n{sentence(one.summary)}")
    )
