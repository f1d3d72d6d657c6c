"""Events of a changing fabric in words: one line for each fault and each repair."""

from dataclasses import dataclass
from datetime import datetime

from truerail.model import CauseKind
from truerail.outputs.report_words import count
from truerail.simulator.fabric.world import World
from truerail.simulator.live.living_traffic import Trouble
from truerail.simulator.live.standing_faults import Standing
from truerail.simulator.traffic import FlowFaultKind


@dataclass(frozen=True, slots=True)
class Entry:
    """One event. `at` is in seconds of the world's clock, `when` the time of day, `repaired` whether a fault was
    repaired.
    """

    at: float
    when: datetime
    repaired: bool
    standing: Standing | Trouble
    summary: str


def appeared(world: World, standing: Standing) -> str:
    """A new fault, described for viewers."""
    cause = standing.cause
    subjects = " and ".join(cause.subjects)
    match cause.kind:
        case CauseKind.CABLE_SWAP:
            return f"two cables were swapped: {subjects}"
        case CauseKind.CABLE_ROTATION:
            return f"{count(len(cause.cables), 'cable')} were rotated: {', '.join(cause.subjects)}"
        case CauseKind.CABLE_MOVE:
            return f"{subjects} was plugged into a wrong free port, {world.far[cause.cables[0]]}"
        case CauseKind.PORT_SHIFT:
            return f"{count(len(cause.cables), 'cable')} on {subjects} slipped to other ports"
        case CauseKind.HOST_SWAP if cause.moves:
            return f"all cables of {subjects} were swapped"
        case CauseKind.HOST_SWAP | CauseKind.LEAF_SWAP:
            return f"{subjects} have each other's names"
        case CauseKind.BUNDLE_SWAP:
            return f"the host cables of {subjects} were crossed in the patch panel"
        case CauseKind.GPU_NIC_ORDER:
            return f"{_hosts(cause.subjects)} came back from a reboot with NICs or GPUs in another order"
        case CauseKind.LINK_DOWN:
            return f"{subjects} lost its link"
        case CauseKind.DEGRADED_LINK:
            return f"the link of {subjects} came up again at half its speed"
    return f"{subjects} {'lost its power' if cause.subjects[0] in world.off else 'hangs, its links stay up'}"


def repaired(standing: Standing) -> str:
    """The repaired fault."""
    return f"the technician repaired {standing.kind} of {_hosts(standing.cause.subjects)}"


def broke_out(trouble: Trouble) -> str:
    """A new fault of the traffic."""
    subjects = " and ".join(trouble.cause.subjects)
    match trouble.kind, trouble.placed.variant:
        case FlowFaultKind.STORM, _:
            return f"a PFC storm broke out: {subjects} pauses its leaf continuously, and all its senders wait"
        case FlowFaultKind.SLOW_RECEIVER, "pcie":
            return f"{subjects} takes in half of what its link brings: its PCIe stalls"
        case FlowFaultKind.SLOW_RECEIVER, _:
            return f"{subjects} takes in half of what its link brings: its application posts too few buffers"
        case FlowFaultKind.HALF_SPEED, _:
            return f"the link of {subjects} came up again at half its speed"
    return f"{trouble.kind} at {subjects}" if subjects else f"{trouble.kind} on the whole fabric"


def ended(trouble: Trouble) -> str:
    """The operator's repair."""
    return f"the operator ended {trouble.kind}{_of(trouble.cause.subjects)}"


def _of(subjects: tuple[str, ...]) -> str:
    return f" of {_hosts(subjects)}" if subjects else ""


def _hosts(subjects: tuple[str, ...]) -> str:
    return ", ".join(subjects[:3]) + (f" and {len(subjects) - 3} more" if len(subjects) > 3 else "")
