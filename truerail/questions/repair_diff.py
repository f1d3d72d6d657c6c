"""`repair-diff`: names to change where no cable has to move, as text to review."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from truerail.questions.question import Asked, Form, Given, Kind, Parameter, Question

if TYPE_CHECKING:
    from rich.console import RenderableType

    from truerail.outputs.options import Options


@dataclass(frozen=True, slots=True)
class DeviceRename:
    """One device: `device` is the name that it announces now, `place` where the plan has the new name. `commands` are
    by platform: several where the plan does not name one.
    """

    device: str
    new_name: str
    place: str
    commands: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class HostLinks:
    """The names of one host's network interfaces, by the present ones, and the patch of its systemd `.link` files that
    gives them these names; `no_diff` says why there is none.
    """

    host: str
    names: Mapping[str, str]
    diff: str
    no_diff: str


@dataclass(frozen=True, slots=True)
class InventoryChange:
    """A device or a port (`device/port`) in NetBox or Nautobot, and its new name."""

    name: str
    new_name: str


@dataclass(frozen=True, slots=True)
class TextRepair:
    """The repair of one cause, or of one finding that has none: `cause` is its key or the finding's id, `kind` the kind
    or the rule. `devices` and `links` give devices their planned names; `inventory`, `bulk_updates`, `plan_diff` and
    `topology_diff` change the names there instead. `refused` says why there is no diff.
    """

    cause: str
    id: str
    kind: str
    summary: str
    confirm_first: str
    devices: tuple[DeviceRename, ...]
    links: tuple[HostLinks, ...]
    inventory: tuple[InventoryChange, ...]
    bulk_updates: tuple[str, ...]
    """Bodies of requests to NetBox or Nautobot, with the ids of the given export."""
    plan_diff: str
    """A unified diff of the plan in its CSV form."""
    topology_diff: str
    """A unified diff of the given topology.conf."""
    refused: str


@dataclass(frozen=True, slots=True)
class RepairDiff:
    """`repair-diff`: the names to change, as text to review."""

    query: str
    repairs: tuple[TextRepair, ...]
    summary: str


def _find(asked: Asked, given: Given) -> RepairDiff:
    from truerail.questions.answers.repair_diff import repair_diff

    return repair_diff(asked.publication, given["cause"] or "", given["topology"] or "", given["ids"] or "")


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
            help="A cause (C1, 6f4dbffbab52) or the id of a finding. Without it: all that text repairs.",
            description="key or id of a cause, or id of a finding; all, where empty",
            needed=False,
            label="Cause or finding",
            example="C1",
        ),
        Parameter(
            "topology",
            help="Slurm's topology.conf: its names change as those of the plan do.",
            description="the text of Slurm's topology.conf",
            kind=Kind.TEXT,
            needed=False,
            option=True,
            metavar="FILE",
            label="Slurm's topology.conf",
        ),
        Parameter(
            "ids",
            help="Devices, or interfaces, as NetBox or Nautobot export them (CSV or JSON): for bulk updates with ids.",
            description="an export of devices or interfaces by NetBox or Nautobot: CSV or JSON with id, name, device",
            kind=Kind.TEXT,
            needed=False,
            option=True,
            metavar="FILE",
            label="Export of NetBox or Nautobot",
        ),
    ),
    _find,
    "The names to change where no cable has to move: commands for each device, changes of NetBox or Nautobot, of the "
    "plan and of Slurm's topology, as text to review.",
    short="On call: names to change, as text to review.",
    help="Names to change where no cable has to move: commands for each device by its platform; or, if the names in "
    "the plan are wrong, changes of NetBox or Nautobot, the plan, Slurm's topology. Nothing is applied.",
    good=lambda answer: not answer.repairs,
    text=_text,
    operation="the_repair_diff",
    form=Form(
        "Which names are wrong?",
        "The commands that give devices their names, and the changes of inventory and plan, to review.",
        "Show changes",
    ),
)
