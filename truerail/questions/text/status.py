"""`status` as text: what to do, the causes worst first, then what is muted, not over yet and unknown."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from truerail.files.nodesets import fold
from truerail.outputs.options import Options
from truerail.outputs.report_words import name, sentence
from truerail.outputs.text.blocks import hanging, heading
from truerail.outputs.text.style import PORT, QUIET
from truerail.questions.status import Status, UnknownPart
from truerail.questions.text.pieces import MOST_LINES, age, cause, finding, more, to_do, when
from truerail.views.pieces import FindingLine

MOST_UNKNOWN = 8


def status_text(answer: Status, options: Options) -> Iterator[RenderableType]:
    """The first action and the age of the data, then each part."""
    yield from to_do(answer.action)
    of = f"{name(answer.fabric)}, " if answer.fabric else ""
    which = f"evaluation {answer.evaluation}" if answer.evaluation else "round"
    yield Text(f"  {of}{which} of {when(answer.at)}, {age(answer.age_seconds)} old", QUIET)
    most = None if options.details else MOST_LINES
    if answer.causes:
        yield heading("Causes", "worst first")
    for number, line in enumerate(answer.causes[:most]):
        yield from cause(line, reported=number == 0)
    yield from more(len(answer.causes) - len(answer.causes[:most]), "causes")
    yield from _findings("Without a common cause", answer.findings, answer.findings_total, most)
    yield from _findings("Not over yet", answer.pending_resolution, len(answer.pending_resolution), most)
    yield from _muted(answer, most)
    yield from _unknown(answer.unknown, None if options.details else MOST_UNKNOWN)


def _findings(title: str, lines: tuple[FindingLine, ...], total: int, most: int | None) -> Iterator[RenderableType]:
    if lines:
        yield heading(title)
    for line in lines[:most]:
        yield finding(line)
    yield from more(total - len(lines[:most]), "findings")


def _muted(answer: Status, most: int | None) -> Iterator[RenderableType]:
    if answer.muted_causes or answer.muted_findings:
        yield heading("Muted", "no alerts")
    for line in answer.muted_causes[:most]:
        yield from cause(line, reported=True)
    yield from more(len(answer.muted_causes) - len(answer.muted_causes[:most]), "causes")
    for one in answer.muted_findings[:most]:
        yield finding(one)
    yield from more(len(answer.muted_findings) - len(answer.muted_findings[:most]), "findings")


def _unknown(parts: tuple[UnknownPart, ...], most: int | None) -> Iterator[RenderableType]:
    if parts:
        yield heading("Unknown", "not evaluated, so not known to be right")
    for part in parts[:most]:
        kind = name(part.what)
        what = f"{part.count:,} {kind}" if part.count != 1 else kind.removesuffix("s")
        line = Text().append(what, style=PORT)
        if part.names and part.count <= len(part.names):
            line.append(f" {_named(part)}", style=PORT)
        yield hanging("?", line.append(f": {sentence(part.why)}"))
    yield from more(len(parts) - len(parts[:most]), "reasons", "--details shows all")


def _named(part: UnknownPart) -> str:
    shown = name(fold(part.names)) if part.what == "devices" else ", ".join(map(name, part.names[:6]))
    return f"{shown}, ..." if part.what != "devices" and part.count > 6 else shown
