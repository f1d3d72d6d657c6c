"""`repair-diff`: the names to change where no cable has to move, as text to review."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from truerail.questions.question import Asked, Form, Given, Parameter, Question

if TYPE_CHECKING:
    from rich.console import RenderableType

    from truerail.outputs.options import Options


@dataclass(frozen=True, slots=True)
class Rename:
    """One device: `device` is the name that it announces now, `place` where the plan has the new name. `commands` are
    by platform: several where the plan does not name one.
    """

    device: str
    new_name: str
    place: str
    commands: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class InventoryChange:
    """A device in NetBox or Nautobot, and its new name."""

    device: str
    new_name: str


@dataclass(frozen=True, slots=True)
class NameRepair:
    """The repair of one cause: either `devices` get their names, or `inventory` and `plan_diff` exchange the names
    there. `refused` says why there is none of both.
    """

    cause: str
    id: str
    kind: str
    summary: str
    confirm_first: str
    devices: tuple[Rename, ...]
    inventory: tuple[InventoryChange, ...]
    plan_diff: str
    """A unified diff of the plan in its CSV form."""
    refused: str


@dataclass(frozen=True, slots=True)
class RepairDiff:
    """`repair-diff`: the causes that changed names repair."""

    query: str
    repairs: tuple[NameRepair, ...]
    summary: str


def _find(asked: Asked, given: Given) -> RepairDiff:
    from truerail.questions.answers.name_repairs import repair_diff

    return repair_diff(asked.publication, given["cause"] or "")


def _text(answer: RepairDiff, options: "Options") -> Iterator["RenderableType"]:
    from truerail.questions.text.repair_diff import repair_diff_text

    return repair_diff_text(answer, options)


QUESTION = Question(
    "repair-diff",
    15,
    RepairDiff,
    (
        Parameter(
            "cause",
            help="The key or id of a cause: 6f4dbffbab52, C1. Without it: every cause that changed names repair.",
            description="key or id of a cause; all, where empty",
            needed=False,
            label="Cause",
            example="C1",
        ),
    ),
    _find,
    "The names to change where no cable has to move: commands for each device, changes of NetBox or Nautobot, and of "
    "the plan, as text to review.",
    short="On call: the names to change, as text to review.",
    help="The names to change where no cable has to move: commands for each device by its platform; or, where the "
    "names in the plan are wrong, changes of NetBox or Nautobot and a diff of the plan. Nothing is applied.",
    good=lambda answer: not answer.repairs,
    text=_text,
    operation="the_repair_diff",
    form=Form(
        "Which names are wrong?",
        "The commands that give swapped devices their names, and the changes of inventory and plan, to review.",
        "Show changes",
    ),
)
