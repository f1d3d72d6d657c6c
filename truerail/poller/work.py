"""What is polled and how often: one value for a schedule of this process, for a child and for a poller elsewhere."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

import msgspec

from truerail.model import Device, Target
from truerail.poller.fleet import Poller, matched
from truerail.poller.limits import Limits
from truerail.transport.kept_answers import KeptAnswers
from truerail.transport.protocol import Transport


@dataclass(frozen=True, slots=True)
class Work:
    """Targets, the plan's devices by name, seconds between rounds by collector, and limits."""

    targets: tuple[Target, ...]
    devices: dict[str, Device]
    every_seconds: dict[str, float]
    patience_seconds: float = 5.0
    jitter_seconds: float = 2.0
    limits: Limits = field(default_factory=Limits)

    def poller(self, transport: Transport, differs: Callable[[str, str], None]) -> Poller:
        """A poller of these devices. `differs` is called with device and collector if a full parse finds other facts in
        an answer that counted as unchanged.
        """
        kept = KeptAnswers(differs)  # empty: plan, inventory or settings changed
        return Poller(self.targets, transport, devices=self.devices, limits=self.limits, kept=kept)

    def named(self) -> Mapping[str, tuple[Target, Device]]:
        """Targets and devices by the name that readings have: the plan's, else the inventory's. In order of polling."""
        return {device.name: (target, device) for target, device, _ in matched(self.targets, self.devices)}

    def part(self, names: Collection[str]) -> "Work":
        """The work on the devices with these names."""
        targets = tuple(target for name, (target, _) in self.named().items() if name in names)
        return replace(self, targets=targets, devices={n: one for n, one in self.devices.items() if n in names})

    def packed(self) -> bytes:
        """For a process of the same service. It has references to secrets, never secrets."""
        return msgspec.msgpack.encode(self)

    @classmethod
    def unpacked(cls, data: bytes) -> "Work":
        """What `packed` gave."""
        return msgspec.msgpack.decode(data, type=cls)
