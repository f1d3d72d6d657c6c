"""What could not be evaluated, and notes for the reader."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from truerail.files.nodesets import fold
from truerail.model import Evaluation
from truerail.outputs.options import Options
from truerail.outputs.report_words import count, name, sentence
from truerail.outputs.text.blocks import hanging, heading, left_out
from truerail.outputs.text.style import PORT, QUIET
from truerail.outputs.unevaluated import NotEvaluated, Unread, doubts, rule_name

MOST_ERRORS = 10


def not_evaluated(evaluation: Evaluation, options: Options) -> Iterator[RenderableType]:
    """Everything that limits the verdict; empty if nothing does."""
    found = doubts(evaluation)
    if not found:
        return
    yield heading("Could not be evaluated")
    if found.cables:
        yield _line(f"{count(found.cables, 'planned cable')}: neither end could be read, or the ends do not decide")
    yield from _unread(found.unread, options)
    lacking = [one for one in found.unknown if one.missing and not one.failing and not options.details]
    if len(lacking) > 1:
        yield _line(f"no answer has what these rules read: {', '.join(map(_lacking, lacking))}")
    for not_evaluated in found.unknown:
        if len(lacking) > 1 and not_evaluated in lacking:
            continue
        yield _line(f"{_rules(not_evaluated.rules)}{_failing(not_evaluated)}: {sentence(not_evaluated.why)}")
    for verdict in found.broken:
        yield _line(f"{_rules((verdict.rule,))} failed inside: {sentence(verdict.error)}")


def _unread(unread: tuple[Unread, ...], options: Options) -> Iterator[RenderableType]:
    shown = unread if options.details else unread[:MOST_ERRORS]
    for group in shown:
        line = Text().append(name(fold(group.devices)), style=PORT)
        line.append(f" {', '.join(map(name, group.collectors))}: ", style=QUIET)
        yield hanging("?", line.append(sentence(group.error)))
    if hidden := len(unread) - len(shown):
        yield left_out(hidden, "kinds of unread answers", options.next_step)


def _lacking(group: NotEvaluated) -> str:
    return f"{sentence(group.missing)} ({', '.join(group.rules)})"


def _rules(codes: tuple[str, ...]) -> str:
    if len(codes) > 1:
        return f"rules {', '.join(codes)}"
    return " ".join(dict.fromkeys(("rule", *codes, *map(rule_name, codes))))


def _failing(not_evaluated: NotEvaluated) -> str:
    """Which of the rules have findings in the part that they could evaluate."""
    if not not_evaluated.failing:
        return ""
    if not_evaluated.failing == not_evaluated.rules:
        return " (it also has findings)" if len(not_evaluated.rules) == 1 else " (all also have findings)"
    return f" ({', '.join(not_evaluated.failing)} also {'has' if len(not_evaluated.failing) == 1 else 'have'} findings)"


def _line(words: str) -> RenderableType:
    return hanging("?", Text(words))


def notes(evaluation: Evaluation) -> Iterator[RenderableType]:
    """The evaluation's notes."""
    if evaluation.notes:
        yield heading("Notes")
        for note in evaluation.notes:
            yield hanging("-", Text(sentence(note)))
