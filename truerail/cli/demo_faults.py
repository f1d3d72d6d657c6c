"""Faults of a demo from the words on the command line."""

from typing import TYPE_CHECKING

from truerail.cli.exit_codes import refusing
from truerail.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from truerail.simulator import Fault
    from truerail.simulator.traffic import FlowFault


def faults(words: "Sequence[str]") -> "list[Fault]":
    """`cable-swap` or `cable-swap:one-leaf`. Raises CommandError for an unknown kind or variant."""
    from truerail.files.problems import nearest
    from truerail.model import CauseKind
    from truerail.simulator import KINDS, Fault

    made = []
    for word in words:
        kind, _, variant = word.partition(":")
        if kind not in KINDS:
            known = [*(known.value for known in KINDS), *_troubles()]
            raise CommandError(f"unknown fault {kind!r}{nearest(kind, known)}")
        with refusing(ValueError):
            made.append(Fault(CauseKind(kind), variant))
    return made


def troubles(words: "Sequence[str]") -> "tuple[list[str], list[FlowFault]]":
    """Splits words into faults of the cabling, and faults of the traffic: `storm` or `slow-receiver:pcie`."""
    from truerail.simulator.traffic import FlowFault, FlowFaultKind

    known = _troubles()
    traffic = [word for word in words if word.partition(":")[0] in known]
    made = [FlowFault(FlowFaultKind(word.partition(":")[0]), variant=word.partition(":")[2]) for word in traffic]
    return [word for word in words if word not in traffic], made


def _troubles() -> list[str]:
    """The faults of the traffic."""
    from truerail.simulator.traffic.flow_faults import KINDS

    return [kind.value for kind in KINDS]
