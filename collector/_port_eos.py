"""Port counters of Arista EOS: `show interfaces [counters [errors]] | json`.

Each port has an object of counters, in `show interfaces` one level down (`interfaceCounters`) with details of the
errors inside. `linkStatusChanges` counts both ups and downs, so it keeps its own name for rules to distinguish.
`counterRefreshTime` is when the switch refreshed a port's counters, each port at its own time, by the switch's clock:
the difference to the newest port's is the age of a port's counters.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from collector._tally import Tally, count, own, summed, words
from truerail.errors import UnreadableError
from truerail.model import Counter, PortCounters

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
OLDEST_SECONDS = 60.0
"""Ports refreshed longer ago are not in use: the age of their counters is unknown."""
LATEST_SECONDS = 1e11
"""Latest plausible time in Unix seconds; larger numbers are no times."""
_INSIDE = ("interfaceCounters", "inputErrorsDetail", "outputErrorsDetail")


def from_json(found: Mapping[str, Any]) -> list[PortCounters]:
    """Counters of the ports in this document. Raises `UnreadableError` if it has none."""
    tally = Tally()
    for key in sorted(KEYS & found.keys()):
        for port, reported in found[key].items():
            for name, value in _flat(reported):
                counter = _NAMES.get(name) or (own(name) if name in _OWN else None)
                if counter:
                    tally.note(port, counter, count(value))
            _note_packets(tally, port, dict(_flat(reported)))
    facts = tally.some()
    renewed = {port: at for port, reported in _ports(found) if (at := _refreshed(reported)) is not None}
    newest = max(renewed.values(), default=0.0)
    ages = {port: newest - at for port, at in renewed.items() if 0 < newest - at <= OLDEST_SECONDS}
    return [fact._replace(lag_seconds=ages[fact.port]) if fact.port in ages else fact for fact in facts]


def _ports(found: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for key in KEYS & found.keys():
        yield from found[key].items()


def _refreshed(reported: Mapping[str, Any]) -> float | None:
    """When the switch refreshed a port's counters, in Unix seconds by its clock; None if not reported."""
    at = dict(_flat(reported)).get("counterRefreshTime")
    return float(at) if isinstance(at, (int, float)) and 0 < at < LATEST_SECONDS else None


def _flat(reported: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The counters of a port, including nested ones."""
    if not isinstance(reported, dict):
        raise UnreadableError("not a port and its counters", text=str(reported)[:60])
    for name, value in reported.items():
        if name in _INSIDE:
            yield from _flat(value)
        else:
            yield name, value


def _note_packets(tally: Tally, port: str, reported: Mapping[str, Any]) -> None:
    for counter, casts in _PACKETS.items():
        tally.note(port, counter, summed(count(reported.get(cast)) for cast in casts))
