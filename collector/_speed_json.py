"""Ports and their speeds in JSON: EOS, NX-OS, Junos, NVUE, and the models of `collector/_port_models.py`.

- EOS: `interfaceStatuses` of `show interfaces status`, `interfaces` of `show interfaces`. `bandwidth` is in b/s, 0 for
  a virtual port. Some releases store 32 bits of it (100 Gb/s became 1215752192): a value that is no whole number of
  Mb/s is discarded. Sources: recorded answers in arista-netdevops-community's ANTA and on GitHub.
- NX-OS: `TABLE_interface` of `show interface status`, whose `speed` has no unit below 10 Gb/s (`1000`), and of
  `show interface`, whose `eth_bw` is the configured speed and is not read. `state_rsn_desc` is the reason that the text
  has in brackets. Sources: napalm's recordings, answers of NX-API quoted in public clients.
- Junos: `interface-information`; every value is a list of one object. Source: suzieq's recordings.
- NVUE: ports with a `link`. Its `state` is an object (`{"up": {}}`) up to Cumulus Linux 5.10, later a word, beside
  `oper-status` and `admin-status`. Source: NVUE's reference of `nv show interface`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from collector import _port_models
from collector._documents import listed
from collector._port_words import of_word, of_words
from collector._speed_status import PortStatus, gbps, status
from truerail.errors import UnreadableError

_BITS_IN_GIGABIT = 1e9
_MEGABIT = 1_000_000
_LONGEST = 20
"""More digits than any valid number has."""


def statuses(found: Any) -> list[PortStatus]:
    """The ports in a document, in its order. Raises `UnreadableError` if it is about something else."""
    if _port_models.is_model(found):
        return _port_models.statuses(found)
    if isinstance(found, dict):
        for key, read in _READERS.items():
            if key in found:
                return list(read(found[key]))
        if any(isinstance(reported, dict) and isinstance(reported.get("link"), dict) for reported in found.values()):
            return list(_nvue(found))
    raise UnreadableError("JSON that does not speak of ports and their links")


def _eos(ports: Mapping[str, Any]) -> Iterator[PortStatus]:
    for port, reported in ports.items():
        bits = _count(reported.get("bandwidth"))
        whole = bits > 0 and bits % _MEGABIT == 0
        word = reported.get("linkStatus", reported.get("interfaceStatus"))
        yield status(port, of_word(word, reported.get("interfaceType")), bits / _BITS_IN_GIGABIT if whole else None)


def _nxos(table: Any) -> Iterator[PortStatus]:
    for part in listed(table):
        for row in listed(part["ROW_interface"]):
            word, why = row.get("state"), row.get("state_rsn_desc")
            state = of_words(word, row.get("admin_state"), why) if word in ("up", "down") else of_word(word)
            yield status(row["interface"], state, gbps(row.get("eth_speed", row.get("speed"))))


def _junos(found: Any) -> Iterator[PortStatus]:
    for information in listed(found):
        for port in listed(information.get("physical-interface")):
            state = of_words(_data(port.get("oper-status")), _data(port.get("admin-status")))
            yield status(_data(port["name"]).strip(), state, gbps(_data(port.get("speed"))))


def _data(value: Any) -> str:
    """The text in `[{"data": text}]`; some exports omit the wrapper."""
    reported = next(iter(listed(value)), None)
    return str(reported.get("data") if isinstance(reported, dict) else reported)


def _nvue(ports: Mapping[str, Any]) -> Iterator[PortStatus]:
    for port, reported in ports.items():
        at = reported.get("link") or {}
        state = at.get("oper-status", at.get("state"))
        word = next(iter(state), None) if isinstance(state, dict) else state
        state = of_words(word, at.get("admin-status"))
        yield status(port, state, gbps(at.get("speed")), _count(at.get("mtu")) or None)


def _count(value: Any) -> int:
    """A number, which some exports quote; 0 if there is none."""
    if type(value) is str and value.isascii() and value.isdecimal() and len(value) < _LONGEST:
        return int(value)
    return value if type(value) is int else 0


_READERS = {
    "interfaceStatuses": _eos,
    "interfaces": _eos,
    "TABLE_interface": _nxos,
    "interface-information": _junos,
}
