"""Metrics of traffic on links and uplinks: means over the newest whole minute of the counters."""

from typing import Final, NamedTuple

from truerail.outputs.metrics.declaring import LINK, PREFIX, UPLINK, Declared, gauge


class Figure(NamedTuple):
    """A measured value of a cable: its name in `Traffic`, and its metric for hosts' links and for uplinks."""

    field: str
    link: Declared
    uplink: Declared


def _figure(field: str, name: str, unit: str, link: str, uplink: str, query: str) -> Figure:
    return Figure(
        field,
        gauge(f"link_{name}", unit, LINK, link, query.format(f"{PREFIX}link_{name}")),
        gauge(f"uplink_{name}", unit, UPLINK, uplink, query.format(f"{PREFIX}uplink_{name}")),
    )


_SHARE = "of the priority with most of it. None where only pause frames are counted: they do not give the time."

FIGURES: Final = (
    _figure(
        "speed", "speed_bytes_per_second", "bytes/s",
        "What a host's link can carry each way, as either end says, else as planned.",
        "What a cable between switches can carry each way, as either end says, else as planned.",
        "sum by (fabric) ({0})",
    ),
    _figure(
        "sent", "transmit_bytes_per_second", "bytes/s",
        "What the host sends to its leaf, by whichever end counts more.",
        "What the lower switch sends up, by whichever end counts more.",
        "topk(5, {0})",
    ),
    _figure(
        "received", "receive_bytes_per_second", "bytes/s",
        "What the leaf sends to its host, by whichever end counts more.",
        "What the upper switch sends down, by whichever end counts more.",
        "topk(5, {0})",
    ),
    _figure(
        "pause_received", "pause_received_ratio", "0..1",
        f"Share of time in which the leaf paused the host's NIC, {_SHARE}",
        f"Share of time in which the upper switch paused the lower one, {_SHARE}",
        "{0} > 0.05",
    ),
    _figure(
        "pause_sent", "pause_sent_ratio", "0..1",
        f"Share of time in which the host's NIC paused its leaf, {_SHARE}",
        f"Share of time in which the lower switch paused the upper one, {_SHARE}",
        "{0} > 0.05",
    ),
    _figure(
        "marked", "ecn_marked_ratio", "0..1",
        "Share of the RoCE packets that the host receives which are marked as congested.",
        "Share of RoCE packets that the switch at either end marks as congested, of the direction with more.",
        "{0} > 0.01",
    ),
    _figure(
        "broken", "errors_per_second", "frames/s",
        "Broken frames that host and leaf receive from each other.",
        "Broken frames that both switches receive from each other.",
        "{0} > 0",
    ),
)  # fmt: skip
LINKS_COUNTED = gauge(
    "links_counted", "cables", "fabric pod rail plane",
    "Planned cables of hosts of which either end reported in that minute what they carry.",
    "sum(truerail_links_counted) / sum(truerail_links)",
)  # fmt: skip
UPLINKS_COUNTED = gauge(
    "uplinks_counted", "cables", "fabric pod",
    "Planned cables between switches of which either end reported in that minute what they carry.",
    "sum(truerail_uplinks_counted) / sum(truerail_uplinks)",
)  # fmt: skip
UPLINK_PEAK = gauge(
    "switch_uplink_peak_ratio", "ratio", "fabric pod switch",
    "Load of a switch's busiest uplink over the mean of its uplinks, over the minutes that rules evaluate. 1 is even.",
    "topk(5, truerail_switch_uplink_peak_ratio)",
)  # fmt: skip
UPLINK_PEAK_EXPECTED = gauge(
    "switch_uplink_peak_expected_ratio", "ratio", "fabric pod switch",
    "What a fair hash of the fewest flows that the switch can carry exceeds in one case of a hundred. None where "
    "nothing bounds the flows, or the fabric does not hash them.",
    "truerail_switch_uplink_peak_ratio > truerail_switch_uplink_peak_expected_ratio",
)  # fmt: skip
UPLINK_BALANCE = gauge(
    "switch_uplink_balance_state", "state", "fabric pod switch",
    "What the rules say of it: 0 as even as its flows allow, 1 unknown, 2 uneven (LBL002) or an uplink idle (LBL003), "
    "3 polarized (LBL001).",
    "truerail_switch_uplink_balance_state > 1",
)  # fmt: skip
