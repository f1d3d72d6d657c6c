"""One host: each GPU, its NIC, its cable and its leaf, what they carry, and what is wrong."""

from typing import Final

from grafana_foundation_sdk.models.dashboard import Panel

from dashboards.grafana import links
from dashboards.grafana.boards.exporters import exporter_rows
from dashboards.grafana.layout import Board, Row
from dashboards.grafana.palette import STATES, UNKNOWN, WRONG, coloured, none_is_right, said
from dashboards.grafana.panels import Column, history, lines, stat, table
from dashboards.grafana.queries import FABRIC, fresh, instant, over_time, rows
from dashboards.grafana.variables import host, pod
from dashboards.grafana.verdicts import NIC, verdicts

ONE: Final = f'{FABRIC}, host="$host"'
"""The host that is chosen. Its name is unique in a fabric, whatever pods are chosen."""
_NIC: Final = "rail {{rail}} {{nic}}"
TRAFFIC: Final = "PFC00.|ECN001|INC001|RAL00.|LNK00.|NIC00[45]"
"""The rules on what a NIC carries, and on what keeps it from doing so."""
_OWN: Final = {0: ("another GPU's", WRONG), 1: ("its own", "green")}


def board() -> Board:
    """The board."""
    return Board(
        "host",
        "Host",
        "One host from its GPUs to its leaves: where every cable belongs and is, what it carries, what is found.",
        (pod(), host()),
        (
            Row("Is it right?", 5, (*_sums(), _states())),
            Row("From GPU to leaf", 9, (_cables(), _gpus())),
            Row("What is wrong?", 7, (_findings(),)),
            Row("What does it carry?", 8, _traffic()),
            Row("Is it held up?", 8, _held_up()),
            *exporter_rows(),
        ),
        page="/hosts/${host:percentencode}",
        shows_jobs=True,
    )


def _sums() -> tuple[Panel, ...]:
    one = f'truerail_host_links{{{ONE}, state="%s"}}'
    bad = f'sum by (fabric) (truerail_host_links{{{ONE}, state=~"wrong|missing"}})'
    return (
        stat(
            "Cables right",
            "How many of the host's planned cables are known to be right.",
            instant(fresh(f"sum by (fabric) ({one % 'right'}) / sum by (fabric) (truerail_host_links{{{ONE}}})")),
            unit="percentunit", steps=((0, WRONG), (1, "green")), low=0, high=1, width=3,
        ),
        stat(
            "Wrong or missing",
            "Cables that are known to be bad: each takes a rail from every job on the host.",
            instant(fresh(bad)),
            unit="short", steps=none_is_right(WRONG), width=3,
        ),
        stat(
            "Not known",
            "Cables without data on where they are plugged: the host does not answer or hears no neighbour, and "
            "neither does its leaf.",
            instant(fresh(f"sum by (fabric) ({one % 'unknown'})")),
            unit="short", steps=none_is_right(UNKNOWN), width=3,
        ),
    )  # fmt: skip


def _states() -> Panel:
    return history(
        "Its cables over time",
        "How each cable stood: right, unknown, missing or wrong. A gap is a time in which truerail itself "
        "said nothing.",
        over_time(f"truerail_link_state{{{ONE}}}", _NIC),
        unit="short", mappings=said(STATES), width=15,
    )  # fmt: skip


def _cables() -> Panel:
    planned = (
        f"truerail_link_state{{{ONE}}} * on(fabric, host, nic) "
        "group_left(switch, switch_port, netdev, device, pci_bus_id, gpu) truerail_link_info"
        f"{{{FABRIC}}}"
    )
    seen = f"truerail_link_actual_info{{{ONE}}}"
    return table(
        "Cables",
        "Every cable by rail: nearest GPU, NIC as the plan and as the host name it, the port where it belongs, how it "
        "stands, and where a wrong one actually is: `move` it, move `none` (only names are wrong), or `decide` "
        "first. Names are empty where the host did not report them; a GPU is shown only where one alone is nearest.",
        rows(planned), rows(seen),
        columns=(Column("rail"), Column("plane"), Column("gpu", "GPU"), Column("nic"), Column("netdev"),
                 Column("device"), Column("pci_bus_id", "PCI"), Column("switch", links=links.SWITCH),
                 Column("switch_port", "port"), Column("Value #A", "state", mappings=said(STATES)),
                 Column("actual_switch", "actual switch"), Column("actual_switch_port", "actual port"),
                 Column("actual_rail", "of rail"), Column("action", "what to do")),
        unit="short", width=18,
    )  # fmt: skip


