"""Rail balance: do the rails carry the same, and which host or NIC does not keep up?"""

from typing import Final

from grafana_foundation_sdk.models.dashboard import Panel

from dashboards.grafana import links
from dashboards.grafana.findings import counted, found
from dashboards.grafana.layout import Board, Row
from dashboards.grafana.palette import MISSING, NEUTRAL, RIGHT, UNKNOWN, WRONG, Steps, falling
from dashboards.grafana.panels import Column, bars, heat, lines, stat, table
from dashboards.grafana.queries import HOST, POD, RAIL, fresh, instant, over_time, rows
from dashboards.grafana.variables import hosts, pod, rail

LOW: Final = falling(0.85, 0.6)
"""Share of the others below which RAL001 warns, and below which it is critical."""
IDLE: Final = "idle, or not counted"
COUNTED: Final = ((0, UNKNOWN), (0.5, MISSING), (0.99, RIGHT))
_EVEN: Final[Steps] = (*LOW, (1.15, NEUTRAL))
_MEAN: Final = f"rail:truerail_link_transmit:mean{{{RAIL}}}"
_USE: Final = f"rail:truerail_link_transmit:use_ratio{{{RAIL}}}"
_SENT: Final = f"truerail_link_transmit_bytes_per_second{{{HOST}}}"
_HOSTS: Final = f'host:truerail_link_transmit:min_over_median{{{POD}, host=~"$host"}}'


def board() -> Board:
    """The board."""
    summary = "Each GPU sends over its own rail, and a collective waits for the slowest: rails of a job carry the same."
    rows_ = (
        Row("Do the rails carry the same?", 4, _answer()),
        Row("Rails side by side", 9, (_now(), _time(), _share())),
        Row("Which hosts and NICs do not keep up?", 11, (_low_nics(), _stragglers())),
        Row("What truerail found", 9, (_findings(),)),
        Row("How do hosts spread over time?", 8, (_spread(), _received())),
    )
    return Board("rails", "Rail balance", summary, (pod(), rail(), hosts()), rows_)


def _answer() -> tuple[Panel, ...]:
    imbalance = "Hosts of which one NIC carries clearly less than its others. Normal is 0. See the tables below."
    straggler = "NICs slower than those of their rail in other hosts. Normal is 0. One of them slows a whole job."
    cut = "Hosts that cannot reach the peers of a rail at all. Normal is 0: keep jobs off them."
    return (
        _lowest_rail(),
        _lowest_host(),
        counted("RAL001", "Uneven hosts", imbalance, colour=MISSING),
        counted("RAL002", "Stragglers", straggler, colour=MISSING),
        counted("RAL003", "Hosts off a rail", cut),
        coverage(),
    )


def _lowest_rail() -> Panel:
    return stat(
        "Lowest rail",
        "What the least loaded rail of a pod carries, as a share of the mean of its rails. Normal is above 85 %. A "
        "whole rail that is low is a leaf, its uplinks, or work that is meant to be so (storage on one NIC, "
        "pipeline parallelism). Without load there is nothing to compare.",
        instant(fresh(f"min by (fabric) (pod:truerail_link_transmit:rail_min_over_mean{{{POD}}})")),
        unit="percentunit",
        steps=LOW,
        width=4,
        empty=IDLE,
    )


def _lowest_host() -> Panel:
    return stat(
        "Lowest NIC in a host",
        "The least loaded NIC of a host as a share of its median NIC, in the host where that is worst. Normal is "
        "above 85 %; RAL001 evaluates over several minutes and leaves out what the work explains, this figure does "
        "not.",
        instant(fresh(f"min by (fabric) ({_HOSTS})")),
        unit="percentunit",
        steps=LOW,
        width=4,
        empty=IDLE,
    )


def coverage() -> Panel:
    """How many cables have traffic counters; also the board of congestion asks."""
    return stat(
        "Cables counted",
        "Share of the hosts' cables of which either end counts its traffic. What is not counted is not evaluated: the "
        "figures beside this one speak of the rest only. Normal is 100 %.",
        instant(
            fresh(f"sum by (fabric) (truerail_links_counted{{{RAIL}}}) / sum by (fabric) (truerail_links{{{RAIL}}})")
        ),
        unit="percentunit",
        steps=COUNTED,
        width=4,
        empty="not counted",
    )


