"""Congestion: does anything hold traffic up, who causes it, and who is only affected?"""

from typing import Final

from grafana_foundation_sdk.models.dashboard import Panel

from dashboards.grafana import links
from dashboards.grafana.boards.rails import coverage
from dashboards.grafana.findings import counted, found
from dashboards.grafana.layout import Board, Row
from dashboards.grafana.links import Link
from dashboards.grafana.palette import MISSING
from dashboards.grafana.panels import Column, heat, lines, table
from dashboards.grafana.queries import POD, RAIL, over_time, rows
from dashboards.grafana.variables import pod, rail
from dashboards.grafana.verdicts import AMOUNT, NIC, column, verdict, verdicts

PAUSES: Final = "PFC00[1-35]"
"""The rules on pauses: storms, pressure, deadlocks, pauses on other priorities."""
MARKS: Final = "ECN001"
FRAMES: Final = "LNK00."
_RAILS: Final = f"truerail_rail_state{{{RAIL}}}"
_NICS: Final = f"truerail_link_state{{{RAIL}}}"
NOT_REPORTED: Final = "none reported: durations are not counted"
_STORM: Final[Link] = links.to_page("Storms in truerail", "/storm")


def board() -> Board:
    """The board."""
    summary = "Pauses, marks and drops: who holds the lossless traffic up, who is only affected, and how bad it is."
    rows_ = (
        Row("Does anything hold traffic up?", 4, (*_counts(), coverage())),
        Row("Who causes it?", 8, (_culprits(), _victims())),
        Row(
            "Where and when are NICs paused?",
            8,
            (_pause_verdicts(), _paused_rails(), _pausing_rails(), _worst_paused(), _worst_pausing()),
        ),
        Row("Which NICs, now?", 10, (_pauses_now(), _uplinks_now())),
        Row("Is the network marking?", 8, (_mark_verdicts(), _marked(), _marked_now())),
        Row("Is anything lost, or too much for one?", 8, (_lost(), _broken())),
    )
    return Board("congestion", "Congestion", summary, (pod(), rail()), rows_, page="/storm")


def _counts() -> tuple[Panel, ...]:
    return (
        counted(
            "PFC001",
            "PFC storms",
            "Ports that pause their neighbour without end. Normal is 0. Go to the culprit below: drain its host, or "
            "shut its switch port. All others wait for it.",
        ),
        counted(
            "PFC003",
            "Deadlocks",
            "Circles of switches that wait for each other; nothing moves on that priority. Normal is 0. Shut one "
            "port of the circle.",
            width=3,
        ),
        counted(
            "PFC004",
            "Lossless drops",
            "Ports that drop packets of a lossless class. Normal is 0. Compare PFC, buffers and headroom of both ends.",
        ),
        counted(
            "PFC002",
            "Pause pressure",
            "Ports that hold their neighbours up for minutes. Normal is 0 while no job bursts. Look for the "
            "receiver that does not keep up.",
            colour=MISSING,
            width=3,
        ),
        counted(
            "ECN001",
            "ECN",
            "NICs that receive many marked packets, or a loop that does not slow senders. Normal is 0.",
            colour=MISSING,
            width=3,
        ),
        counted(
            "INC001",
            "Incasts",
            "Ports where many senders meet. Normal is 0; a job that gathers to one host makes one.",
            colour=MISSING,
            width=3,
        ),
    )


def _culprits() -> Panel:
    return found(
        "Culprits of storms",
        "Where a storm begins: this host or switch port pauses all that wait for it. Drain the host or shut its "
        "port, then look why it takes nothing in (host, PCIe, driver, GPU). The tree is on truerail's page under "
        "Storms.",
        'rule=~"PFC001|PFC003"',
        width=10,
    )


def _victims() -> Panel:
    return found(
        "Others that are affected",
        "Pauses, drops, marks and imbalance elsewhere. While there is a culprit beside this table these are its "
        "victims: repair it first, and they end with it. Without one, they stand for themselves.",
        'rule=~"PFC002|PFC004|PFC005|ECN001|INC001|RAL001|RAL002"',
        width=14,
    )


def _pause_verdicts() -> Panel:
    return verdicts(
        "Pauses on each rail: verdict",
        "The worst finding on pauses of each rail: storm or deadlock (red), pressure or a wrong priority (orange). All "
        "rails at once: the spines or the work; one rail: its leaf.",
        PAUSES,
        _RAILS,
        "rail {{rail}}",
        by="rail",
    )


def _by_rail(title: str, summary: str, record: str, empty: str = NOT_REPORTED) -> Panel:
    query = over_time(f"max by (rail) ({record}{{{RAIL}}})", "rail {{rail}}")
    return heat(title, summary, query, unit="percentunit", steps=AMOUNT, width=8, empty=empty)


def _paused_rails() -> Panel:
    return _by_rail(
        "NICs paused, by rail",
        "The worst NIC of each rail: share of time in which its leaf paused it; the darker, the more. Bursts of a job "
        "pause too: the verdict beside it says where it is too much. Empty: no durations counted.",
        "rail:truerail_link_pause_received:max",
    )


def _pausing_rails() -> Panel:
    return _by_rail(
        "NICs that pause, by rail",
        "The worst NIC of each rail: share of time in which it paused its leaf; the darker, the more. A NIC that "
        "pauses does not take traffic in as fast as it comes: this is where storms begin. Empty: no durations counted.",
        "rail:truerail_link_pause_sent:max",
    )


