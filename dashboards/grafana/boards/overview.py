"""Fabric overview: is every rail right, what is wrong now, and where does it go?"""

from typing import Final

from grafana_foundation_sdk.models.dashboard import Panel

from dashboards.grafana import links
from dashboards.grafana.boards.coverage import COVERAGE
from dashboards.grafana.causes import causes, folded
from dashboards.grafana.findings import found
from dashboards.grafana.layout import Board, Row
from dashboards.grafana.palette import (
    MISSING,
    RIGHT,
    STATES,
    UNKNOWN,
    WORDS,
    WRONG,
    coloured,
    falling,
    none_is_right,
    rising,
    said,
)
from dashboards.grafana.panels import Column, history, lines, matrix, stat, table
from dashboards.grafana.queries import FABRIC, POD, fresh, instant, over_time, rows
from dashboards.grafana.variables import pod

_VERDICT: Final = {
    0: ("every rail is right", RIGHT),
    1: ("not known everywhere", UNKNOWN),
    2: ("a cable is missing", MISSING),
    3: ("a cable is wrong", WRONG),
}
_FIRING: Final = 'ALERTS{alertname=~"Truerail.+", alertstate="firing", fabric='
_ALERTS: Final = f'{_FIRING}"$fabric"}}\nor\n{_FIRING}""}}'
"""Those on truerail itself, such as TruerailAbsent, have no fabric."""


def board() -> Board:
    """The board."""
    rows_ = (_answer(), _wrong(), _where(), _trend(), COVERAGE, Row("Which alerts fire?", 9, (_alerts(),)))
    summary = "Is every rail of the fabric right, what is wrong now, and is it getting better or worse?"
    return Board("overview", "Fabric overview", summary, (pod(),), rows_, shows_jobs=True)


def _answer() -> Row:
    worst = fresh(f"max by (fabric) (truerail_rail_state{{{POD}}})")
    whole = f'sum by (fabric) (truerail_hosts{{{POD}, state="right"}}) / sum by (fabric) (truerail_hosts{{{POD}}})'
    age = f"truerail_evaluation_age_seconds{{{FABRIC}}}"
    return Row(
        "Is every rail right?",
        4,
        (
            stat(
                "Every rail right?",
                "The worst cable of the chosen pods. Green only where every planned cable is known to be where it "
                "belongs. Purple: some cable is not known, or truerail has not evaluated for a quarter of an hour. "
                "Orange or red: see what is wrong below.",
                instant(worst),
                unit="none",
                mappings=said(_VERDICT),
                width=8,
            ),
            stat(
                "Hosts right",
                "Share of hosts of which every cable is known to be right. Normal is 100 %; a job needs all rails "
                "of its hosts.",
                instant(fresh(whole)),
                unit="percentunit",
                steps=falling(1, 0.95),
                width=4,
            ),
            _hosts(
                "broken",
                "Hosts with a cable that is wrong or missing. Normal is 0: keep jobs off them, and see the tables "
                "below for the repair.",
                WRONG,
            ),
            _hosts(
                "unknown",
                "Hosts of which some cable is not known, and none is known to be bad. Neither fine nor broken: see "
                "who does not answer in the last rows.",
                UNKNOWN,
            ),
            stat(
                "Evaluation age",
                "How old the newest answer behind everything here is. Normal is a minute or two. From 15 minutes on "
                "the figures above turn purple: nothing is monitored. Check whether truerail runs.",
                instant(age),
                unit="s",
                steps=rising(300, 900),
                width=4,
                empty="truerail is silent",
            ),
        ),
    )


def _hosts(state: str, summary: str, colour: str) -> Panel:
    expr = fresh(f'sum by (fabric) (truerail_hosts{{{POD}, state="{state}"}})')
    return stat(f"Hosts {state}", summary, instant(expr), unit="short", steps=none_is_right(colour), width=4)


def _wrong() -> Row:
    return Row(
        "What is wrong now?",
        10,
        (
            causes(),
            found(
                "Critical findings",
                "What the causes above explain, and what none explains. Click a host for its links, evidence and "
                "repair in truerail.",
                'severity="critical"',
                width=20,
            ),
            folded(4),
            _cables(),
        ),
    )


