"""The simulated forwarding plane: hashes of its own, links that lose, routers that answer or do not.

A hash is a function of source, destination and source port with a seed for each switch; members are chosen by the
remainder, or by the part of the range as the Linux kernel does. The analysis never sees any of it.
"""

from dataclasses import dataclass, field
from random import Random

from benchmarks.probe.drawn import (
    CUT,
    GREY,
    IDLE,
    LIMITED,
    POLARIZED,
    POLARIZED_POD,
    REPORTED_CUT,
    REWRITTEN,
    SILENT,
    Trial,
)
from benchmarks.probe.fabrics import EGRESS, UNNUMBERED, Fabric, Hop, fabric
from truerail.model import Port

_MASK = (1 << 64) - 1
CLEAN_LOSS = 2e-7
"""Loss of every link without a fault."""
LIMITED_SHARE = (0.15, 0.5)
"""Share of probes that a switch with Linux' limits answers when it is asked at full speed."""


def mixed(*words: int) -> int:
    """A 64-bit hash of some numbers (splitmix64, chained)."""
    value = 0x9E3779B97F4A7C15
    for word in words:
        value = (value ^ word) * 0xBF58476D1CE4E5B9 & _MASK
        value ^= value >> 27
        value = value * 0x94D049BB133111EB & _MASK
        value ^= value >> 31
    return value


@dataclass
class Network:
    """A fabric with the faults of a trial."""

    trial: Trial
    fabric: Fabric = field(init=False)
    loss: dict[tuple[int, str], float] = field(default_factory=dict)
    """By cable and sending device."""
    cut: dict[tuple[int, str], bool] = field(default_factory=dict)
    """Links that large packets do not pass; whether the sending router reports it."""
    rewrites: set[str] = field(default_factory=set)
    withdrawn: set[tuple[int, str]] = field(default_factory=set)
    seed: dict[str, int] = field(default_factory=dict)
    _paths: dict[tuple[str, str, str, int], tuple[Hop, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.fabric = fabric(self.trial.shape)
        rng = Random(f"network {self.trial.seed}")  # noqa: S311 - reproducible is what is wanted, not secret
        common = rng.getrandbits(32)
        shared = {fault.device if fault.kind == POLARIZED_POD else "" for fault in self.trial.faults if _repeats(fault)}
        for name in self.fabric.out:
            own = rng.getrandbits(32)
            pod = name.split("-")[1] if name[0] != "c" else None
            repeated = "" in shared or pod in shared
            self.seed[name] = common if repeated else own
        self.answer_share = {
            name: rng.uniform(*LIMITED_SHARE) if self.trial.answers == LIMITED else 1.0 for name in self.fabric.out
        }
        for fault in self.trial.faults:
            if fault.kind == REWRITTEN:
                self.rewrites.add(fault.device)
            if fault.link is None:
                continue
            key = fault.link[:2]
            if fault.kind in (SILENT, GREY):
                self.loss[key] = fault.rate
            elif fault.kind in (CUT, REPORTED_CUT):
                self.cut[key] = fault.kind == REPORTED_CUT
            elif fault.kind == IDLE:
                self.withdrawn.add(key)

    def lost(self, hop: Hop) -> float:
        """The loss rate of a directed link."""
        return self.loss.get(hop[:2], CLEAN_LOSS)

    def next_hop(self, at: str, leaf: str, key: tuple[int, int, int]) -> Hop | None:
        """The link that a packet leaves a switch by; None where no way is left."""
        hops = [hop for hop in self.fabric.routes(leaf)[at] if hop[:2] not in self.withdrawn]
        if not hops:
            return None
        value = mixed(self.seed[at], *key)
        number = value % len(hops) if self.trial.hash == "remainder" else (value >> 24) * len(hops) >> 40
        return hops[number]

    def path(self, start: str, leaf: str, source: str, target: str, source_port: int) -> tuple[Hop, ...]:
        """The links between switches from one to a leaf."""
        found = self._paths.get((start, source, target, source_port))
        if found is None:
            key = (hash_of(source), hash_of(target), source_port)
            hops: list[Hop] = []
            at = start
            while at != leaf and (hop := self.next_hop(at, leaf, key)) is not None:
                hops.append(hop)
                at = hop[2]
            found = self._paths[start, source, target, source_port] = tuple(hops)
        return found

    def answers_from(self, at: str, came: tuple[int, str], back: tuple[Hop, ...], nic: Port) -> str:
        """The address that a switch answers from: `came` is the cable it received the probe on."""
        how = self.fabric.shape.answers
        if how == UNNUMBERED:
            return self.fabric.loopback[at]
        if how == EGRESS:
            return self.fabric.address[back[0][0] if back else self.fabric.nic[nic][0], at]
        return self.fabric.address[came[0], at]


def _repeats(fault: object) -> bool:
    return getattr(fault, "kind", "") in (POLARIZED, POLARIZED_POD)


def hash_of(name: str) -> int:
    """A number for a name, the same in every process."""
    value = 0
    for letter in name.encode():
        value = (value * 131 + letter) & _MASK
    return mixed(value)
