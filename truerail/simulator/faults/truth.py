"""The true faults of a simulated fabric: the reference for an evaluation."""

from dataclasses import asdict, dataclass, field
from typing import Any

from truerail.model import CauseKind, Port


@dataclass(frozen=True, slots=True)
class Explanation:
    """Another explanation that fits the same answers, and its moves. `cables` are those of the cause that it covers, if
    not all; `subjects` are empty if they are those of the cause, or its cables.
    """

    kind: CauseKind
    moves: int
    cables: tuple[Port, ...] = ()
    subjects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TrueCause:
    """One fault. `cables` are the planned host ends (leaf ends of uplinks) that look wrong because of it.

    `moves` is the smallest number of cables to move. `alternatives` are explanations that no device's answer rules out;
    with any, the evidence cannot decide, and the cheapest explanation is as good a verdict as the true one.
    """

    kind: CauseKind
    subjects: tuple[str, ...]
    cables: tuple[Port, ...]
    moves: int = 0
    alternatives: tuple[Explanation, ...] = ()

    @property
    def decidable(self) -> bool:
        """Whether the answers rule out every other explanation."""
        return not self.alternatives


@dataclass(frozen=True, slots=True)
class Truth:
    """The faults (`causes`), hosts unread because of noise (`noise`), and the planned cables that are not right.

    Cables are named by their planned end nearer to the GPUs. `wrong` is by the names that devices announce; `moved` are
    those that must be moved: fewer if only a name is wrong. `astray` are unknown ones that are on another device than
    planned, by the names that devices and NICs announce: their port alone is in no answer.
    """

    causes: tuple[TrueCause, ...]
    noise: tuple[TrueCause, ...] = ()
    wrong: frozenset[Port] = frozenset()
    missing: frozenset[Port] = frozenset()
    unknown: frozenset[Port] = frozenset()
    moved: frozenset[Port] = frozenset()
    astray: frozenset[Port] = frozenset()
    wiring: dict[Port, Port] = field(default_factory=dict)
    hostnames: dict[str, str] = field(default_factory=dict)

    @property
    def decidable(self) -> bool:
        """Whether the evidence decides every cause."""
        return all(cause.decidable for cause in self.causes)

    def as_dict(self) -> dict[str, Any]:
        """For `truth.json`: `cables` as actually plugged, by the planned names of the machines at both ends."""
        return {
            "cables": [[f"{a.device}:{a.name}", f"{b.device}:{b.name}"] for a, b in self.wiring.items()],
            "unplugged": sorted(f"{port.device}:{port.name}" for port in self.missing),
            "hostnames": dict(self.hostnames),
            "wrong": sorted(map(str, self.wrong)),
            "unknown": sorted(map(str, self.unknown)),
            "causes": [_cause(cause) for cause in self.causes],
            "noise": [_cause(cause) for cause in self.noise],
        }


def _cause(cause: TrueCause) -> dict[str, Any]:
    others = [{**asdict(other), "cables": [str(port) for port in other.cables]} for other in cause.alternatives]
    return {**asdict(cause), "cables": [str(port) for port in cause.cables], "alternatives": others}
