"""Port counters of Junos: `show interfaces extensive` in JSON, XML and text, read once for ports, PFC and queues.

Every value is a list of one object, `[{"data": "3"}]`, in XML a list of one text. The MAC's counters
(`ethernet-mac-statistics`) are those of the wire; `traffic-statistics` replaces them where they are missing.
`carrier-transitions` counts losses of the carrier.
"""

from collections.abc import Callable, Mapping
from typing import Any

from collector import _junos_text
from collector._answer import lines
from collector._documents import listed
from collector._tally import Tally, count, priority, words
from truerail.model import Counter, PortCounters

KEY = _junos_text.KEY
_SIGN = "Physical interface: "

_TRAFFIC = {
    "input-bytes": "rx_bytes",
    "output-bytes": "tx_bytes",
    "input-packets": "rx_packets",
    "output-packets": "tx_packets",
}
_GROUPS = {
    "traffic-statistics": words(_TRAFFIC),
    "ethernet-mac-statistics": words(
        {
            **_TRAFFIC,
            "input-crc-errors": "crc_errors",
            "input-mac-pause-frames": "rx_global_pause_frames",
            "output-mac-pause-frames": "tx_global_pause_frames",
        }
    ),
    "input-error-list": words({"input-errors": "rx_errors", "input-drops": "rx_discards"}),
    "output-error-list": words(
        {"carrier-transitions": "link_downs", "output-errors": "tx_errors", "output-drops": "tx_discards"}
    ),
    "ethernet-fec-statistics": words({"fec_ccw_count": "fec_corrected", "fec_nccw_count": "fec_uncorrected"}),
}
_PFC = {"input-mac-pfc-frames": "rx_pause_frames", "output-mac-pfc-frames": "tx_pause_frames"}
_QUEUE = {
    "queue-counters-trans-packets": "queue_packets",
    "queue-counters-trans-bytes": "queue_bytes",
    "queue-counters-total-drop-packets": "queue_drops",
}


def of_text(answer: str) -> Mapping[str, Any] | None:
    """The counters in an answer of text, as the tree of Junos' JSON; None if there are none."""
    return _junos_text.tree(lines(answer)) if _SIGN in answer else None


def port_counters(found: Mapping[str, Any]) -> list[PortCounters]:
    """Counters of every port over all priorities."""
    return _tallied(found, _note_port)


def pfc_counters(found: Mapping[str, Any]) -> list[PortCounters]:
    """The pause frames of every port by priority."""
    return _tallied(found, _note_pfc)


def queue_counters(found: Mapping[str, Any]) -> list[PortCounters]:
    """Packets that every queue sent and dropped."""
    return _tallied(found, _note_queues)


def _tallied(found: Mapping[str, Any], note: Callable[[Tally, str, Mapping[str, Any]], None]) -> list[PortCounters]:
    tally = Tally()
    for information in listed(found[KEY]):
        for interface in listed(information.get("physical-interface")):
            note(tally, str(_data(interface["name"])), interface)
    return tally.some()


def _note_port(tally: Tally, port: str, interface: Mapping[str, Any]) -> None:
    for group, names in _GROUPS.items():
        for values in listed(interface.get(group)):
            for word, counter in names.items():
                tally.note(port, counter, count(_data(values.get(word))))


def _note_pfc(tally: Tally, port: str, interface: Mapping[str, Any]) -> None:
    _note_by_priority(tally, port, listed(interface.get("ethernet-mac-pfc-statistics")), "mac-pfc-dot1p", _PFC)


def _note_queues(tally: Tally, port: str, interface: Mapping[str, Any]) -> None:
    for group in listed(interface.get("queue-counters")):
        if "Ingress queues" not in str(group.get("interface-cos-short-summary")):
            _note_by_priority(tally, port, listed(group.get("queue")), "queue-number", _QUEUE)


def _note_by_priority(
    tally: Tally, port: str, rows: list[Mapping[str, Any]], key: str, names: Mapping[str, str]
) -> None:
    for row in rows:
        of = priority(_data(row.get(key)))
        for word, name in names.items() if of is not None else ():
            tally.note(port, Counter(name, of), count(_data(row.get(word))))


def _data(value: Any) -> Any:
    """The value in `[{"data": value}]`; some exports omit the wrapper."""
    for one in listed(value):
        return one.get("data") if isinstance(one, dict) else one
    return None
