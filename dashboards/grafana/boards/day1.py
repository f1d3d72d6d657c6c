"""Day-1 progress: what is cabled right, what is left, where, and how fast it goes."""

from typing import Final

from grafana_foundation_sdk.models.dashboard import Panel

from dashboards.grafana import links
from dashboards.grafana.layout import Board, Row
from dashboards.grafana.palette import MISSING, NEUTRAL, RIGHT, UNKNOWN, WRONG, falling, none_is_right
from dashboards.grafana.panels import Column, bars, lines, stat, table
from dashboards.grafana.queries import FABRIC, POD, fresh, instant, over_time, rows
from dashboards.grafana.variables import pod

STATES: Final = {"right": RIGHT, "wrong": WRONG, "missing": MISSING, "unknown": UNKNOWN}
SHARE: Final = falling(1, 0.95)
_LINKS: Final = f"truerail_links{{{POD}}}"
_LEFT: Final = f'truerail_links{{{POD}, state!="right"}}'
_RIGHT: Final = f'truerail_links{{{POD}, state="right"}}'


def board() -> Board:
    """The board."""
    return Board(
        "day1",
        "Day-1 progress",
        "Cables of a new fabric, from the first one plugged to the last one right: what is left, where, and how fast "
        "it goes. A cable is right only where a device reports it in its planned place; unknown is work that is left.",
        (pod(),),
        (
            Row("How far are we?", 4, (*_shares(), *_left())),
            Row("How does it go?", 9, (_burn_down(), _by_pod())),
            Row("Where is work left?", 9, (_pods(), _rails(), _racks())),
            Row("What is to be done?", 10, (_hosts(), _causes())),
            Row("Who verified it?", 8, (_verified(), _whole())),
        ),
        page="/punch",
        hours=24,
    )


def _shares() -> tuple[Panel, ...]:
    both = f'sum by (fabric) (truerail_links_verified{{{POD}, verified="both ends"}})'
    whole = f'sum by (fabric) (truerail_hosts{{{POD}, state="right"}}) / sum by (fabric) (truerail_hosts{{{POD}}})'
    return (
        stat(
            "Cables right",
            "Share of the planned cables of hosts that are known to be right. The end of Day 1 is 100 %: until then "
            "see what is left beside it.",
            instant(fresh(f"sum by (fabric) ({_RIGHT}) / sum by (fabric) ({_LINKS})")),
            unit="percentunit", steps=SHARE, low=0, high=1, decimals=1, width=4,
        ),
        stat(
            "Verified by both ends",
            "Share of the planned cables that host and switch both confirm, wherever they are plugged. Below 100 % "
            "somewhere LLDP is off or a device does not answer.",
            instant(fresh(f"{both} / sum by (fabric) (truerail_links_verified{{{POD}}})")),
            unit="percentunit", steps=SHARE, low=0, high=1, decimals=1, width=4,
        ),
        stat(
            "Hosts right",
            "Share of the hosts of which every cable is right: these can take jobs.",
            instant(fresh(whole)),
            unit="percentunit", steps=SHARE, low=0, high=1, decimals=1, width=4,
        ),
    )  # fmt: skip


def _left() -> tuple[Panel, ...]:
    counts = [
        stat(
            f"{state.capitalize()}",
            f"Planned cables of hosts that are {state}. {summary}",
            instant(fresh(f'sum by (fabric) (truerail_links{{{POD}, state="{state}"}})')),
            unit="short", steps=none_is_right(STATES[state]), width=2,
        )
        for state, summary in (
            ("wrong", "Each is in another place than planned: the punch list says which to swap."),
            ("missing", "Each was never plugged, has no link, or is dead."),
            ("unknown", "No device reports where they are plugged: that is unknown, not right."),
        )
    ]  # fmt: skip
    moves = stat(
        "Moves to do",
        "Cables that have to be moved to put right every cause that is found; fewer than the wrong ones where a label "
        "or a host name is to blame. Of the whole fabric, whatever pods are chosen.",
        instant(fresh(f"sum by (fabric) (truerail_cause_moves{{{FABRIC}}})")),
        unit="short", steps=none_is_right(MISSING), width=3,
    )  # fmt: skip
    left = f"sum by (fabric) ({_LEFT})"
    slope = f"deriv(sum by (fabric) ({_RIGHT})[$__range:5m])"
    ends = stat(
        "Left at this pace",
        "What is left, divided by the mean pace of the time shown (a straight line through the count of right cables). "
        "It is arithmetic, not a promise: the last cables are the slow ones. Without progress there is no forecast.",
        instant(fresh(f"{left} / ({slope} > 0)")),
        unit="dtdurations", width=3, empty="no progress in the time shown",
    )  # fmt: skip
    return (*counts, moves, ends)


def _burn_down() -> Panel:
    return lines(
        "Cables left",
        "Planned cables of hosts that are not right, by what they are. The sum goes down to nothing; a step up is "
        "something that was right and broke.",
        over_time(f"sum by (state) ({_LEFT})", "{{state}}"),
        unit="short", stacked=True, colours=STATES, low=0, width=12,
    )  # fmt: skip


