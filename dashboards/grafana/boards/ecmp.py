"""ECMP and uplinks: do switches spread their load over all their uplinks, and which of these are idle or bad?"""

from typing import Final

from grafana_foundation_sdk.models.dashboard import Panel

from dashboards.grafana import links
from dashboards.grafana.findings import counted, found
from dashboards.grafana.layout import Board, Row
from dashboards.grafana.palette import MISSING, NEUTRAL, RIGHT, STATES, UNKNOWN, WRONG, said
from dashboards.grafana.panels import Column, bars, history, lines, stat, table
from dashboards.grafana.queries import POD, SWITCH, fresh, instant, over_time, rows
from dashboards.grafana.variables import lower_switch, pod

VERDICTS: Final = {0: ("even", RIGHT), 1: ("unknown", UNKNOWN), 2: ("uneven", MISSING), 3: ("polarized", WRONG)}
"""The values of `truerail_switch_uplink_balance_state`. Nothing else colours a load: how uneven it may be depends on
how many flows there are.
"""
IDLE: Final = "idle, or not counted"
_BUSY: Final = f"switch:truerail_uplink_transmit:peak_ratio{{{POD}}}"
_PEAK: Final = "truerail_switch_uplink_peak_ratio"
_EXPECTED: Final = "truerail_switch_uplink_peak_expected_ratio"
_VERDICT: Final = "truerail_switch_uplink_balance_state"
_SENT: Final = f"truerail_uplink_transmit_bytes_per_second{{{SWITCH}}}"
_PEER: Final = f"* on(fabric, switch, switch_port) group_left(peer, peer_port) truerail_uplink_info{{{SWITCH}}}"
_LEGEND: Final = "{{switch_port}} to {{peer}}"


def board() -> Board:
    """The board."""
    summary = "Switches spread flows over their uplinks by a hash: is the load even, which uplinks are idle or bad?"
    rows_ = (
        Row("Do the uplinks share the load?", 4, _answer()),
        Row("Which switches?", 10, (_uneven(), _idle())),
        Row("Uplinks of $switch", 9, (_share(), _load(), _beside(), _states())),
        Row("Uplinks of $switch in figures", 9, (_figures(),)),
        Row("What truerail found", 9, (_findings(), _verdicts())),
        Row("Are all uplinks in place?", 8, (_bad(), _by_state())),
    )
    return Board("ecmp", "ECMP and uplinks", summary, (pod(), lower_switch()), rows_)


def _answer() -> tuple[Panel, ...]:
    polarized = (
        "Switches that leave half or more of their uplinks idle because they hash as the tier below did. Normal "
    )
    uneven = (
        "Switches that spread more unevenly than their flows explain. Normal is 0. Look at hash fields and weights."
    )
    dead = "Uplinks that are up and carry nothing while the others do. Normal is 0. Look at routes and drained peers."
    return (
        _worst(),
        counted("LBL001", "Polarized switches", polarized + "is 0. Give the tiers different hash seeds."),
        counted("LBL002", "Uneven switches", uneven, colour=MISSING),
        counted("LBL003", "Dead uplinks", dead, colour=MISSING),
        _not_right(),
        _counted(),
    )


def _worst() -> Panel:
    return stat(
        "Load balance",
        "The worst verdict of the rules on a switch: even as far as its flows allow, unknown, uneven (LBL002, LBL003) "
        "or polarized (LBL001). Few large flows load any hash unevenly: the rules allow for that.",
        instant(fresh(f"max by (fabric) ({_VERDICT}{{{POD}}})")),
        unit="none",
        mappings=said(VERDICTS),
        width=4,
        empty=IDLE,
    )


def _not_right() -> Panel:
    bad = f'sum by (fabric) (truerail_uplinks{{{POD}, state=~"wrong|missing"}})'
    return stat(
        "Uplinks bad",
        "Planned cables between switches that are missing or in a wrong place. Normal is 0: each costs its leaf "
        "capacity. Those not known are in the last row.",
        instant(fresh(bad)),
        unit="short",
        steps=((0, RIGHT), (1, MISSING)),
        width=4,
    )