def _now() -> Panel:
    return bars(
        "Load of each rail, now",
        "Mean load of the rail's NICs as a share of what their links carry. Normal: all bars alike. One short bar "
        "is a rail that waits or is waited for.",
        instant(f"avg by (rail) ({_USE})", "rail {{rail}}"),
        unit="percentunit",
        low=0,
        high=1,
        width=6,
        empty=IDLE,
    )


def _time() -> Panel:
    return lines(
        "Sent per NIC, by rail",
        "Mean of what the rail's NICs send. Normal: the lines lie on each other. A line that leaves the others "
        "shows when it began.",
        over_time(f"8 * avg by (rail) ({_MEAN})", "rail {{rail}}"),
        unit="bps",
        low=0,
        width=9,
        empty=IDLE,
    )


def _share() -> Panel:
    return heat(
        "Rails against the median rail",
        "What each rail carries as a share of the median rail of its pod. Green from 85 %, orange and red below, blue "
        "from 115 %. Empty: idle, or not counted. The alert TruerailRailUneven fires below 85 %.",
        over_time(f"avg by (rail) (rail:truerail_link_transmit:over_median{{{RAIL}}})", "rail {{rail}}"),
        unit="percentunit",
        steps=_EVEN,
        width=9,
        empty=IDLE,
    )


_PLACE: Final = (
    Column("host", links=links.HOST),
    Column("nic"),
    Column("rail", width=70),
    Column("plane", width=70),
    Column("pod", width=90),
)


def _low_nics() -> Panel:
    median = f"quantile by (fabric, host, plane) (0.5, truerail_link_transmit_bytes_per_second{{{POD}}})"
    share = f"{_SENT}\n/ on(fabric, host, plane) group_left() {median}\nand on(fabric, host, plane) {_HOSTS}"
    return table(
        "NICs below their own host",
        "What a NIC sends as a share of its host's median NIC, the lowest 50 of the hosts under load. Under 85 % "
        "look at the NIC: PCIe width, speed, errors, pauses (board Host), and at its leaf port.",
        rows(f"sort(bottomk(50, {share}))"),
        columns=(*_PLACE, Column("Value", "of its host", unit="percentunit", steps=LOW, width=110)),
        unit="percentunit",
        width=12,
        empty=IDLE,
    )


def _stragglers() -> Panel:
    busy = f"{_USE} >= 0.1"
    share = f"{_SENT}\n/ on(fabric, pod, rail) group_left() ({_MEAN} and on(fabric, pod, rail) ({busy}))"
    return table(
        "NICs below their rail",
        "What a NIC sends as a share of the mean of its rail in its pod, the lowest 50 of the rails under load. "
        "Hosts of other jobs or none are low here and are no stragglers: RAL002 compares like with like.",
        rows(f"sort(bottomk(50, {share}))"),
        columns=(*_PLACE, Column("Value", "of its rail", unit="percentunit", steps=((0, NEUTRAL),), width=110)),
        unit="percentunit",
        width=12,
        empty=IDLE,
    )


def _findings() -> Panel:
    return found(
        "Findings on rails",
        "Uneven hosts (RAL001), stragglers (RAL002), hosts off a rail (RAL003), and narrowed PCIe links (NIC005), "
        "which are behind many of them.",
        'rule=~"RAL00.|NIC005"',
    )


def _spread() -> Panel:
    quantiles = (("lowest host", 0, WRONG), ("lowest 5 %", 0.05, MISSING), ("median host", 0.5, RIGHT))
    queries = [over_time(f"quantile by (fabric) ({at}, {_HOSTS})", name) for name, at, _ in quantiles]
    return lines(
        "Least over median NIC of hosts",
        "The least loaded NIC of a host as a share of its median NIC: in the lowest host, at the lowest twentieth, "
        "and in the median host. Normal is above 85 % for all; if the median falls, it is the work and not a cable.",
        *queries,
        unit="percentunit",
        steps=LOW,
        colours={name: colour for name, _, colour in quantiles},
        low=0,
        width=12,
        empty=IDLE,
    )


def _received() -> Panel:
    return lines(
        "Received per NIC, by rail",
        "Mean of what the rail's NICs receive. Normal: as what they send. Less received than sent is loss or a "
        "counter that is not read.",
        over_time(f"8 * avg by (rail) (rail:truerail_link_receive:mean{{{RAIL}}})", "rail {{rail}}"),
        unit="bps",
        low=0,
        width=12,
        empty=IDLE,
    )
