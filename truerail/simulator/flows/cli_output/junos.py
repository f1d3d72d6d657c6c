"""What Junos prints: `show interfaces extensive | display json`, where every value is a list of one object."""

from json import dumps
from typing import Any

from truerail.simulator.flows.cli_output.counter_table import CounterTable
from truerail.simulator.flows.ledger import Key, Q

_GROUPS: dict[str, tuple[tuple[str, Key], ...]] = {
    "ethernet-mac-statistics": (
        ("input-bytes", (Q.RX_BYTES, False)),
        ("output-bytes", (Q.TX_BYTES, False)),
        ("input-packets", (Q.RX_PACKETS, False)),
        ("output-packets", (Q.TX_PACKETS, False)),
    ),
    "input-error-list": (("input-errors", (Q.RX_ERRORS, False)), ("input-drops", (Q.RX_DISCARDS, False))),
    "output-error-list": (("carrier-transitions", (Q.LINK_DOWNS, False)), ("output-drops", (Q.TX_DISCARDS, False))),
    "ethernet-fec-statistics": (
        ("fec_ccw_count", (Q.FEC_CORRECTED, False)),
        ("fec_nccw_count", (Q.FEC_UNCORRECTED, False)),
    ),
}
_PFC: tuple[tuple[str, Key], ...] = (
    ("input-mac-pfc-frames", (Q.RX_PAUSE_FRAMES, True)),
    ("output-mac-pfc-frames", (Q.TX_PAUSE_FRAMES, True)),
)
_QUEUE: tuple[tuple[str, Key], ...] = (
    ("queue-counters-trans-packets", (Q.TX_PACKETS, True)),
    ("queue-counters-trans-bytes", (Q.TX_BYTES, True)),
    ("queue-counters-total-drop-packets", (Q.QUEUE_DROPS, True)),
)
Data = list[dict[str, str]]


def extensive(sheet: CounterTable) -> str:
    """Every port with what its MAC counted, its pause frames by priority and its queues."""
    names = {*_PFC, *_QUEUE, *(name for group in _GROUPS.values() for name in group)}
    columns = {name: sheet.of(key[0], rdma=key[1]) for name, key in names}
    ports = [
        _port(sheet, port, {name: values[n] for name, values in columns.items()}) for n, port in enumerate(sheet.ports)
    ]
    return dumps({"interface-information": [{"physical-interface": ports}]}, indent=2) + "\n"


def _port(sheet: CounterTable, port: str, reported: dict[str, int]) -> dict[str, Any]:
    groups = {name: [_values(words, reported)] for name, words in _GROUPS.items()}
    return {
        "name": _data(port),
        **groups,
        "ethernet-mac-pfc-statistics": [{"mac-pfc-dot1p": _data(sheet.priority), **_values(_PFC, reported)}],
        "queue-counters": [{"queue": [{"queue-number": _data(sheet.priority), **_values(_QUEUE, reported)}]}],
    }


def _values(words: tuple[tuple[str, Key], ...], reported: dict[str, int]) -> dict[str, Data]:
    return {name: _data(reported[name]) for name, _ in words}


def _data(value: object) -> Data:
    return [{"data": str(value)}]