def _by_pod() -> Panel:
    return lines(
        "Cables left by pod",
        "Planned cables of hosts that are not right, in each pod. A line that does not fall is a pod without progress, "
        "or without data.",
        over_time(f"sum by (pod) ({_LEFT})", "{{pod}}"),
        unit="short", low=0, width=12,
    )  # fmt: skip


def _pods() -> Panel:
    counts = [f'sum by (pod) (truerail_links{{{POD}, state="{state}"}})' for state in ("wrong", "missing", "unknown")]
    share = f"sum by (pod) ({_RIGHT}) / sum by (pod) ({_LINKS})"
    return table(
        "Pods",
        "Each pod with the share of its cables that are right, and the cables that are left by what they are.",
        rows(share), *(rows(expr) for expr in counts),
        columns=(Column("pod", links=(links.to_board("Rails of this pod", "rails", pod=links.of_field("pod")),)),
                 Column("Value #A", "right", "percentunit", steps=SHARE), *_count_columns()),
        unit="short", width=9,
    )  # fmt: skip


def _rails() -> Panel:
    return bars(
        "Rails",
        "Share of each rail's cables that are right, over the pods chosen. All rails grow alike where one works rack "
        "by rack; one that stays behind points to its leaf.",
        instant(f"sum by (rail) ({_RIGHT}) / sum by (rail) ({_LINKS})", "{{rail}}"),
        unit="percentunit", steps=SHARE, low=0, high=1, decimals=0, width=6,
    )  # fmt: skip


def _racks() -> Panel:
    share = f"avg by (pod, rack) ({_placed(f'truerail_link_state{{{POD}}} == bool 0')})"
    counts = [f"count by (pod, rack) ({_placed(f'truerail_link_state{{{POD}}} == {state}')})" for state in (3, 2, 1)]
    return table(
        "Racks",
        "Each rack of hosts with the share of its cables that are right, and what is left there: the order in which a "
        "technician walks. A count that is empty is none. Without racks in plan or inventory there are no rows.",
        rows(share), *(rows(expr) for expr in counts),
        columns=(Column("pod"), Column("rack"),
                 Column("Value #A", "right", "percentunit", steps=SHARE), *_count_columns()),
        unit="short", width=9, empty="no racks in the plan",
    )  # fmt: skip


def _placed(expr: str) -> str:
    """What an expression says of each cable of a host, with the host's rack."""
    return f'({expr}) * on(fabric, host, nic) group_left(rack) truerail_link_info{{{POD}, rack!=""}}'


def _hosts() -> Panel:
    counts = [f'truerail_host_links{{{POD}, state="{state}"}} > 0' for state in ("wrong", "missing", "unknown")]
    left = f'topk(100, sum by (pod, host) (truerail_host_links{{{POD}, state!="right"}}) > 0)'
    return table(
        "Hosts with cables left",
        "The hundred hosts with the most cables that are not right, worst first. The link leads to the host's own page "
        "with the cause of each and the moves. Empty: none.",
        rows(left), *(rows(f"sum by (pod, host) ({expr})") for expr in counts),
        columns=(Column("pod"), Column("host", links=links.HOST), Column("Value #A", "left"), *_count_columns()),
        unit="short", width=14, worst="left", empty="no cable is left",
    )  # fmt: skip


def _causes() -> Panel:
    found = f"sum by (kind) (truerail_causes{{{FABRIC}}}) > 0"
    return table(
        "Causes",
        "What explains the cables that are left, by kind, with the moves that put it right. A cause with no move is "
        "mended by a label, a name or a reseat. Of the whole fabric, whatever pods are chosen.",
        rows(found), rows(f"sum by (kind) (truerail_cause_moves{{{FABRIC}}}) and on(kind) ({found})"),
        columns=(Column("kind", "cause"), Column("Value #A", "found"), Column("Value #B", "moves")),
        unit="short", width=10, worst="moves", empty="no cause is found",
    )  # fmt: skip


def _verified() -> Panel:
    return lines(
        "Who confirms the cables",
        "Planned cables of hosts by who confirms where they are plugged. Both ends is what a fabric should end with; "
        "none is unknown.",
        over_time(f"sum by (verified) (truerail_links_verified{{{POD}}})", "{{verified}}"),
        unit="short", stacked=True, low=0, width=12,
        colours={
            "both ends": RIGHT, "one end": NEUTRAL, "other sources": NEUTRAL, "device only": MISSING, "none": UNKNOWN
        },
    )  # fmt: skip


def _whole() -> Panel:
    return lines(
        "Hosts",
        "Hosts by their rails: right where every cable is right, broken where one is wrong or missing, else unknown.",
        over_time(f"sum by (state) (truerail_hosts{{{POD}}})", "{{state}}"),
        unit="short", stacked=True, low=0, width=12,
        colours={"right": RIGHT, "broken": WRONG, "unknown": UNKNOWN},
    )  # fmt: skip


def _count_columns() -> tuple[Column, ...]:
    return (
        Column("Value #B", "wrong", steps=none_is_right(WRONG)),
        Column("Value #C", "missing", steps=none_is_right(MISSING)),
        Column("Value #D", "unknown", steps=none_is_right(UNKNOWN)),
    )
