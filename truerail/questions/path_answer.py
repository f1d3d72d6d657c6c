"""The answer of `path`, and its text: the hops from host to host."""

from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import RenderableType
from rich.text import Text

from truerail.outputs.report_words import name, sentence
from truerail.outputs.text.blocks import PORT, QUIET, TONE_MARKS, hanging
from truerail.questions.answer_text import TONES
from truerail.views.pieces import AsOf

_PLAIN = ("LLDP at both ends", "LLDP at one end", "discovery")
"""Witnesses that need no mention."""


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of a path: its ingress and egress ports, where known."""

    device: str
    role: str | None
    in_port: str
    out_port: str
    rail: int | None
    choices: int = 1
    """Number of equal links at this hop (uplinks)."""
    nvlink: str = ""
    """The path inside the host, from GPU to GPU: PXN."""
    witnesses: tuple[str, ...] = ()
    """What names the place of a host's cable: `LLDP at both ends`, `MAC table`, ...; empty if it is not seen, at
    switches, and as of a time.
    """


@dataclass(frozen=True, slots=True)
class RailPath:
    """The actual path from one host to another over one rail. `stays` is None if unknown."""

    rail: int | None
    hops: tuple[Hop, ...]
    stays: bool | None
    leaves_at: str
    """The device where the path leaves its rail; empty if it does not."""
    summary: str
    from_rail: int | None = None
    """The rail of the sending GPU, if it is another one: PXN brings its data to this rail."""
    planes: int = 1
    """Planes of this rail on which both hosts have a cable; `hops` are those of the best one."""
    planes_off: tuple[int, ...] = ()
    """Planes on which the two hosts do not reach each other within the rail."""
    planes_unknown: tuple[int, ...] = ()
    """Planes of which this is not known."""


@dataclass(frozen=True, slots=True)
class PathAnswer:
    """`path HOST HOST [--rail N]`, or from GPU to GPU."""

    source: str
    target: str
    rails: tuple[RailPath, ...]
    summary: str
    as_of: AsOf | None = None


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