def _gpus() -> Panel:
    return table(
        "GPUs and their NICs",
        "Whether each GPU's nearest NIC is on the GPU's own rail. One that is not sends through another socket or "
        "switch: look at the order of GPUs and NICs on the host. Empty: not reported by the host.",
        rows(f"truerail_gpu_nic_affinity{{{ONE}}}"),
        columns=(Column("gpu", "GPU"), Column("nic", "nearest NIC"), Column("rail"),
                 Column("Value", "rail is", mappings=said(_OWN))),
        unit="short", width=6, empty="not reported by the host",
    )  # fmt: skip


def _findings() -> Panel:
    named = (
        f"sum by (fabric, rule, severity, rail, plane, nic, muted) (truerail_device_findings{{{ONE}}})\n"
        f"* on(fabric, rule) group_left(name) truerail_rule_info{{{FABRIC}}}"
    )
    return table(
        "Findings on this host",
        "What the rules find on this host now, muted ones too. The host's page in truerail has the evidence, the cause "
        "and the smallest repair. Empty: nothing is found; a rule that could not evaluate finds nothing either.",
        rows(named),
        columns=(Column("severity", mappings=coloured(("critical", "warning", "info"))), Column("rule", width=90),
                 Column("name"), Column("rail"), Column("plane"), Column("nic"), Column("muted"),
                 Column("Value", "findings")),
        unit="short", width=24, empty="nothing is found",
    )  # fmt: skip


def _traffic() -> tuple[Panel, ...]:
    sent, heard = (f"truerail_link_{way}_bytes_per_second{{{ONE}}}" for way in ("transmit", "receive"))
    return (
        lines(
            "Sent by each NIC",
            "From the host to its leaves, means over a minute. In a job that uses all rails the lines lie on each "
            "other; one below is a straggler that holds up the others.",
            over_time(f"8 * {sent}", _NIC),
            unit="bps", low=0, width=8,
        ),
        lines(
            "Received by each NIC",
            "From the leaves to the host, means over a minute, by whichever end counts.",
            over_time(f"8 * {heard}", _NIC),
            unit="bps", low=0, width=8,
        ),
        lines(
            "Share of the speed",
            "The busier direction of each cable, of its speed as reported, else as planned. A cable that is full "
            "while the "
            "others are not is the slow one: look for half speed.",
            over_time(f"({sent} > {heard} or {heard}) / truerail_link_speed_bytes_per_second{{{ONE}}}", _NIC),
            unit="percentunit", low=0, high=1, width=8,
        ),
    )  # fmt: skip


def _held_up() -> tuple[Panel, ...]:
    def share(title: str, metric: str, summary: str) -> Panel:
        query = over_time(f"truerail_link_{metric}_ratio{{{ONE}}}", _NIC)
        return lines(title, summary, query, unit="percentunit", low=0, width=8)

    return (
        verdicts("Its NICs: verdict", "The worst finding on the traffic and the signal of each NIC: pauses, marks, "
                 "incast, balance of the rails, errors, optics, PCIe.", TRAFFIC, f"truerail_link_state{{{ONE}}}", _NIC,
                 by=NIC),
        share("Paused by its leaf", "pause_received", "Share of time in which the leaf forbade the NIC to send: the "
              "fabric behind is congested. The worst priority."),
        share("Pauses its leaf", "pause_sent", "Share of time in which the NIC forbade its leaf to send: the host does "
              "not take what it gets. A slow receiver, and where it lasts the source of a PFC storm."),
        share("ECN-marked", "ecn_marked", "Share of the RoCE packets received that a switch on the way marked: they "
              "waited in a queue. Some is how ECN works; much is congestion."),
        lines(
            "Broken frames",
            "Frames per second that either end of a cable received broken. Any that last are a dirty or dying optic, "
            "or a bad cable.",
            over_time(f"truerail_link_errors_per_second{{{ONE}}}", _NIC),
            unit="cps", low=0, width=16,
        ),
    )  # fmt: skip
