"""SONiC's counters in its database: one JSON document of `sonic-db-dump`.

`COUNTERS_PORT_NAME_MAP` maps ports to object ids, `COUNTERS:oid:0x1...` contains a port's counters under SAI's names
(`saiport.h`), as strings. One Redis pattern matches both keys and, since ids of ports begin with 1 (their type in SAI),
none of the queues (0x15...). Unlike the command line, the database has bytes, pause durations, and values that are
independent of every user's `sonic-clear`.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from collector.formats.counts import Tally, count, words
from collector.formats.documents import unwrapped
from truerail.errors import UnreadableError
from truerail.model import Command, Counter, PortCounters

DUMP = Command("sonic-db-dump -n COUNTERS_DB -y -k 'COUNTERS[_:][Po][Oi][Rd][T:][_0][Nx][A1][M0]*'", ("sonic",))
"""Run once for all its parsers."""

_MAP = "COUNTERS_PORT_NAME_MAP"
_PORT = words(
    {
        "SAI_PORT_STAT_IF_IN_OCTETS": "rx_bytes",
        "SAI_PORT_STAT_IF_OUT_OCTETS": "tx_bytes",
        "SAI_PORT_STAT_IF_IN_ERRORS": "rx_errors",
        "SAI_PORT_STAT_IF_OUT_ERRORS": "tx_errors",
        "SAI_PORT_STAT_IF_IN_DISCARDS": "rx_discards",
        "SAI_PORT_STAT_IF_OUT_DISCARDS": "tx_discards",
        "SAI_PORT_STAT_IF_IN_FEC_CORRECTED_BITS": "corrected_bits",
        "SAI_PORT_STAT_IF_IN_FEC_CORRECTABLE_FRAMES": "fec_corrected",
        "SAI_PORT_STAT_IF_IN_FEC_NOT_CORRECTABLE_FRAMES": "fec_uncorrected",
        "SAI_PORT_STAT_IF_IN_FEC_SYMBOL_ERRORS": "fec_symbols",
        "SAI_PORT_STAT_PAUSE_RX_PKTS": "rx_global_pause_frames",
        "SAI_PORT_STAT_PAUSE_TX_PKTS": "tx_global_pause_frames",
    }
)
_PACKETS = {
    "SAI_PORT_STAT_IF_IN_UCAST_PKTS": Counter("rx_packets"),
    "SAI_PORT_STAT_IF_IN_NON_UCAST_PKTS": Counter("rx_packets"),
    "SAI_PORT_STAT_IF_OUT_UCAST_PKTS": Counter("tx_packets"),
    "SAI_PORT_STAT_IF_OUT_NON_UCAST_PKTS": Counter("tx_packets"),
}
_PFC = re.compile(r"(SAI|EST)_PORT_STAT_PFC_([0-7])_(\w+)")
_PFC_NAMES = {
    "RX_PKTS": "rx_pause_frames",
    "TX_PKTS": "tx_pause_frames",
    "RX_PAUSE_DURATION_US": "rx_pause_us",
    "TX_PAUSE_DURATION_US": "tx_pause_us",
    "ON2OFF_RX_PKTS": "rx_pause_transitions",
}


def port_from_dump(answer: str) -> list[PortCounters] | None:
    """Counters of every port over all priorities. Raises `UnreadableError`."""
    if _MAP not in answer:
        return None
    tally = Tally()
    for port, values in _ports(answer):
        for name, value in values.items():
            if name in _PORT:
                tally.note(port, _PORT[name], count(value))
            elif name in _PACKETS:
                tally.add(port, _PACKETS[name], count(value))
    return tally.some()


def pfc_from_dump(answer: str) -> list[PortCounters] | None:
    """Counters of every port by priority, measured rather than estimated where both are reported. Raises
    `UnreadableError`."""
    if _MAP not in answer:
        return None
    tally = Tally()
    for port, values in _ports(answer):
        for name in sorted(name for name in values if name[4:18] == "PORT_STAT_PFC_"):
            if counter := _pfc(name):
                tally.note(port, counter, count(values[name]))
    return tally.some()


@lru_cache(maxsize=1024)
def _pfc(name: str) -> Counter | None:
    """Estimates (EST) sort first, so measured values replace them."""
    found = _PFC.fullmatch(name)
    return Counter(_PFC_NAMES[found[3]], int(found[2])) if found and found[3] in _PFC_NAMES else None


def _ports(answer: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each port and the database entry of its object. A port without an entry has no counters yet."""
    database = unwrapped(answer)
    names = _hash(database, _MAP)
    if not names:
        raise UnreadableError("no port in COUNTERS_PORT_NAME_MAP: several ASICs have databases of their own")
    for port, oid in names.items():
        yield port, _hash(database, f"COUNTERS:{oid}")


def _hash(database: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    entry = database.get(key, {})
    found = entry.get("value", entry)
    if not isinstance(found, dict):
        raise UnreadableError("not a hash of the database", text=key)
    return found
