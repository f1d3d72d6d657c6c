"""What links and uplinks carry: recorded by rail, host and switch, and the alerts that only all of them together give.

A board over hours cannot look at one series for each link, so what it shows is recorded here: means, worst cases, and
the few worst links of each pod. A group that carries next to nothing has no ratio: noise is not imbalance. All
links are looked at as rarely as can be: what is said of a pod is made from its rails.
"""

from typing import Final

from dashboards.rules.declared import Alert, Group, Record, Series, Severity, Story, labels
from dashboards.rules.records import CAUSES

W = Severity.WARNING
BUSY: Final = 0.1
"""Share of the line rate from which a load is evaluated: that of RAL001 (detection.md 3)."""
IN_USE: Final = 0.02
"""Share of the line rate from which a load is shown as one."""
LOW: Final = 0.85
"""Share of what others carry below which a rail is low: that of RAL001."""
WORST: Final = 5
NOTICEABLE: Final = 0.001
KEEP = 5

_SENT = "truerail_link_transmit_bytes_per_second"
_RECEIVED = "truerail_link_receive_bytes_per_second"
_SPEED = "truerail_link_speed_bytes_per_second"
_UP, _UP_SPEED = "truerail_uplink_transmit_bytes_per_second", "truerail_uplink_speed_bytes_per_second"
_RAIL_RECEIVED = "rail:truerail_link_receive:mean"
_RAIL, _POD = "rail:truerail_link_transmit:mean", "pod:truerail_link_transmit:mean"
_RAIL_SPEED = "rail:truerail_link_speed:mean"
_RAIL_USE = "rail:truerail_link_transmit:use_ratio"
_RAIL_SHARE = "rail:truerail_link_transmit:over_median"
COUNTED: Final = "fabric:truerail_links_counted:ratio"
_CONGESTION = ("pause_received", "pause_sent", "ecn_marked")
_HOST = "fabric, pod, host, plane"
_SWITCH = "fabric, pod, switch"


def _mean(name: str, of: str, by: str) -> Record:
    return Record(name, f"avg by ({by}) ({of})")


def _largest(level: str, cable: str, figure: str, by: str) -> Record:
    return Record(f"{level}:truerail_{cable}_{figure}:max", f"max by ({by}) (truerail_{cable}_{figure}_ratio)")


def _worst(figure: str) -> Record:
    noticed = f"truerail_link_{figure}_ratio > {NOTICEABLE}"
    return Record(f"link:truerail_link_{figure}:top", f"topk by (fabric, pod) ({WORST}, {noticed})")


RECORDS: Final = (
    _mean(_RAIL, _SENT, "fabric, pod, rail"),
    _mean(_RAIL_RECEIVED, _RECEIVED, "fabric, pod, rail"),
    _mean(_RAIL_SPEED, _SPEED, "fabric, pod, rail"),
    _mean(_POD, _RAIL, "fabric, pod"),
    _mean("pod:truerail_link_receive:mean", _RAIL_RECEIVED, "fabric, pod"),
    Record(_RAIL_USE, f"{_RAIL}\n/ on(fabric, pod, rail)\n{_RAIL_SPEED}"),
    Record(
        "pod:truerail_link_transmit:rail_min_over_mean",
        f"min by (fabric, pod) ({_RAIL})\n/ on(fabric, pod)\n"
        f"({_POD} and on(fabric, pod) avg by (fabric, pod) ({_RAIL_USE}) >= {IN_USE})",
    ),
    Record(
        _RAIL_SHARE,
        f"{_RAIL}\n/ on(fabric, pod) group_left()\n"
        f"(quantile by (fabric, pod) (0.5, {_RAIL})"
        f" and on(fabric, pod) quantile by (fabric, pod) (0.5, {_RAIL_USE}) >= {BUSY})",
    ),
    Record(
        "host:truerail_link_transmit:min_over_median",
        f"min by ({_HOST}) ({_SENT})\n/ on({_HOST})\n"
        f"(quantile by ({_HOST}) (0.5, {_SENT})"
        f" >= on(fabric, pod) group_left() {BUSY} * avg by (fabric, pod) ({_RAIL_SPEED}))",
    ),
    Record(
        "switch:truerail_uplink_transmit:peak_ratio",
        f"max by ({_SWITCH}) ({_UP})\n/ on({_SWITCH})\n"
        f"(avg by ({_SWITCH}) ({_UP}) >= on({_SWITCH}) {IN_USE} * avg by ({_SWITCH}) ({_UP_SPEED}))",
    ),
    *(_largest("rail", "link", figure, "fabric, pod, rail") for figure in _CONGESTION),
    *(_largest("switch", "uplink", figure, _SWITCH) for figure in _CONGESTION),
    *(_worst(figure) for figure in _CONGESTION),
    Record(COUNTED, "sum by (fabric) (truerail_links_counted)\n/ on(fabric)\nsum by (fabric) (truerail_links)"),
)  # fmt: skip


