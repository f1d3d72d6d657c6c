"""A port's state, speed and reason from the words of any network OS."""

import re
from typing import Any, NamedTuple

from truerail.model import DownReason

# ----------------------------------------------------------------------------------------------------------------------
# Network OSes' words for a port's state in one table: what each means for link, admin state and reason.
#
# - up: `connected` (EOS, NX-OS), `up`
# - administratively down: `disabled`, `port-admin-disabled` (SR Linux), `Administratively down`, `*down` (VRP),
#   `Channel admin down`, admin `down`, ifAdminStatus 2
# - no module: `xcvrAbsent`, `sfpAbsent`, `XCVR not inserted`, `SFP not inserted`, `SFP not present`, `No XCVR
#   installed` (AOS-CX), the type `Not Present` (EOS) or `N/A` (SONiC), ifOperStatus 6
# - no light, or no cable: `Link not connected`, `Link failure`, `The optical power is too low` (VRP), `notconnect`
#   beside a module's type
# - shut by the switch after an error: `errdisabled`, `err-disabled`, `linkFlapErrDisabled` and the like
# - module not accepted: `SFP validation failed`, `Transceiver validation failed`, `hpoXcvrUnsupported`, `sfpInvalid`,
#   `xcvrSpeedMismatch`, `Transceiver type mismatch` (VRP)
# - hardware failure: `Hardware failure`
#
# Sources: the recorded answers in genieparser (nxos, `show interface`) and ntc-templates (cisco_nxos, arista_eos,
# juniper_junos, aruba_aoscx, huawei_vrp), ANTA's `tests/interfaces.py`, Huawei's command reference,
# sonic-utilities `scripts/intfutil`, RFC 2863.
# Traps:
#
# - NX-OS truncates a word of its status table to nine letters.
# - NX-OS reports the missing module even if the port is administratively down: only `admin state is down`, in the line
#   below, shows that. Without that line the admin state is unknown.
# - EOS prints `notconnect` with and without a module; the type in the same row shows which.
# - `inactive`, `suspended`, `channelDown`, `vpcCmpFail`, `VLAN/BD is down`, `DCX-No ACK in 100 PDUs` and the like are
#   about protocols and do not show whether there is light: such a port's state is unknown. So is every word that is not
#   in the table.

_LETTERS = re.compile(r"[^a-z]+")


class PortState(NamedTuple):
    """The port state that a word means. None is unknown."""

    up: bool | None = None
    """Whether it has link."""
    enabled: bool | None = None
    """Whether it is administratively up."""
    reason: DownReason | None = None
    """Why it has no link."""


_UP = PortState(up=True, enabled=True)
_OFF = PortState(up=False, enabled=False, reason="switched off")
_NO_MODULE = PortState(up=False, reason="no module")
_UNCONNECTED = PortState(up=False, enabled=True)
_NO_LIGHT = PortState(up=False, enabled=True, reason="no light")
_ERROR = PortState(up=False, enabled=True, reason="error-disabled")
_REFUSED = PortState(up=False, enabled=True, reason="module not accepted")
_BROKEN = PortState(up=False, enabled=True, reason="hardware failure")
_PROTOCOL = PortState(enabled=True)
"""A protocol keeps the port down, or the port waits for its bundle: it may have light."""
_UNKNOWN = PortState()

_WORDS = tuple(
    (state, tuple(words.split()))
    for state, words in (
        (_UP, "connected"),
        (_OFF, "disabled administrativelydown admindown channeladmindown portadmindisabled"),
        (_NO_MODULE, "xcvrabsen sfpabsen xcvrnotinserted sfpnotinserted noxcvrinstalled"),
        (_NO_MODULE, "xcvrnotpresent sfpnotpresent transceivernotpresent"),
        (_UNCONNECTED, "notconn"),
        (_NO_LIGHT, "linknotconnected linkfailure theopticalpoweristoolow"),
        (_ERROR, "errdis linkflap"),
        (_REFUSED, "sfpvalidationfailed transceivervalidationfailed hpoxcvrunsupported xcvrunsup"),
        (_REFUSED, "sfpinval xcvrinval xcvrspeed transceivertype"),
        (_BROKEN, "hardwarefailure"),
        (_PROTOCOL, "inactive susp channeldo noopermem nooperationalmembers vlanbd vpccmpfai dcx"),
    )
)
"""Beginnings of words, in lower-case letters only: NX-OS' table truncates words to nine letters."""

