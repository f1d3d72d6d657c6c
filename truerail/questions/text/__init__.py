"""The answers as text for a terminal: the summary first, then what to do, then the evidence."""

from collections.abc import Iterator

from rich.console import RenderableType

from truerail.outputs.options import Options
from truerail.outputs.text import drawn
from truerail.questions.models import Blast, Diff, Job, PathAnswer, Storm, Timeline, Where, Why
from truerail.questions.text.blast import blast_text
from truerail.questions.text.diff import diff_text
from truerail.questions.text.job import job_text
from truerail.questions.text.path import path_text
from truerail.questions.text.pieces import verdict
from truerail.questions.text.storm import storm_text
from truerail.questions.text.timeline import timeline_text
from truerail.questions.text.where import where_text
from truerail.questions.text.why import why_text
from truerail.questions.tones import Answer, tone_of


def answer_text(answer: Answer, options: Options) -> str:
    """An answer as text, at most `options.width` columns wide, with foreign text made safe to show."""
    return drawn(_blocks(answer, options), options)


def _blocks(answer: Answer, options: Options) -> Iterator[RenderableType]:
    if not isinstance(answer, Why):
        yield verdict(tone_of(answer), answer.summary)
    match answer:
        case Where():
            yield from where_text(answer)
        case Job():
            yield from job_text(answer, options)
        case Blast():
            yield from blast_text(answer, options)
        case PathAnswer():
            yield from path_text(answer)
        case Diff():
            yield from diff_text(answer, options)
        case Why():
            yield from why_text(answer, options)
        case Storm():
            yield from storm_text(answer, options)
        case Timeline():
            yield from timeline_text(answer)
