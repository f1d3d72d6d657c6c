"""`path` as text: one line for each rail, from NIC to NIC."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from truerail.outputs.report_words import name, sentence
from truerail.outputs.text.blocks import hanging
from truerail.outputs.text.style import PORT, QUIET, TONE_MARKS
from truerail.questions.answers.tones import TONES
from truerail.questions.path import Hop, PathAnswer, RailPath

_PLAIN = ("LLDP at both ends", "LLDP at one end", "discovery")
"""Witnesses that need no mention."""


def path_text(answer: PathAnswer) -> Iterator[RenderableType]:
    """Every rail: the hops, and a remark if it is not as planned."""
    yield Text()
    for path in answer.rails:
        yield _rail(path, alone=len(answer.rails) == 1)


def _rail(path: RailPath, *, alone: bool) -> RenderableType:
    mark, style = TONE_MARKS[TONES[path.stays]]
    title = Text(mark, style).append(" rail -" if path.rail is None else f" rail {path.rail}", style="bold")
    body = Text(" → ").join(_hop(hop, path.leaves_at) for hop in path.hops)
    reduced = bool(path.stays and (path.planes_off or path.planes_unknown))
    if path.planes > 1 and not reduced and path.stays:
        body.append(f"  {path.planes} of {path.planes} planes", style=QUIET)
    if (path.stays is not True or reduced) and not alone:
        body.append(f"\n{sentence(path.summary)}")
    return hanging(title, body)


def _hop(hop: Hop, leaves_at: str) -> Text:
    ports = ":".join(name(port) for port in (hop.in_port, hop.out_port) if port)
    line = Text().append(name(hop.device), style="bold red" if hop.device == leaves_at else PORT)
    line.append(f" (NVLink {name(hop.nvlink)}) " if hop.nvlink else "", style=QUIET)
    line.append(f"/{ports}" if ports else "")
    beside = () if any(word in _PLAIN for word in hop.witnesses) else hop.witnesses
    line.append(f" ({', '.join(map(name, beside))})" if beside else "", style=QUIET)
    return line.append(f" ×{hop.choices}", style=QUIET) if hop.choices > 1 else line
