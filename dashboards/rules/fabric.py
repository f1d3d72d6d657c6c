"""Alerts on the fabric as a whole: how much of it is read, and how much of it is known."""

from dashboards.rules.declared import Alert, Group, Series, Severity, Story, labels
from dashboards.rules.records import MANY, VERIFIED

W = Severity.WARNING
KEEP = 5


def _share(fabric: str, counted: str, good: int, bad: int) -> tuple[Series, ...]:
    """8 of 10 leaves or links before and after, and what is left of them meanwhile."""
    if counted == "devices":
        role = {"fabric": fabric, "role": "leaf"}
        return (
            Series("truerail_devices", labels(**role), 10, 10),
            Series("truerail_devices_read", labels(**role), good, bad),
        )
    return (
        Series("truerail_links_verified", labels(fabric=fabric, verified="both ends"), good, bad),
        Series("truerail_links_verified", labels(fabric=fabric, verified="none"), 10 - good, 10 - bad),
    )


FABRIC_ALERTS = Group(
    "truerail.fabric",
    alerts=(
        Alert(
            "TruerailManyDevicesUnreachable", W, MANY, 10,
            "{{ $value | humanizePercentage }} of the devices with role {{ $labels.role }} do not answer",
            "In {{ $labels.fabric }}, {{ $value | humanizePercentage }} of the devices with role {{ $labels.role }} "
            "give no readable answer; what only they could say is unknown. So many fail together: look at the "
            "management network, truerail's key and its user first. Next: `truerail rules explain TEL001`.",
            "TEL001",
            Story(_share("unread", "devices", 10, 5), labels(fabric="unread", role="leaf"), 0.5,
                  quiet=_share("unread-few", "devices", 10, 9), resolves=8),
            keep=KEEP,
        ),
        Alert(
            "TruerailCoverageFalling", W,
            f"max_over_time({VERIFIED}[1d:10m]) - {VERIFIED} > 0.05\nunless on(fabric) {MANY}", 15,
            "{{ $value | humanizePercentage }} of the cables in {{ $labels.fabric }} are no longer verified",
            "Within a day, {{ $value | humanizePercentage }} of the cables in {{ $labels.fabric }} went from "
            "verified to unknown: no device reports any more where they are plugged. That is not the same as right. "
            "Next: see which devices fell silent (`truerail where` of one of them, TEL001, TEL003), and put LLDP "
            "back.",
            "TruerailCoverageFalling",
            Story(_share("coverage", "links", 8, 4), labels(fabric="coverage"), 0.4,
                  quiet=_share("day-1", "links", 2, 8), resolves=8),
            keep=KEEP,
        ),
    ),
)  # fmt: skip
