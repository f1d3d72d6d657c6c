"""The answers as text for a terminal: the summary first, then what to do, then the evidence."""

from collections.abc import Iterator
from typing import Any

from rich.console import RenderableType

from truerail.outputs.options import Options
from truerail.outputs.text import drawn
from truerail.questions import question_of
from truerail.questions.answers.tones import tone_of
from truerail.questions.text.pieces import verdict


def answer_text(answer: Any, options: Options) -> str:
    """An answer as text, at most `options.width` columns wide, with foreign text made safe to show."""
    return drawn(_blocks(answer, options), options)


def _blocks(answer: Any, options: Options) -> Iterator[RenderableType]:
    """An answer with a summary begins with it."""
    if hasattr(answer, "summary"):
        yield verdict(tone_of(answer), answer.summary)
    if (text := question_of(answer).text) is not None:
        yield from text(answer, options)
