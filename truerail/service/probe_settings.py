"""Whether the service probes in the background, how often, and with which account."""

from datetime import timedelta
from pathlib import Path
from typing import Annotated

from pydantic import Field

from truerail.service.setting_values import Duration, Part, YesNo, at_least

_PACE = at_least(timedelta(minutes=1), "is shorter than 1m: hosts are never probed more often")
_PACE_OF_PATHS = at_least(timedelta(hours=1), "is shorter than 1h: switches are never asked for paths more often")


class ProbeSettings(Part):
    """Packets between idle hosts, at a low rate: docs/probe.md. Off until it is set."""

    every: Annotated[Duration, _PACE] = timedelta(minutes=10)
    """How often; at least 1m. A run takes at most a quarter of it, and what is more comes in later runs."""
    user: str = Field(default="truerail-probe", pattern=r"^[A-Za-z0-9._-]+$")
    """The account on the hosts, whose forced command is the probe."""
    key: Path | None = None
    """Its private key; without one that of the inventory."""
    paths_every: Annotated[Duration, _PACE_OF_PATHS] | None = None
    """How often the paths of a rail are swept too, one rail after the other; at least 1h. Off until it is set."""
    answers_per_second: int = Field(default=10, ge=1, le=50)
    """ICMP answers that a path sweep asks of one switch, at most."""
    packets_per_second: int = Field(default=20, ge=1, le=100)
    """From each host."""
    ipv6: YesNo = False
    """Whether IPv6 addresses are probed in place of IPv4."""
    assume_idle: YesNo = False
    """Whether hosts are probed that do not show whether they carry a job."""
