"""Rail balance: do the rails carry the same, and which host or NIC does not keep up?"""

from typing import Final

from grafana_foundation_sdk.models.dashboard import Panel

from dashboards.grafana import links
from dashboards.grafana.findings import counted, found
from dashboards.grafana.layout import Board, Row
from dashboards.grafana.palette import MISSING, NEUTRAL, RIGHT, UNKNOWN, WRONG, Steps, said
from dashboards.grafana.panels import Column, bars, heat, lines, stat, table
from dashboards.grafana.queries import FABRIC, HOST, POD, RAIL, fresh, instant, over_time, rows
from dashboards.grafana.variables import hosts, pod, rail
from dashboards.grafana.verdicts import NIC, WORDS, column, verdict, verdicts

BALANCE: Final = "RAL00."
"""The rules that compare NICs with those of their host, and with those of their rail."""
IDLE: Final = "idle, or not counted"
COUNTED: Final = ((0, UNKNOWN), (0.5, MISSING), (0.99, RIGHT))
_EVEN: Final[Steps] = ((0, MISSING), (0.85, RIGHT), (1.15, NEUTRAL))
"""Of a whole rail no rule has a verdict: below the limit of the alert TruerailRailUneven it is orange."""
_MEAN: Final = f"rail:truerail_link_transmit:mean{{{RAIL}}}"
_USE: Final = f"rail:truerail_link_transmit:use_ratio{{{RAIL}}}"
_SENT: Final = f"truerail_link_transmit_bytes_per_second{{{HOST}}}"
_NICS: Final = f"truerail_link_state{{{HOST}}}"
_PROBED: Final = f'{FABRIC}, rail=~"$rail"'
_HOSTS: Final = f'host:truerail_link_transmit:min_over_median{{{POD}, host=~"$host"}}'


def board() -> Board:
    """The board."""
    summary = "Each GPU sends over its own rail, and a collective waits for the slowest: rails of a job carry the same."
    rows_ = (
        Row("Do the rails carry the same?", 4, _answer()),
        Row("Rails side by side", 9, (_now(), _time(), _share())),
        Row("Which hosts and NICs do not keep up?", 11, (_low_nics(), _stragglers())),
        Row("What truerail found", 9, (_verdicts(), _findings())),
        Row("How do hosts spread over time?", 8, (_spread(), _received())),
        Row("What do probes show?", 8, (_probed(),)),
    )
    return Board("rails", "Rail balance", summary, (pod(), rail(), hosts()), rows_)


def _answer() -> tuple[Panel, ...]:
    imbalance = "Hosts of which one NIC carries clearly less than its others. Normal is 0. See the tables below."
    straggler = "NICs slower than those of their rail in other hosts. Normal is 0. One of them slows a whole job."
    cut = "Hosts that cannot reach the peers of a rail at all. Normal is 0: keep jobs off them."
    return (
        _worst(),
        _lowest_rail(),
        counted("RAL001", "Uneven hosts", imbalance, colour=MISSING),
        counted("RAL002", "Stragglers", straggler, colour=MISSING),
        counted("RAL003", "Hosts off a rail", cut),
        coverage(),
    )


def _worst() -> Panel:
    return stat(
        "Rail balance",
        "The worst verdict of the rules on a NIC of the chosen hosts: uneven in its host (RAL001), slower than its "
        "rail (RAL002), or cut off from it (RAL003). They weigh load, peers and how long it lasts.",
        instant(fresh(f"max by (fabric) (\n{verdict(BALANCE, _NICS, NIC)}\n)")),
        unit="none",
        mappings=said(WORDS),
        width=4,
        empty=IDLE,
    )


def _lowest_rail() -> Panel:
    return stat(
        "Lowest rail",
        "What the least loaded rail of a pod carries, as a share of the mean of its rails. A "
        "whole rail that is low is a leaf, its uplinks, or work that is meant to be so (storage on one NIC, "
        "pipeline parallelism). Without load there is nothing to compare.",
        instant(fresh(f"min by (fabric) (pod:truerail_link_transmit:rail_min_over_mean{{{POD}}})")),
        unit="percentunit",
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
        "What each rail carries as a share of the median rail of its pod. Orange below 85 %, where the alert "
        "TruerailRailUneven fires; blue from 115 %. Empty: idle, or not counted.",
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
        "What a NIC sends as a share of its host's median NIC, the lowest 50 of the hosts under load, with the verdict "
        "of RAL001. Look at the NIC: PCIe width, speed, errors, pauses (board Host), and at its leaf port.",
        rows(f"bottomk(50, {share})"),
        rows(_also("RAL001", f"bottomk(50, {share})")),
        columns=(*_PLACE, column("Value #B"), Column("Value #A", "of its host", unit="percentunit", width=110)),
        worst="verdict",
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
        "Hosts of other jobs or none are low here and are no stragglers: RAL002, whose verdict is beside it, compares "
        "like with like.",
        rows(f"bottomk(50, {share})"),
        rows(_also("RAL002", f"bottomk(50, {share})")),
        columns=(*_PLACE, column("Value #B"), Column("Value #A", "of its rail", unit="percentunit", width=110)),
        worst="verdict",
        unit="percentunit",
        width=12,
        empty=IDLE,
    )


def _also(codes: str, shown: str) -> str:
    """The verdict on the NICs of a table."""
    return f"{verdict(codes, _NICS, NIC)}\nand on(fabric, host, nic) ({shown})"


def _verdicts() -> Panel:
    return verdicts(
        "Rails over time: verdict",
        "The worst finding on the balance of each rail. The time from which a rail is not green shows which change "
        "made it so.",
        BALANCE,
        f"truerail_rail_state{{{RAIL}}}",
        "rail {{rail}}",
        by="rail",
    )


def _findings() -> Panel:
    return found(
        "Findings on rails",
        "Uneven hosts (RAL001), stragglers (RAL002), hosts off a rail (RAL003), and narrowed PCIe links (NIC005), "
        "which are behind many of them.",
        'rule=~"RAL00.|NIC005"',
        width=16,
    )


def _spread() -> Panel:
    quantiles = (("lowest host", 0), ("lowest 5 %", 0.05), ("median host", 0.5))
    queries = [over_time(f"quantile by (fabric) ({at}, {_HOSTS})", name) for name, at in quantiles]
    return lines(
        "Least over median NIC of hosts",
        "The least loaded NIC of a host as a share of its median NIC: in the lowest host, at the lowest twentieth, "
        "and in the median host. If the median falls, it is the work and not a cable.",
        *queries,
        unit="percentunit",
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


NOT_PROBED: Final = "not probed"


def _probed() -> Panel:
    words = {"reached": RIGHT, "lost": WRONG, "partly": MISSING, "untried": UNKNOWN}
    return lines(
        "NICs by what probes show",
        "NICs of the chosen rails: reached both ways, lost, partly lost, untried. Normal is all reached. What is "
        "untried is unknown: its host is busy or left out. Empty: there is no probe, or its results are too old. "
        "PRB001 to PRB010 say where packets are lost.",
        over_time(f"sum by (state) (truerail_probe_nics{{{_PROBED}}})", "{{state}}"),
        stacked=True,
        colours=words,
        unit="short",
        low=0,
        width=24,
        empty=NOT_PROBED,
    )
