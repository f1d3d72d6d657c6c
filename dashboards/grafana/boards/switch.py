"""One switch, leaf or spine: its ports to hosts, its uplinks, what they carry, and what is found on it."""

from typing import Final

from grafana_foundation_sdk.builders.dashboard import QueryVariable
from grafana_foundation_sdk.models.dashboard import Panel

from dashboards.grafana import links
from dashboards.grafana.boards.host import TRAFFIC
from dashboards.grafana.layout import Board, Row
from dashboards.grafana.palette import STATES, UNKNOWN, WRONG, coloured, none_is_right, said
from dashboards.grafana.panels import Column, heat, lines, stat, table
from dashboards.grafana.queries import FABRIC, POD, fresh, instant, over_time, rows
from dashboards.grafana.variables import pod, switch
from dashboards.grafana.verdicts import AMOUNT, verdicts

_DOWN: Final = f'truerail_link_info{{{FABRIC}, switch="$switch"}}'
_UP: Final = f'truerail_uplink_info{{{FABRIC}, switch="$switch"}}'
_BELOW: Final = f'truerail_uplink_info{{{FABRIC}, peer="$switch"}}'
_ABOVE: Final = f'label_join({_BELOW}, "switch", "", "peer")'
_ITSELF: Final = f"max by (fabric, switch) ({_DOWN} or {_UP} or {_ABOVE})"
_PORT: Final = "{{switch_port}} {{host}} {{nic}}"
_UPLINK: Final = "{{switch}} {{switch_port}} to {{peer}}"


def board() -> Board:
    """The board."""
    return Board(
        "switch",
        "Switch",
        "One switch with every planned cable: to hosts, to the switches above, and from the switches below.",
        (pod(), any_switch()),
        (
            Row("Is every cable right?", 5, (*_sums(), _findings())),
            Row("Its cables", 10, (_hosts(), _uplinks())),
            Row("To and from hosts", 8, _host_traffic()),
            Row("To and from other switches", 8, _uplink_traffic()),
            Row("Who is held up?", 8, _held_up()),
        ),
        page="/switches/${switch:percentencode}",
    )


def any_switch() -> QueryVariable:
    """One switch, also one that has planned cables only from below: a spine stands on uplinks as the peer."""
    above = f'label_join(truerail_uplink_info{{{POD}}}, "switch", "", "peer")'
    reported = f"count by (switch) (truerail_link_info{{{POD}}} or truerail_uplink_info{{{POD}}} or {above})"
    query = f"query_result({reported})"
    asked: dict[str, object] = {"qryType": 3, "query": query, "refId": "PrometheusVariableQueryEditor-VariableQuery"}
    return switch().query(asked).regex('/switch="([^"]+)"/')


def _down(metric: str) -> str:
    """A metric of the cables to hosts, with the switch's port."""
    return f"truerail_link_{metric}{{{FABRIC}}} * on(fabric, host, nic) group_left(switch_port) {_DOWN}"


def _all_uplinks(metric: str) -> str:
    """A metric of the cables to switches above and below, with the other end."""
    one = f"truerail_uplink_{metric}{{{FABRIC}}} * on(fabric, switch, switch_port) group_left(peer, peer_port)"
    return f"({one} {_UP})\nor\n({one} {_BELOW})"


def _sums() -> tuple[Panel, ...]:
    def count(title: str, summary: str, test: str, colour: str) -> Panel:
        ours = f"({_down('state')}) or ({_all_uplinks('state')})"
        expr = f"sum by (fabric) (({ours}) {test})"
        return stat(title, summary, instant(fresh(expr)), unit="short", steps=none_is_right(colour), width=3)

    return (
        count("Wrong or missing", "Planned cables of this switch that are known to be bad, to hosts and to switches.",
              "> bool 1", WRONG),
        count("Not known", "Planned cables of this switch of which no device reports where they are plugged.",
              "== bool 1", UNKNOWN),
    )  # fmt: skip


def _findings() -> Panel:
    named = (
        f'sum by (fabric, rule, severity, muted) (truerail_device_findings{{{FABRIC}, switch="$switch"}})\n'
        f"* on(fabric, rule) group_left(name) truerail_rule_info{{{FABRIC}}}"
    )
    return table(
        "Findings on this switch",
        "What the rules find on this switch now, muted ones too. Its page in truerail has the evidence, the cause and "
        "the smallest repair. Empty: nothing is found; a rule that could not evaluate finds nothing either.",
        rows(named),
        columns=(Column("severity", mappings=coloured(("critical", "warning", "info"))), Column("rule", width=90),
                 Column("name"), Column("muted"), Column("Value", "findings")),
        unit="short", width=18, empty="nothing is found",
    )  # fmt: skip


