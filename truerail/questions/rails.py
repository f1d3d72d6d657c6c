"""`rails [NODESET]`: which rails are out of balance now, by fabric and by host, load and cabling side by side."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from truerail.questions.question import Asked, Form, Given, Kind, Parameter, Question
from truerail.views.pieces import FindingLine, StateCount

if TYPE_CHECKING:
    from rich.console import RenderableType

    from truerail.outputs.options import Options


@dataclass(frozen=True, slots=True)
class RailBalance:
    """One rail over all hosts in question. `load` is the mean share of the line rate on its NICs, 0..1, both directions
    together; `share` the load of its NIC divided by that of the same host's median NIC, the median of all hosts.
    None: not measured.
    """

    rail: int
    name: str
    cables: StateCount
    measured: int
    """Hosts whose NIC on this rail has counters."""
    load: float | None
    share: float | None
    low: str
    """Hosts on which it is out of balance, as a node set."""


@dataclass(frozen=True, slots=True)
class HostRail:
    """One NIC of a host, in the units of `RailBalance`. `state` and `seen` are those of its cable."""

    rail: int
    plane: int | None
    port: str
    state: str
    seen: str | None
    load: float | None
    share: float | None
    low: bool


@dataclass(frozen=True, slots=True)
class HostBalance:
    """A host with a low rail or a wrong or missing cable. `low` are its low rails. `alike`: neighbouring hosts with
    the same load have the same low rails, so the work loads them so.
    """

    host: str
    low: tuple[int, ...]
    alike: bool
    rails: tuple[HostRail, ...]
    findings: tuple[str, ...]
    """Ids."""


@dataclass(frozen=True, slots=True)
class NotMeasured:
    """Hosts whose rails could not be compared, and why; at most 1,000 of `count` are named."""

    count: int
    hosts: str
    why: str


@dataclass(frozen=True, slots=True)
class Balance:
    """`rails [NODESET]`. `hosts` are those out of balance, worst first, at most 1,000 of `hosts_total`; `balanced` is
    the number of compared hosts without a low rail. `uplinks` are findings on the load of switches' uplinks.
    """

    query: str | None
    rails: tuple[RailBalance, ...]
    hosts: tuple[HostBalance, ...]
    hosts_total: int
    balanced: int
    not_measured: tuple[NotMeasured, ...]
    findings: tuple[FindingLine, ...]
    """On the balance of hosts' rails."""
    uplinks: tuple[FindingLine, ...]
    summary: str
    action: str


def _find(asked: Asked, given: Given) -> Balance:
    from truerail.questions.answers.balance import balance

    return balance(asked.publication, given["nodes"])


def _good(answer: Balance) -> bool | None:
    """Bad with a host out of balance or uneven uplinks; unknown if a host is not measured or a cable is unknown."""
    if answer.hosts_total or answer.findings or answer.uplinks:
        return False
    unknown = answer.not_measured or any(rail.cables.unknown for rail in answer.rails)
    return None if unknown or not answer.balanced else True


def _text(answer: Balance, options: "Options") -> Iterator["RenderableType"]:
    from truerail.questions.text.balance import balance_text

    return balance_text(answer, options)


QUESTION = Question(
    "rails",
    8,
    Balance,
    (
        Parameter(
            "nodes",
            help="Limit to these hosts: 'gpu-[001-064]'. [default: all]",
            description="hosts as a node set",
            kind=Kind.NODES,
            needed=False,
            metavar="nodeset",
            label="Hosts, or all",
            example="gpu-[001-064]",
        ),
    ),
    _find,
    "Which rails are out of balance, by fabric and by host: load and cabling side by side, and what is not measured.",
    short="On call: which rails are out of balance now.",
    help="Which rails are out of balance now, by fabric and by host: load and cabling, and what is not measured.",
    good=_good,
    text=_text,
    form=Form(
        "Which rails are out of balance?",
        "Load and cabling of each rail side by side, the hosts out of balance, and what is not measured.",
        "Compare rails",
    ),
)
