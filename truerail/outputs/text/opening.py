"""The first lines: what was checked, when, and the verdict."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from truerail.model import Evaluation
from truerail.outputs.text.blocks import hanging
from truerail.outputs.text.style import QUIET, TONE_MARKS
from truerail.outputs.words import INFERRED, count, headline, misfit, title


def opening(evaluation: Evaluation) -> Iterator[RenderableType]:
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
