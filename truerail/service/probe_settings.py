"""Whether the service probes in the background, how often, and with which account."""

from datetime import timedelta
from pathlib import Path

from pydantic import Field, field_validator

from truerail.service.setting_values import Duration, Part, YesNo

LEAST = timedelta(minutes=1)


class ProbeSettings(Part):
    """Packets between idle hosts, at a low rate: docs/probe.md. Off until it is set."""

    every: Duration = timedelta(minutes=10)
    """How often; at least 1m. A run takes at most a quarter of it, and what is more comes in later runs."""
    user: str = Field(default="truerail-probe", pattern=r"^[A-Za-z0-9._-]+$")
    """The account on the hosts, whose forced command is the probe."""
    key: Path | None = None
    """Its private key; without one that of the inventory."""
    packets_per_second: int = Field(default=20, ge=1, le=100)
    """From each host."""
    ipv6: YesNo = False
    """Whether IPv6 addresses are probed in place of IPv4."""
    assume_idle: YesNo = False
    """Whether hosts are probed that do not show whether they carry a job."""

    @field_validator("every")
    @classmethod
    def _not_too_often(cls, value: timedelta) -> timedelta:
        if value < LEAST:
            raise ValueError("is shorter than 1m: hosts are never probed more often")
        return value
