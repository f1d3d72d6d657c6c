"""What Arista EOS' ports have counted: `show interfaces [counters [errors]] | json`.

Each port has an object of counters, in `show interfaces` one level down (`interfaceCounters`) with details of the
errors inside. `linkStatusChanges` counts ups and downs alike, so it is kept under its own name, which tells rules that.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from collector._tally import Tally, count, own, summed, words
from truerail.model import Counter, PortCounters, Unreadable

KEYS = frozenset({"interfaces", "interfaceErrorCounters"})

_NAMES = words(
    {
        "inOctets": "rx_bytes",
        "outOctets": "tx_bytes",
        "inDiscards": "rx_discards",
        "outDiscards": "tx_discards",
        "inErrors": "rx_errors",
        "outErrors": "tx_errors",
        "totalInErrors": "rx_errors",
        "totalOutErrors": "tx_errors",
        "fcsErrors": "crc_errors",
        "symbolErrors": "symbol_errors",
        "rxPause": "rx_global_pause_frames",
        "txPause": "tx_global_pause_frames",
    }
)
_OWN = frozenset(
    {"alignmentErrors", "frameTooLongs", "frameTooShorts", "linkStatusChanges", "runtFrames", "giantFrames"}
)
_PACKETS = {Counter(f"{way}_packets"): [f"{of}{cast}Pkts" for cast in ("Ucast", "Multicast", "Broadcast")]
            for way, of in (("rx", "in"), ("tx", "out"))}  # fmt: skip
_INSIDE = ("interfaceCounters", "inputErrorsDetail", "outputErrorsDetail")


def from_json(found: Mapping[str, Any]) -> list[PortCounters]:
    """What the ports in this document counted. Raises `Unreadable` where it has no counters of any."""
    tally = Tally()
    for key in sorted(KEYS & found.keys()):
        for port, told in found[key].items():
            for name, value in _flat(told):
                counter = _NAMES.get(name) or (own(name) if name in _OWN else None)
                if counter:
                    tally.note(port, counter, count(value))
            _note_packets(tally, port, dict(_flat(told)))
    return tally.some()


def _flat(told: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The counters of a port, those of the levels below included."""
    if not isinstance(told, dict):
        raise Unreadable("not a port and its counters", text=str(told)[:60])
    for name, value in told.items():
        if name in _INSIDE:
            yield from _flat(value)
        else:
            yield name, value


def _note_packets(tally: Tally, port: str, told: Mapping[str, Any]) -> None:
    for counter, casts in _PACKETS.items():
        tally.note(port, counter, summed(count(told.get(cast)) for cast in casts))
