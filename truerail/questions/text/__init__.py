"""The answers as text for a terminal: the summary first, then what to do, then the evidence."""

from collections.abc import Iterator
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from truerail.outputs.options import Options
from truerail.outputs.report_words import as_sentence, name
from truerail.outputs.text import drawn
from truerail.outputs.text.blocks import hanging
from truerail.outputs.text.style import QUIET
from truerail.questions import question_of
from truerail.questions.answers.tones import tone_of
from truerail.questions.text.pieces import verdict, when


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
