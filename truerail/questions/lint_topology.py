"""`lint-topology FILE`: an existing topology of a scheduler against the cabling that is seen."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from truerail.questions.question import Asked, Form, Given, Kind, Parameter, Question

if TYPE_CHECKING:
    from rich.console import RenderableType

    from truerail.outputs.options import Options


@dataclass(frozen=True, slots=True)
class TopologyFault:
    """One fault of a topology. `kind` is `undefined-switch`, `defined-twice`, `in-two-switches`, `host-absent`,
    `other-switch`, `no-planned-host` or `not-connected`; `subject` a switch or hosts as a node set.
    """

    kind: str
    subject: str
    summary: str


@dataclass(frozen=True, slots=True)
class LintedTopology:
    """`lint-topology`. `switches` and `nodes` are those of the file, `unknown_nodes` its nodes that the plan lacks."""

    switches: int
    nodes: int
    unknown_nodes: str
    faults: tuple[TopologyFault, ...]
    cables: int
    verified: int
    summary: str


def _find(asked: Asked, given: Given) -> LintedTopology:
    from truerail.questions.answers.topology_lint import lint_topology

    return lint_topology(asked.publication, given["text"])


def _text(answer: LintedTopology, options: "Options") -> Iterator["RenderableType"]:
    from rich.text import Text

    from truerail.files.nodesets import fold
    from truerail.outputs.report_words import name, sentence
    from truerail.outputs.text.blocks import hanging

    alike: dict[str, list[str]] = {}
    for fault in answer.faults:
        alike.setdefault(fault.summary, []).append(fault.subject)
    for summary, subjects in alike.items():
        who = subjects[0] if len(subjects) == 1 else f"{len(subjects):,} ({fold(subjects)})"
        yield hanging("!", Text(f"{name(who)}: {sentence(summary)}"))
    if answer.unknown_nodes:
        yield hanging("?", Text(f"not in the plan: {name(answer.unknown_nodes)}"))


QUESTION = Question(
    "lint-topology",
    41,
    LintedTopology,
    (
        Parameter(
            "text",
            help="A topology.conf or topology.yaml.",
            description="the text of a topology.conf or topology.yaml",
            kind=Kind.TEXT,
            metavar="FILE",
            label="topology.conf",
        ),
    ),
    _find,
    "What an existing topology of a scheduler has otherwise than the cabling that is seen.",
    short="Compare a scheduler's topology with what is seen.",
    help="Compare a topology.conf or topology.yaml with the cabling that is seen. Ends with 1 if they differ.",
    good=lambda answer: not answer.faults,
    text=_text,
    operation="the_topology_lint",
    form=Form(
        "Is the scheduler's topology right?",
        "Hosts under another switch than seen, hosts in none, and switches that nothing connects.",
        "Compare",
    ),
)
