"""`path HOST HOST [--rail N]`: the hops from host to host."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from truerail.questions.question import Asked, Form, Given, Kind, Parameter, Question, all_good
from truerail.views.pieces import AsOf

if TYPE_CHECKING:
    from rich.console import RenderableType

    from truerail.outputs.options import Options


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


def _find(asked: Asked, given: Given) -> PathAnswer:
    from truerail.questions.answers.path import path

    return path(asked.publication, given["from"], given["to"], given["rail"])


def _good(answer: PathAnswer) -> bool | None:
    return all_good(path.stays for path in answer.rails)


def _text(answer: PathAnswer, options: "Options") -> Iterator["RenderableType"]:
    from truerail.questions.text.path import path_text

    return path_text(answer)


QUESTION = Question(
    "path",
    4,
    PathAnswer,
    (
        Parameter(
            "from",
            help="The sending host, or its GPU: 'gpu-001 GPU 3'.",
            description="a host, or a GPU or NIC of one",
            metavar="HOST",
            label="From",
            example="gpu-001",
        ),
        Parameter(
            "to",
            help="The receiving host, or its GPU.",
            description="another host, or a GPU or NIC of it",
            metavar="HOST",
            label="To",
            example="gpu-040",
        ),
        Parameter(
            "rail",
            help="Limit to this rail.",
            kind=Kind.NUMBER,
            needed=False,
            option=True,
            least=0,
            most_in_api=10_000,
            label="Rail",
            example="all",
        ),
    ),
    _find,
    "The actual hops from one host to another, and where the path leaves its rail.",
    short="On call: the hops between two hosts.",
    help="The actual hops from host to host on each rail, and where a path leaves its rail; between GPUs also by PXN.",
    good=_good,
    text=_text,
    form=Form(
        "Which path does traffic take?",
        "The hops on each rail, and where traffic leaves its rail; from GPU to GPU also by NVLink (PXN).",
        "Trace path",
    ),
)