def _loads(fabric: str, low: float, *, busy: float = 2e10) -> tuple[Series, ...]:
    """Two hosts of four rails; the NICs of rail 2 send less from the fault on."""
    reported = []
    for rail in range(4):
        for host in ("gpu-001", "gpu-002"):
            link = {"fabric": fabric, "pod": "p1", "host": host, "rail": str(rail), "nic": f"nic{rail}"}
            reported.append(Series(_SENT, labels(**link), busy, busy * low if rail == 2 else busy))
            reported.append(Series(_SPEED, labels(**link), 5e10, 5e10))
    return tuple(reported)


def _counted(fabric: str, good: int, bad: int | None) -> tuple[Series, ...]:
    return (
        Series("truerail_links_counted", labels(fabric=fabric, pod="p1", rail="0"), good, bad),
        Series("truerail_links", labels(fabric=fabric, pod="p1", rail="0", state="right"), 10, 10),
    )


_UNEVEN = Alert(
    "TruerailRailUneven", W, f"{_RAIL_SHARE} < {LOW}\nunless on(fabric, pod) {CAUSES}", 15,
    "Rail {{ $labels.rail }} of {{ $labels.pod }} carries {{ $value | humanizePercentage }} of what its other rails do",
    "The NICs of rail {{ $labels.rail }} in {{ $labels.pod }} of {{ $labels.fabric }} send {{ $value | "
    "humanizePercentage }} of what those of the median rail send, on average over all hosts. One NIC does not do that: "
    "it is the rail's leaf, its uplinks, or a job that uses fewer rails. Next: `truerail where` of the rail's leaf, "
    "LBL002 and PFC001 there; then which jobs run in this pod.",
    "TruerailRailUneven",
    Story(_loads("uneven", 0.5), labels(fabric="uneven", pod="p1", rail="2"), 0.5,
          quiet=(*_loads("even", 0.9), *_loads("idle", 0.1, busy=1e9)), resolves=8),
    keep=KEEP,
)  # fmt: skip
_FALLING = Alert(
    "TruerailCountersFalling", W, f"max_over_time({COUNTED}[1d:10m]) - {COUNTED} > 0.05", 15,
    "{{ $value | humanizePercentage }} of the cables in {{ $labels.fabric }} are no longer counted",
    "Within a day, {{ $value | humanizePercentage }} of the cables in {{ $labels.fabric }} lost their traffic "
    "counters: storms, imbalance and errors there would not be detected. That is not the same as quiet. Next: see "
    "which devices fail (TEL001, TEL002), and ask one of them by hand with truerail's user.",
    "TruerailCountersFalling",
    Story(_counted("uncounted", 9, 4), labels(fabric="uncounted"), 0.5,
          quiet=(*_counted("begins", 2, 8), *_counted("never", 0, 0)), resolves=8),
    keep=KEEP,
)  # fmt: skip

TRAFFIC_GROUP = Group("truerail.traffic", RECORDS, (_UNEVEN, _FALLING), minutes=1)
"""Once a minute: what it looks at are means over one."""