def _hosts() -> Panel:
    expr = f"truerail_link_state{{{FABRIC}}} * on(fabric, host, nic) group_left(switch_port, rack) {_DOWN}"
    return table(
        "Ports to hosts",
        "Every cable that is planned from here to a host, the worst first. A spine has none.",
        rows(expr),
        columns=(Column("switch_port", "port"), Column("host", links=links.HOST), Column("nic"), Column("rail"),
                 Column("plane"), Column("rack"), Column("Value", "state", mappings=said(STATES))),
        unit="short", width=13, worst="state", empty="no cable to a host is planned here",
    )  # fmt: skip


def _uplinks() -> Panel:
    return table(
        "Cables to other switches",
        "Every cable that is planned from here to a switch above, and from a switch below to here, by its lower end; "
        "the worst first.",
        rows(_all_uplinks("state")),
        columns=(Column("switch", "lower switch"), Column("switch_port", "port"), Column("peer", "upper switch"),
                 Column("peer_port", "upper port"), Column("Value", "state", mappings=said(STATES))),
        unit="short", width=11, worst="state", empty="no cable to a switch is planned here",
    )  # fmt: skip


def _host_traffic() -> tuple[Panel, ...]:
    return tuple(
        lines(
            title, f"{summary} Means over a minute, one line for each port. A line below its neighbours is a "
            "straggler.",
            over_time(f"8 * {_down(metric)}", _PORT), unit="bps", low=0, width=12, empty="nothing is counted",
        )
        for title, metric, summary in (
            ("From hosts", "transmit_bytes_per_second", "What each host sends to this switch."),
            ("To hosts", "receive_bytes_per_second", "What this switch sends to each host."),
        )
    )  # fmt: skip


def _uplink_traffic() -> tuple[Panel, ...]:
    return tuple(
        lines(
            title, f"{summary} Means over a minute, one line for each cable. Uplinks of one leaf lie together "
            "where its "
            "hash spreads flows evenly; one at nothing while others are busy is a dead member.",
            over_time(f"8 * ({_all_uplinks(metric)})", _UPLINK), unit="bps", low=0, width=12,
            empty="nothing is counted",
        )
        for title, metric, summary in (
            ("Upwards", "transmit_bytes_per_second", "From the lower switch to the upper one."),
            ("Downwards", "receive_bytes_per_second", "From the upper switch to the lower one."),
        )
    )  # fmt: skip


def _held_up() -> tuple[Panel, ...]:
    return (
        verdicts(
            "Its hosts: verdict",
            "The worst finding on the traffic and the signal of each NIC that is planned on this switch. A spine has "
            "none.",
            TRAFFIC, _down("state"), _PORT, by="switch_port, host, nic",
        ),
        heat(
            "Hosts that pause this switch",
            "Share of time in which each host forbade its port here to send; the darker, the more. Much for long is "
            "where a PFC storm begins. Empty cells are not known.",
            over_time(_down("pause_sent_ratio"), _PORT),
            unit="percentunit", steps=AMOUNT, width=8, empty="nothing is counted",
        ),
        verdicts(
            "This switch: verdict",
            "The worst finding on the traffic of the switch itself: storms, drops, polarization, uplinks that are "
            "uneven or idle.",
            f"{TRAFFIC}|LBL00.|CAP001", _ITSELF, "{{switch}}", by="fabric, switch",
        ),
        lines(
            "Pause on cables to switches",
            "Share of time in which the upper switch let the lower one wait, the worst priority. A storm travels this "
            "way from leaf to leaf.",
            over_time(_all_uplinks("pause_received_ratio"), _UPLINK),
            unit="percentunit", low=0, width=12, empty="nothing is counted",
        ),
        lines(
            "Broken frames",
            "Broken frames per second on each cable, received by either end. Any that last are optics or cable.",
            over_time(_down("errors_per_second"), _PORT),
            over_time(_all_uplinks("errors_per_second"), _UPLINK),
            unit="cps", low=0, width=12, empty="nothing is counted",
        ),
    )  # fmt: skip
