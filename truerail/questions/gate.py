"""`gate NODES`: whether a job may start on these hosts, from the last evaluation."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from truerail.questions.question import Asked, Form, Given, Kind, Parameter, Question

if TYPE_CHECKING:
    from rich.console import RenderableType

    from truerail.outputs.options import Options


@dataclass(frozen=True, slots=True)
class GateHost:
    """A host that is not fit, or of which it is not known: `fit` is False or None."""

    host: str
    fit: bool | None
    summary: str
    drained: str = ""
    """What its scheduler says of it, where it takes no new jobs there already: `DRAIN: C4 cable-swap`."""
    drain: str = ""
    """The command that would keep new jobs away, where it is not fit and its scheduler is known. Nothing runs it."""


@dataclass(frozen=True, slots=True)
class Gate:
    """`gate NODES`. `fit` is None where it is not known of a host, and none is known to be unfit."""

    query: str
    fit: bool | None
    hosts: tuple[GateHost, ...]
    """Those that are not fit, then those of which it is not known."""
    at: datetime
    """The evaluation that it comes from."""
    summary: str


def _find(asked: Asked, given: Given) -> Gate:
    from truerail.questions.answers.gate import gate

    return gate(asked.publication, given["nodes"], given["rails"], strict=given["strict"])


def _text(answer: Gate, options: "Options") -> Iterator["RenderableType"]:
    from truerail.questions.text.gate import gate_text

    return gate_text(answer, options)


QUESTION = Question(
    "gate",
    17,
    Gate,
    (
        Parameter(
            "nodes",
            help="The hosts: 'gpu-[001-016]'.",
            description="hosts as a node set",
            kind=Kind.NODES,
            metavar="nodeset",
            label="Hosts",
            example="gpu-[001-016]",
        ),
        Parameter(
            "rails",
            help="Rails that a host must have; all that the plan gives it without this.",
            description="rails that a host must have; all that the plan gives it without this",
            kind=Kind.NUMBER,
            needed=False,
            option=True,
            metavar="N",
            least=1,
            most=1024,
            label="Rails needed",
        ),
        Parameter(
            "strict",
            help="What is not known is not fit.",
            description="what is not known is not fit",
            kind=Kind.FLAG,
            needed=False,
            option=True,
            default=False,
            label="Strict",
        ),
    ),
    _find,
    "Whether a job may start on these hosts: status 200 if they are fit, 409 if one is not, 503 if it is not known.",
    short="Before a job: are these hosts fit?",
    help="Whether a job may start on these hosts, by the last evaluation. Exit code 0: fit, 1: not fit, 2: unknown.",
    good=lambda answer: answer.fit,
    text=_text,
    gate=True,
    form=Form("Are these hosts fit for a job?", "Which hosts have lost a rail, or may have.", "Check hosts"),
)