def _counted() -> Panel:
    share = f"sum by (fabric) (truerail_uplinks_counted{{{POD}}}) / sum by (fabric) (truerail_uplinks{{{POD}}})"
    return stat(
        "Uplinks counted",
        "Share of the uplinks of which either end counts its traffic. What is not counted is not evaluated. Normal is "
        "100 %; 0 where truerail does not read the switches' counters.",
        instant(fresh(share)),
        unit="percentunit",
        steps=((0, UNKNOWN), (0.5, MISSING), (0.99, RIGHT)),
        width=4,
        empty="not counted",
    )


def _uneven() -> Panel:
    columns = (
        Column(
            "switch", links=(*links.SWITCH, links.to_board("Its uplinks here", "ecmp", switch=links.of_field("switch")))
        ),
        Column("pod", width=90),
        Column("Value #A", "verdict", mappings=said(VERDICTS), width=110),
        Column("Value #B", "busiest over mean", width=150),
        Column("Value #C", "chance allows", width=130),
    )
    chosen = f"on(fabric, switch) topk(50, {_PEAK}{{{POD}}})"
    return table(
        "Switches by unevenness",
        "The busiest uplink over the mean of the switch's uplinks, the 50 highest, beside what a fair hash of so many "
        "flows exceeds in one case of a hundred. All switches of a tier alike: polarization; one: weights, a dead or "
        "missing uplink.",
        *(rows(f"{metric}{{{POD}}} and {chosen}") for metric in (_VERDICT, _PEAK, _EXPECTED)),
        columns=columns,
        worst="busiest over mean",
        unit="none",
        decimals=2,
        width=12,
        empty=IDLE,
    )


def _idle() -> Panel:
    sent = f"truerail_uplink_transmit_bytes_per_second{{{POD}}}"
    mean = f"avg by (fabric, switch) ({sent}) and on(fabric, switch) {_BUSY}"
    share = f"{sent}\n/ on(fabric, switch) group_left() ({mean})"
    peer = f"* on(fabric, switch, switch_port) group_left(peer, peer_port) truerail_uplink_info{{{POD}}}"
    columns = (
        Column("switch", links=links.SWITCH),
        Column("switch_port", "port", width=110),
        Column("peer", "to"),
        Column("peer_port", "port there", width=110),
        Column("Value", "of the mean", unit="percentunit", steps=((0, MISSING), (0.05, NEUTRAL)), width=110),
    )
    return table(
        "Idle uplinks of busy switches",
        "Uplinks that send under 5 % of the mean of their switch, which carries load. Normal is none. One: look at "
        "its route and peer (LBL003). Half or more of a switch: the hash (LBL001).",
        rows(f"sort(\n  bottomk(100, ({share}) < 0.05)\n  {peer}\n)"),
        columns=columns,
        unit="percentunit",
        width=12,
        empty="none, where counted",
    )


def _share() -> Panel:
    total = f"sum by (fabric, switch) ({_SENT})"
    return bars(
        "Share of each uplink, now",
        "What each uplink of the chosen switch carries of all that it sends up. Normal: bars alike. Empty bars "
        "beside full ones are idle uplinks.",
        instant(f"{_SENT}\n/ on(fabric, switch) group_left() ({total} > 0)\n{_PEER}", _LEGEND),
        unit="percentunit",
        low=0,
        width=6,
        empty=IDLE,
    )


def _load() -> Panel:
    return lines(
        "Sent by each uplink",
        "What each uplink of the chosen switch sends up. Normal: the lines run together. A line at 0 is idle, a gap "
        "is not known.",
        over_time(f"8 * {_SENT}\n{_PEER}", _LEGEND),
        unit="bps",
        low=0,
        width=6,
        empty=IDLE,
    )


def _states() -> Panel:
    return history(
        "State of each uplink",
        "How each uplink's cable stands: right, unknown, missing or wrong. Normal is unbroken green. What is "
        "missing shares no load: its traffic is on the others.",
        over_time(f"truerail_uplink_state{{{SWITCH}}}\n{_PEER}", _LEGEND),
        unit="none",
        mappings=said(STATES),
        width=6,
    )


