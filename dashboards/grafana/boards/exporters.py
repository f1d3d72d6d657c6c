"""What node_exporter and dcgm-exporter say of a host, each NIC with its rail, each GPU with the state of its cable.

Names of metrics and labels: https://github.com/prometheus/node_exporter (infiniband, ethtool) and
https://github.com/NVIDIA/dcgm-exporter. Their targets carry `host` where Prometheus finds them by truerail's `/sd`.
"""

from typing import Final

from grafana_foundation_sdk.models.dashboard import Panel

from dashboards.grafana.layout import Row
from dashboards.grafana.panels import lines
from dashboards.grafana.queries import FABRIC, over_time

EMPTY: Final = "not scraped"
_HERE: Final = 'host="$host"'
_NIC: Final = "rail {{rail}} {{device}}"
_RAIL: Final = (
    "* on(host, device, port) group_left(rail, nic) "
    f'max by (host, device, port, rail, nic) (truerail_link_info{{{FABRIC}, {_HERE}, device!=""}})'
)
_NETDEV: Final = (
    "* on(host, device) group_left(rail, nic) "
    f'max by (host, device, rail, nic) (label_join(truerail_link_info{{{FABRIC}, {_HERE}, netdev!=""}}, '
    '"device", "", "netdev"))'
)


def exporter_rows() -> tuple[Row, ...]:
    """Rows of a host's board; a panel whose exporter is not scraped says so."""
    return (
        Row("NICs, as node_exporter counts them (where it is scraped)", 8, (*_infiniband(), *_ethtool())),
        Row("GPUs, as dcgm-exporter sees them (where it is scraped)", 8, _gpus()),
    )


def _infiniband() -> tuple[Panel, ...]:
    def per_second(metric: str) -> str:
        return f"rate({metric}{{{_HERE}}}[$__rate_interval]) {_RAIL}"

    return (
        lines(
            "RDMA sent (node_exporter)",
            "What each RDMA device sent, counted on the host. It says the same as truerail's own counters; where they "
            "differ, one of them reads another device.",
            over_time(f"8 * {per_second('node_infiniband_port_data_transmitted_bytes_total')}", _NIC),
            unit="bps", low=0, empty=EMPTY,
        ),
        lines(
            "Symbol errors and lost links (node_exporter)",
            "Symbol errors per second, and links lost per second. Anything but 0 that lasts is the cable or its "
            "optics.",
            over_time(per_second("node_infiniband_symbol_error_total"), f"symbol errors {_NIC}"),
            over_time(per_second("node_infiniband_link_downed_total"), f"link lost {_NIC}"),
            unit="cps", low=0, empty=EMPTY,
        ),
        lines(
            "Time in which a port had to wait (node_exporter)",
            "Ticks per second in which a port had data to send and was not let: pressure from the fabric, on "
            "InfiniBand.",
            over_time(per_second("node_infiniband_port_transmit_wait_total"), _NIC),
            unit="cps", low=0, empty=EMPTY,
        ),
    )  # fmt: skip


def _ethtool() -> tuple[Panel, ...]:
    paused = f"rate(node_ethtool_received_prio3_pause{{{_HERE}}}[$__rate_interval])"
    return (
        lines(
            "Pause frames received, priority 3 (node_exporter)",
            "Pause frames per second that each NIC received on priority 3, the usual one of RoCE, from the ethtool "
            "collector, which node_exporter runs only where it is asked to.",
            over_time(f"{paused} {_NETDEV}", _NIC),
            unit="cps", low=0, empty=EMPTY,
        ),
    )  # fmt: skip


def _gpus() -> tuple[Panel, ...]:
    def gpu(title: str, summary: str, metric: str, unit: str, width: int = 6) -> Panel:
        query = over_time(f"max by (gpu) ({metric}{{{_HERE}}})", "GPU {{gpu}}")
        return lines(title, summary, query, unit=unit, low=0, empty=EMPTY, width=width)

    behind = (
        f"max by (gpu) (DCGM_FI_DEV_POWER_USAGE{{{_HERE}}} and on(host, gpu) "
        f'(truerail_link_info{{{FABRIC}, {_HERE}, gpu!=""}} and on(fabric, host, nic) '
        f"truerail_link_state{{{FABRIC}, {_HERE}}} > 0))"
    )
    return (
        gpu("GPU load", "Share of time in which each GPU computed. GPUs that wait for one another fall together.",
            "DCGM_FI_DEV_GPU_UTIL", "percent"),
        gpu("GPU power", "What each GPU draws. A job that hangs in a collective draws little at full load.",
            "DCGM_FI_DEV_POWER_USAGE", "watt"),
        gpu("GPU errors", "The newest XID error of each GPU, 0 for none: NVIDIA's list says what each number means.",
            "DCGM_FI_DEV_XID_ERRORS", "none"),
        lines(
            "Power of GPUs behind a cable that is not right",
            "GPUs that work although their nearest NIC's cable is not known to be right: their traffic takes another "
            "rail. Empty where every cable is right, or dcgm-exporter is not scraped.",
            over_time(behind, "GPU {{gpu}}"),
            unit="watt", low=0, empty="none, or not scraped",
        ),
    )  # fmt: skip