def _cables() -> Panel:
    columns = (
        Column("host", links=links.HOST),
        Column("nic"),
        Column("rail", width=70),
        Column("Value", "state", mappings=said(STATES), width=90),
        Column("switch", "belongs in", links=links.SWITCH),
        Column("switch_port", "port", width=110),
        Column("actual_switch", "actual switch"),
        Column("actual_switch_port", "actual port", width=110),
        Column("rack", width=90),
        Column("pod", width=90),
    )
    return table(
        "Cables that are wrong or missing",
        "Each cable of a host that is known to be bad: where it belongs, and where it actually is. At most 200, "
        "the wrong ones first. While a fabric is being cabled, many are missing: the board Day-1 progress shows "
        "them by rack.",
        rows(_bad_cables()),
        columns=columns,
        worst="state",
        unit="none",
        width=24,
        empty="none reported",
    )


def _bad_cables() -> str:
    """Bad cables with where they belong and, if that is known, where they are."""
    cable = "on(fabric, host, nic)"
    there = f"truerail_link_actual_info{{{POD}}}"
    placed = (
        f"(truerail_link_state{{{POD}}} > 1)\n"
        f"* {cable} group_left(switch, switch_port, rack) truerail_link_info{{{POD}}}"
    )
    seen = f"{placed}\n* {cable} group_left(actual_switch, actual_switch_port) {there}"
    return f"topk(200,\n{seen}\nor\n({placed} unless {cable} {there})\n)"


def _where() -> Row:
    worst = f"max by (pod, rail) (truerail_rail_state{{{POD}}})"
    return Row(
        "Which rails, in which pods?",
        9,
        (
            matrix(
                "Rails by pod, now",
                "The worst cable of each rail in each pod: right, unknown, missing or wrong. One red column is a "
                "leaf or a rail's naming; one red row is a pod; a single cell is a cable or two. Empty is not in "
                "the plan.",
                rows(worst),
                row="pod",
                column="rail",
                unit="none",
                mappings=said(STATES),
                width=12,
            ),
            history(
                "Rails over time",
                "The worst cable of each rail in the chosen pods. Normal is unbroken green; a gap is a time "
                "without data.",
                over_time(f"max by (rail) (truerail_rail_state{{{POD}}})", "rail {{rail}}"),
                unit="none",
                mappings=said(STATES),
                width=12,
            ),
        ),
    )


def _trend() -> Row:
    def by_state(title: str, metric: str, summary: str) -> Panel:
        query = over_time(f"sum by (state) ({metric}{{{POD}}})", "{{state}}")
        return lines(title, summary, query, unit="short", stacked=True, colours=_SHADES, low=0, width=8)

    return Row(
        "Where does it go?",
        8,
        (
            by_state(
                "Hosts by state",
                "truerail_hosts",
                "Whole: every cable right; broken: one wrong or missing; else unknown. A step down after a "
                "maintenance is a mistake made there.",
            ),
            by_state(
                "Cables of hosts by state",
                "truerail_links",
                "The states add up to what is planned. Purple that grows is coverage that is lost, not cables that "
                "are wrong.",
            ),
            by_state(
                "Uplinks by state",
                "truerail_uplinks",
                "Cables between switches, in the pod of the lower one. A missing uplink costs capacity, no rail.",
            ),
        ),
    )


_SHADES: Final = {word: WORDS[word] for word in ("right", "unknown", "missing", "wrong", "broken")}


def _alerts() -> Panel:
    severity = Column("severity", mappings=coloured(("critical", "warning")), width=90)
    plain = tuple(Column(name) for name in ("nic", "rail", "pod", "collector"))
    host, switch = Column("host", links=links.HOST), Column("switch", links=links.SWITCH)
    return table(
        "Alerts that fire",
        "truerail's alerts as this Prometheus evaluates them, also those that Alertmanager mutes. Each alert's "
        "runbook says what to do. Alerts that Grafana evaluates itself are under Alerting.",
        rows(_ALERTS),
        columns=(severity, Column("alertname", "alert", width=260), host, switch, *plain),
        unit="none",
        width=24,
        empty="none fires in this Prometheus",
    )