_FIGURES: Final = (
    ("state", "state", "none"),
    ("speed_bytes_per_second", "can carry", "bps"),
    ("transmit_bytes_per_second", "sends up", "bps"),
    ("receive_bytes_per_second", "comes down", "bps"),
    ("pause_received_ratio", "is paused", "percentunit"),
    ("ecn_marked_ratio", "marked", "percentunit"),
    ("errors_per_second", "broken frames/s", "short"),
)


def _scaled(name: str, unit: str) -> str:
    return f"{'8 * ' if unit == 'bps' else ''}truerail_uplink_{name}{{{SWITCH}}}"


def _figures() -> Panel:
    queries = [rows(f"{_scaled(name, unit)}\n{_PEER}") for name, _, unit in _FIGURES]
    place = (Column("switch_port", "port"), Column("peer", "to"), Column("peer_port", "port there"))
    values = [Column(f"Value #{chr(65 + at)}", title, unit=unit) for at, (_, title, unit) in enumerate(_FIGURES)]
    values[0] = Column("Value #A", "state", mappings=said(STATES), width=90)
    return table(
        "Uplinks in figures",
        "Everything of the chosen switch's uplinks, over the newest whole minute. An empty cell is not known. The "
        "idle one with errors or pauses is avoided for a reason; the idle one without is out of the hash or of the "
        "routes.",
        *queries,
        columns=(*place, *values),
        worst="sends up",
        unit="short",
        width=24,
    )


def _findings() -> Panel:
    return found(
        "Findings on uplinks",
        "Polarization (LBL001), imbalance (LBL002), dead members (LBL003), missing capacity (CAP001) and uplinks in "
        "wrong places (CAB006).",
        'rule=~"LBL00.|CAP001|CAB006"',
        width=14,
    )


def _beside() -> Panel:
    return lines(
        "Busiest over mean, and what chance allows",
        "The busiest uplink of the chosen switch over the mean of all, and what a fair hash of its flows exceeds in "
        "one case of a hundred. Normal: the load stays below.",
        over_time(f"{_PEAK}{{{SWITCH}}}", "busiest over mean"),
        over_time(f"{_EXPECTED}{{{SWITCH}}}", "chance allows"),
        unit="none",
        colours={"busiest over mean": NEUTRAL, "chance allows": UNKNOWN},
        low=1,
        width=6,
        empty=IDLE,
    )


def _verdicts() -> Panel:
    return history(
        "Load balance, worst switches",
        "What the rules say of the most uneven switches at each time. Normal is green. The time from which a switch "
        "is uneven shows which change made it so. Empty: idle, or not counted.",
        over_time(f"topk by (fabric) (15, {_VERDICT}{{{POD}}} > 0)", "{{switch}}"),
        unit="none",
        mappings=said(VERDICTS),
        width=10,
        empty="all even",
    )


def _bad() -> Panel:
    bad = f"topk(100, truerail_uplink_state{{{POD}}} > 0)"
    peer = f"* on(fabric, switch, switch_port) group_left(peer, peer_port) truerail_uplink_info{{{POD}}}"
    columns = (
        Column("switch", links=links.SWITCH),
        Column("switch_port", "port", width=110),
        Column("Value", "state", mappings=said(STATES), width=90),
        Column("peer", "belongs in"),
        Column("peer_port", "port there", width=110),
        Column("pod", width=90),
    )
    return table(
        "Uplinks that are not right",
        "Cables between switches that are wrong, missing or not known, the worst 100. truerail's page of the switch "
        "shows where a wrong one is.",
        rows(f"{bad}\n{peer}"),
        columns=columns,
        worst="state",
        unit="none",
        width=14,
        empty="none reported",
    )


def _by_state() -> Panel:
    return lines(
        "Uplinks by state, over time",
        "Planned cables between switches in the pod of the lower one. Normal is all green. Purple that grows: "
        "switches that are not read.",
        over_time(f"sum by (state) (truerail_uplinks{{{POD}}})", "{{state}}"),
        unit="short",
        stacked=True,
        colours={"right": RIGHT, "unknown": UNKNOWN, "missing": MISSING, "wrong": WRONG},
        low=0,
        width=10,
    )