def _worst(title: str, summary: str, record: str, width: int = 12) -> Panel:
    query = over_time(f"topk by (fabric) (10, {record}{{{RAIL}}})", "{{host}} {{nic}}")
    return lines(
        title,
        summary,
        query,
        unit="percentunit",
        links=links.HOST_SERIES,
        low=0,
        high=1,
        width=width,
        empty="none above 0.1 %, or none reported",
    )


def _worst_paused() -> Panel:
    return _worst(
        "Most paused NICs",
        "Share of time in which the leaf paused the NIC, the worst ten. Some is normal under load.",
        "link:truerail_link_pause_received:top",
    )


def _worst_pausing() -> Panel:
    return _worst(
        "Most pausing NICs",
        "Share of time in which the NIC paused its leaf, the worst ten. A line near 100 % is the culprit of a storm.",
        "link:truerail_link_pause_sent:top",
    )


_PLACE: Final = (
    Column("host", links=(*links.HOST, _STORM)),
    Column("nic"),
    Column("rail", width=70),
    Column("plane", width=70),
    Column("pod", width=90),
)


def _pauses_now() -> Panel:
    sent, received = (f"truerail_link_pause_{way}_ratio{{{RAIL}}}" for way in ("sent", "received"))
    shown = "or".join(f"\n  topk by (fabric) (25, {one} > 0.001)\n" for one in (sent, received))
    worst = f"and on(fabric, host, nic) ({shown})"
    columns = (
        *_PLACE,
        Column("Value #A", "pauses its leaf", unit="percentunit", width=130),
        Column("Value #B", "is paused", unit="percentunit", width=100),
        column("Value #C"),
    )
    return table(
        "NICs with pauses",
        "The NICs that pause most and those that are paused most, now. Who pauses without being paused is a root; "
        "who is paused is a victim.",
        rows(f"{sent}\n{worst}"),
        rows(f"{received}\n{worst}"),
        rows(f"{verdict(PAUSES, _NICS, NIC)}\n{worst}"),
        columns=columns,
        worst="pauses its leaf",
        unit="percentunit",
        width=14,
        empty="none above 0.1 %, or none reported",
    )


def _uplinks_now() -> Panel:
    paused = f"truerail_uplink_pause_received_ratio{{{POD}}}"
    peer = f"truerail_uplink_info{{{POD}}}"
    joined = f"topk(50, {paused} > 0.001)\n* on(fabric, switch, switch_port) group_left(peer, peer_port) {peer}"
    switches = verdict(PAUSES, f"truerail_uplink_info{{{POD}}}", "fabric, switch")
    columns = (
        Column("switch", links=links.SWITCH),
        Column("switch_port", "port", width=110),
        Column("peer", "paused by"),
        Column("Value #A", "is paused", unit="percentunit", width=100),
        column("Value #B"),
    )
    return table(
        "Uplinks that are paused",
        "Switches that the switch above pauses: a storm or an overload has reached the spines and affects other pods. "
        "Normal is none. The verdict is that on the switch.",
        rows(joined),
        rows(f"({joined}) * 0\n+ on(fabric, switch) group_left() ({switches})"),
        columns=columns,
        worst="is paused",
        unit="percentunit",
        width=10,
        empty="none above 0.1 %, or none reported",
    )


def _mark_verdicts() -> Panel:
    return verdicts(
        "Marks on each rail: verdict",
        "The worst finding on marked packets of each rail: many of them, or a loop that does not slow senders.",
        MARKS,
        _RAILS,
        "rail {{rail}}",
        by="rail",
    )


def _marked() -> Panel:
    return _by_rail(
        "Marked packets, by rail",
        "The worst NIC of each rail: share of received RoCE packets that the network marked; the darker, the more. "
        "Marks without pauses are the loop at work; the verdict beside it says where it does not slow senders enough.",
        "rail:truerail_link_ecn_marked:max",
        "none reported: marks are not counted",
    )


def _marked_now() -> Panel:
    return _worst(
        "Most marked NICs",
        "Share of the RoCE packets that a NIC receives marked, the worst ten. Many NICs of one pod meet in one "
        "spine or leaf; one NIC alone is an incast.",
        "link:truerail_link_ecn_marked:top",
        8,
    )


def _lost() -> Panel:
    return found(
        "Drops and incasts",
        "Lossless priorities that lose packets (PFC004), pauses where none should be (PFC005), ports where many "
        "senders meet (INC001), and settings that differ (CFG001), which are behind many of them.",
        'rule=~"PFC004|PFC005|INC001|CFG001"',
        width=14,
    )


def _broken() -> Panel:
    worst = f"topk(50, truerail_link_errors_per_second{{{RAIL}}} > 0)"
    return table(
        "Cables with broken frames",
        "Broken frames a second that either end receives, the worst 50, with the verdict of the rules on links. Normal "
        "is none. Clean and reseat the cable at both ends; then replace the module, then the cable.",
        rows(worst),
        rows(f"{verdict(FRAMES, _NICS, NIC)}\nand on(fabric, host, nic) ({worst})"),
        columns=(*_PLACE[:3], Column("Value #A", "frames/s", width=100), column("Value #B")),
        worst="frames/s",
        unit="short",
        width=10,
        empty="none reported",
    )
