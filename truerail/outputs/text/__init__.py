"""The report for a terminal: what to do first, then the picture, then what could not be evaluated."""

import io
from collections.abc import Iterable, Iterator

from rich.console import Console, RenderableType
from rich.text import Text

from truerail.model import Evaluation
from truerail.outputs.options import Options
from truerail.outputs.report_words import INFERRED, count, headline, misfit, title
from truerail.outputs.text.blocks import QUIET, TONE_MARKS, Verbatim, hanging, in_ascii
from truerail.outputs.text.causes import what_to_do
from truerail.outputs.text.finding_blocks import findings, not_evaluated, notes
from truerail.outputs.text.picture import picture

NARROWEST = 40


def render_text(evaluation: Evaluation, options: Options) -> str:
    """The text report, at most `options.width` columns wide (40 at least), lines without trailing blanks."""
    return drawn(_blocks(evaluation, options), options)


def drawn(blocks: Iterable[RenderableType], options: Options) -> str:
    """Blocks one below the other as text, at most `options.width` columns wide (40 at least); lines to copy are not
    broken.
    """
    console = Console(
        file=io.StringIO(),
        width=max(options.width, NARROWEST),
        force_terminal=options.color,
        color_system="standard" if options.color else None,
        no_color=not options.color,
        legacy_windows=False,
        markup=False,
        highlight=False,
        emoji=False,
    )
    with console.capture() as captured:
        for block in blocks:
            console.print(block, soft_wrap=isinstance(block, Verbatim))
    text = "\n".join(line.rstrip() for line in captured.get().split("\n"))
    return in_ascii(text) if options.ascii else text


def _blocks(evaluation: Evaluation, options: Options) -> Iterator[RenderableType]:
    yield from _opening(evaluation)
    yield from what_to_do(evaluation, options)
    yield from picture(evaluation, options)
    yield from not_evaluated(evaluation, options)
    yield from findings(evaluation, options)
    yield from notes(evaluation)


def _opening(evaluation: Evaluation) -> Iterator[RenderableType]:
    """The subject line and the verdict."""
    summary = evaluation.summary
    at = evaluation.at.strftime("%Y-%m-%d %H:%M:%S %Z").strip()
    hosts = f"{summary.hosts_read:,} of {count(summary.hosts, 'host')} read"
    yield Text(f"{title(evaluation.plan)}, {at}, {hosts}", style=QUIET)
    if evaluation.plan.inferred:
        yield hanging("", Text(INFERRED, style="bold magenta"), indent=0)
    yield Text()
    verdict = headline(evaluation)
    mark, style = TONE_MARKS[verdict.tone]
    yield hanging(Text(mark, style), Text(verdict.cables, style), indent=0)
    if verdict.repair:
        yield hanging(" ", Text(verdict.repair), indent=0)
    if doubt := misfit(evaluation):
        yield hanging("?", Text(doubt, style="bold magenta"), indent=0)
