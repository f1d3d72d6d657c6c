"""LLDP frames: the machine and the port as they describe themselves."""

from dataclasses import dataclass
from enum import StrEnum

TTL_SECONDS = 120
"""lldpd's default: a frame every 30 s, valid for four times as long."""


@dataclass(frozen=True, slots=True)
class Speaker:
    """One machine as its LLDP frames describe it. An empty text is a TLV that is not sent."""

    name: str
    chassis: str
    description: str
    address: str
    router: bool
    """Whether it forwards; a host announces itself as a station."""
    chassis_type: str = "mac"
    """`mac` or `local`."""
    more_addresses: tuple[str, ...] = ()
    """Management addresses after the first."""

    @property
    def addresses(self) -> tuple[str, ...]:
        """All management addresses."""
        return (self.address, *self.more_addresses) if self.address else self.more_addresses


@dataclass(frozen=True, slots=True)
class Announced:
    """One port's own LLDP data. `id_type` is in lldpd's terms: `mac`, `ifname`, `local`."""

    id_type: str
    id: str
    description: str


class Tells(StrEnum):
    """How far a frame identifies its sending port, given all other answers."""

    PORT = "port"
    DEVICE = "device"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Frame:
    """One LLDP frame: sender, port, and time to live."""

    speaker: Speaker
    port: Announced
    ttl_seconds: int = TTL_SECONDS
    via: str = "LLDP"
    is_second: bool = False
    """Whether the cable belongs to another speaker on the port."""
    tells: Tells = Tells.PORT


@dataclass(frozen=True, slots=True)
class Heard:
    """One neighbour on one local port. `number` is the local port's number in its machine; 0 is management."""

    local: str
    number: int
    speaker: Speaker
    port: Announced
    age_seconds: int
    ttl_seconds: int = TTL_SECONDS
    via: str = "LLDP"