_VRP = {"up": _UP, "down": _UNCONNECTED, "*down": _OFF, "down(ed)": _ERROR}
"""VRP's words; `^down` is a standby's; a letter in brackets (`up(l)`, a loopback) means that it is no
link, and `down(ed)` is an error."""
_UP_OR_DOWN = {"up": True, "down": False}
_NO_TYPE = frozenset(("", "na", "none", "unknown"))
ADMIN_STATUS = {1: "up", 2: "down"}
OPER_STATUS = {1: "up", 2: "down", 6: "down", 7: "down"}
"""ifAdminStatus and ifOperStatus of RFC 2863 as `up` and `down`."""
_NOT_PRESENT = 6


def of_word(word: Any, module: Any = None) -> PortState:
    """The state from EOS' or NX-OS' word or phrase, and the module's type in the same row."""
    text = _LETTERS.sub("", str(word).lower())
    found = next((state for state, words in _WORDS if text.startswith(words)), _UNKNOWN)
    if found is _UNKNOWN and "errdis" in text:
        found = _ERROR
    if found is not _UNCONNECTED:
        return found
    kind = _LETTERS.sub("", str(module or "").lower())
    if kind == "notpresent":
        return PortState(up=False, enabled=True, reason="no module")
    return _UNCONNECTED if kind in _NO_TYPE else _NO_LIGHT


def of_words(oper: Any, admin: Any, why: Any = None) -> PortState:
    """The state from `up` or `down` as oper and admin state, and the printed reason, if any."""
    up, enabled = _UP_OR_DOWN.get(str(oper).lower()), _UP_OR_DOWN.get(str(admin).lower())
    said = of_word(why)
    reason = said.reason
    enabled = said.enabled if enabled is None else enabled
    if said is _PROTOCOL and enabled and not up:
        return _PROTOCOL
    if up and reason in ("no module", "switched off"):
        up = False
    if enabled is False and not up:
        return _OFF
    return PortState(up, enabled, reason if up is False else None)


def of_vrp(word: str) -> PortState:
    """The state from the column `PHY` of VRP."""
    return _VRP.get(word.lower(), _UNKNOWN)


def of_snmp(oper: int | None, admin: int | None) -> PortState:
    """The state from ifOperStatus and ifAdminStatus (RFC 2863); None is a value that the agent did not send."""
    found = of_words(OPER_STATUS.get(oper or 0), ADMIN_STATUS.get(admin or 0))
    return found._replace(reason="no module") if oper == _NOT_PRESENT and found.enabled is not False else found


def flags(state: PortState) -> tuple[str, ...]:
    """The state as kernel flags; none for a port without link whose admin state is unknown."""
    if state.up:
        return ("UP", "LOWER_UP")
    return () if state.enabled is None else ("NO-CARRIER", "UP") if state.enabled else ("NO-CARRIER",)


# ----------------------------------------------------------------------------------------------------------------------
# The state of one port's link as a switch reports it in any command: up or down, administratively down, its speed.
#
# A port that is down still shows its configured speed or its module's. So a speed counts only if the same row reports
# that the link is up.

_SPEED = re.compile(
    r"(?:a-)?([0-9]{1,6}(?:\.[0-9]{1,3})?) ?(?:([mgt])(?:b(?:ps|/s|it/s)?)?)?(?:-\d{1,2})?", re.IGNORECASE
)
_SCALE = {"": 1e-3, "m": 1e-3, "g": 1.0, "t": 1e3}


class PortStatus(NamedTuple):
    """One row. None is not reported."""

    port: str
    up: bool | None
    """Whether it has link."""
    enabled: bool | None
    """Whether it is administratively up."""
    gbps: float | None = None
    """Gb/s as printed; the configured speed for a port that is down."""
    mtu: int | None = None
    reason: DownReason | None = None
    """Why it has no link, if the switch reports it."""
    alias: str | None = None
    """The name that the port sends over LLDP, if the switch reports one besides the port's own."""


def gbps(word: Any) -> float | None:
    """Gb/s from `400G`, `a-100G`, `400G-8` (lanes), `400Gbps`, `800mbps`, `10 Gb/s`, or a bare number of Mb/s.

    None for everything else: `auto`, `unconf`, `Unlimited`, `N/A` and 0 are no speeds.
    """
    found = _SPEED.fullmatch(str(word).strip())
    speed = float(found[1]) * _SCALE[(found[2] or "").lower()] if found else 0.0
    return speed or None


def status(port: str, state: PortState, speed_gbps: float | None = None, mtu: int | None = None) -> PortStatus:
    """A port's row from its parsed state."""
    return PortStatus(port, state.up, state.enabled, speed_gbps, mtu, state.reason)
