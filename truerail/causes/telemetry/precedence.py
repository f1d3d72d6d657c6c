"""What explains what: the table of physical facts, wiring and traffic, row by row, and the order of precedence.

A higher row explains a lower finding only if both share a link, a host or a pause tree, and the direction fits: the
root of a pause is an egress if a slow link causes it, and a NIC if a slow host does. Rows C1 to C11 are those of the
detection notes; the others follow from them (a root's own symptoms).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from truerail.analysis.pfc.reasons import Reason
from truerail.causes.telemetry.found import Found
from truerail.model.finding import Severity


class Scope(StrEnum):
    """The part of the fabric that a root and its symptom share."""

    LINK = "link"
    """A symptom at either end of the root's link."""
    HOST = "host"
    """About the host at an end of the root's link as a whole, and no other NIC of it."""
    SWITCH = "switch"
    """About the switch at an end of the root's link, or the root's switch, as a whole."""
    UPLINKS = "uplinks"
    """At an uplink of the root's switch."""
    DEVICE = "device"
    """About the root's device or any port of it."""
    ABOVE = "above"
    """A pause's root that pauses an uplink of the root's switch."""
    OTHER_END = "other end"
    """About a NIC whose flows end at the root's link, if the symptom names that link as a possible reason."""
    UPSTREAM = "upstream"
    """About a switch, or a port of it, that the switch of the root's port pauses over other switches."""
    OWN_SWITCH = "own switch"
    """About the switch of the root's port as a whole."""
    PAUSED = "paused"
    """At a link that the root pauses, or about a device that such a port belongs to."""


Fits = Callable[[Found, int, int], bool]
"""Whether the direction fits: the findings, the root's number (-1 for a cable's cause), the symptom's number."""


def _always(found: Found, root: int, symptom: int) -> bool:
    return True


def egress(found: Found, root: int, symptom: int) -> bool:
    """The root of the pauses is a switch's egress, where packets queue."""
    return not found.at_host(symptom)


def drains_slowly(found: Found, root: int, symptom: int) -> bool:
    """The root of the pauses is a NIC, for reasons on its host."""
    return found.at_host(symptom) and found.details[symptom].get("sub_cause") not in _NOT_THE_HOST


_NOT_THE_HOST = (Reason.NO_BUFFERS.value, Reason.NIC_WATCHDOG.value)


def same_priority(found: Found, root: int, symptom: int) -> bool:
    """Pause trees of two priorities are two trees."""
    one, other = found.details[root].get("priorities"), found.details[symptom].get("priorities")
    return not one or not other or not set(one).isdisjoint(other)


PAUSED_ENOUGH = 0.5
"""Share of a NIC's deficit to its peers that pauses must account for. Chosen by judgement."""


def lacks_by_pauses(found: Found, root: int, symptom: int) -> bool:
    """The NIC's pause time accounts for its deficit to its peers, if it is reported and not yet taken into account."""
    share = found.details[symptom].get("share_of_median")
    if share is None:
        return True
    if found.rules[symptom] == "RAL002" and found.details[symptom].get("congestion_counted"):
        return False
    paused = found.paused_share(symptom, found.details[root].get("priorities") or ())
    return not paused < PAUSED_ENOUGH * (1 - float(share))


def loud(found: Found, root: int, symptom: int) -> bool:
    """A finding of severity info explains nothing."""
    return found.findings[root].severity is not Severity.INFO


def _and(*all_of: Fits) -> Fits:
    return lambda found, root, symptom: all(fits(found, root, symptom) for fits in all_of)


@dataclass(frozen=True, slots=True)
class Row:
    """One row: a root explains findings of these rules within this scope."""

    scope: Scope
    rules: tuple[str, ...]
    fits: Fits = _always


def held_up(found: Found, root: int, symptom: int) -> bool:
    """The NIC carries less because congestion control slows it down, not because it is slow."""
    return found.details[symptom].get("because") == "congestion"


def unreported_egress(found: Found, root: int, symptom: int) -> bool:
    """The root is a switch without a port that shows where it is paused: possibly its uplinks."""
    return found.details[symptom].get("sub_cause") == Reason.EGRESS_UNREPORTED.value


MARKED_HERE = 0.5
"""Share of a leaf's NICs with marked packets from which one egress explains all. Chosen by judgement."""


def marked_here(found: Found, root: int, symptom: int) -> bool:
    """The leaf's NICs that receive marked packets are mostly the one on the root's port."""
    named = found.details[symptom].get("marked_ports", ())
    _, ports = found.ground.places([str(port) for port in named])
    here = int(np.count_nonzero(found.ground.link_of(ports) == found.link[root]))
    return here > 0 and here >= MARKED_HERE * len(named)


def by_a_cable(found: Found, root: int, symptom: int) -> bool:
    """A job crosses rails because a cable of the host is in another place than planned."""
    return str(found.details[symptom].get("reason", "")).startswith("a cable")


S = Scope
PAUSES = ("PFC001", "PFC002")
CROWDED = ("ECN001", "PFC002", "INC001")
"""Symptoms of an egress that receives more than it can send."""

LAGS = ("RAL002", "RAL001")
"""Symptoms of a port that carries less than its peers; also at a NIC whose flows end at the slow one."""

LOSSES = ("PRB005", "PRB007")
"""What probes see of a link that loses packets."""

_AT_HOST = (Row(S.HOST, ("RAL001",)), Row(S.OTHER_END, LAGS))
"""Symptoms of a link at its host, and at the NICs with which it exchanges."""
_UPLINKS_LACK = Row(S.SWITCH, ("LBL002", "CAP001"))
CROSSES_SPINES = (_UPLINKS_LACK, Row(S.UPLINKS, CROWDED, egress))
"""Symptoms of less capacity upwards; also further symptoms of a wrong-rail cable (C1) whose traffic is, as measured,
most of its leaf's upward traffic.
"""
_CROWDED_ABOVE = (Row(S.UPLINKS, CROWDED, egress), Row(S.DEVICE, ("PFC002",), unreported_egress))
_slow_host_pauses = _and(loud, drains_slowly)

# C4
_SLOW_LINK = (
    Row(S.LINK, ("LNK003", "LNK004", "LNK005", "RAL002", "LBL003", "INC001", "ECN001", "LAG001", "PRB010")),
    Row(S.LINK, PAUSES, egress),
    *_AT_HOST,
    _UPLINKS_LACK,
)
# C5
_BAD_SIGNAL = (
    Row(S.LINK, ("LNK003", "RAL002", "LBL003", "LAG001", "BGP001", "PRB010", *LOSSES)),
    Row(S.LINK, PAUSES, egress),
    *_AT_HOST,
    Row(S.SWITCH, ("LBL002",)),
)
_LOSES = (Row(S.LINK, ("PRB007",)), Row(S.LINK, ("RAL002", "BGP001")), *_AT_HOST)
# C7
_FLAP = (
    Row(S.LINK, ("RAL002", "LBL003", "LAG001", "BGP001", *LOSSES, "PRB008")),
    Row(S.LINK, PAUSES, egress),
    *_AT_HOST,
    Row(S.SWITCH, ("LBL001", "LBL002")),
)
# C8
_SLOW_HOST = (
    Row(S.LINK, PAUSES, _slow_host_pauses),
    Row(S.LINK, ("RAL002", "PFC004", "ECN001"), loud),
    Row(S.HOST, ("RAL001",), loud),
    Row(S.OTHER_END, LAGS, loud),
)
_PAUSED = ("PFC004", "LBL003", "CAP001", "INC001", "ECN001", "LBL002", "RAL002", "RAL001")

# C6
LINK_DOWN_UPLINK = (Row(S.LINK, ("LNK003", "LBL003", "RAL002", "BGP001", *LOSSES, "PRB008")), *CROSSES_SPINES)
LINK_DOWN_HOST = (Row(S.LINK, ("LNK003", "RAL002", "BGP001", "PRB001", *LOSSES, "JOB005")), *_AT_HOST)
OFF = (
    Row(S.OTHER_END, LAGS),
    Row(S.LINK, ("LNK003", "LBL003", "RAL002", "BGP001", "PRB001", *LOSSES, "PRB008")),
    Row(S.DEVICE, ("LNK003", "RAL001", "RAL002", "BGP001", "PRB001")),
)
SWITCH_OFF = (*OFF, _UPLINKS_LACK)
"""Symptoms of a switch that is off: also that of the switches at its links, which have lost uplinks."""
MAINTAINED_HOST = (
    Row(S.OTHER_END, LAGS),
    Row(S.LINK, ("LNK003", "LBL003", "RAL002", "BGP001")),
    Row(S.DEVICE, ("LNK003", "RAL001", "RAL002", "BGP001", "PRB001")),
)
MAINTAINED_SWITCH = (LINK_DOWN_UPLINK[0], *_AT_HOST, *CROSSES_SPINES)
"""Symptoms that work on a device explains at its neighbours: those of the loss of its links (C6)."""
PROBED = ("PRB001", "PRB002")
"""What probes show of a NIC whose cable is in another place: a second witness beside LLDP."""
# C1
WRONG_RAIL = (
    Row(S.LINK, ("RAL002", "LAG001", "BGP001", *PROBED)),
    Row(S.HOST, ("RAL001",)),
    Row(S.HOST, ("JOB002",), by_a_cable),
)
# C3, C9, C8
WRONG_UPLINK = (Row(S.LINK, ("LBL003", "LAG001", "BGP001")), _UPLINKS_LACK)
WRONG_NETWORK = (Row(S.LINK, ("PFC005", "CFG001", "PFC004")),)
HOST_ORDER = (
    Row(S.DEVICE, PAUSES, drains_slowly),
    Row(S.DEVICE, ("NIC004", "RAL001", "RAL002", *PROBED, "JOB002", "JOB003")),
)

ROWS: Mapping[str, tuple[Row, ...]] = {
    "LNK001": _SLOW_LINK,
    "LNK005": (Row(S.LINK, ("LNK004", "LNK006")), *_BAD_SIGNAL),
    "LNK004": (Row(S.LINK, ("LNK006",)), *_BAD_SIGNAL),
    "LNK006": (),
    "EFA001": (Row(S.LINK, ("RAL002",)), Row(S.HOST, ("RAL001",))),
    "LNK003": (*_FLAP, Row(S.DEVICE, ("RAL002", "RAL001", "LBL003", "LBL002"))),
    "PRB005": _LOSES,
    "PRB007": _LOSES[1:],
    "NIC005": (*_SLOW_HOST, Row(S.LINK, ("PRB010",)), Row(S.DEVICE, PAUSES, _slow_host_pauses)),
    "NIC004": (Row(S.DEVICE, PAUSES, _slow_host_pauses), Row(S.DEVICE, ("RAL001", "RAL002", "JOB004"), loud)),
    "NIC006": (Row(S.DEVICE, ("RAL001", "RAL002")),),
    # C11
    "PFC003": (Row(S.PAUSED, (*PAUSES, *_PAUSED), same_priority), Row(S.DEVICE, PAUSES, same_priority)),
    "PFC001": (
        Row(S.LINK, ("PFC002", "PFC004", "LBL003", "INC001", "ECN001", "RAL002"), same_priority),
        *_AT_HOST,
        Row(S.PAUSED, ("PFC002", *_PAUSED), same_priority),
    ),
    # configuration
    "CFG001": (
        Row(S.LINK, ("PFC005", "PFC004", "ECN001", "PRB006")),
        Row(S.DEVICE, ("PFC005", "PFC004", "ECN001"), lambda f, r, _: int(f.port[r]) < 0),
        Row(S.SWITCH, ("PRB006",)),
    ),
    "PRB002": (Row(S.LINK, ("PRB001", "PRB003")),),
    **dict.fromkeys(("PRB001", "PRB003", "PRB006", "PRB009", "PRB010"), ()),
    "JOB003": (Row(S.DEVICE, ("JOB002", "JOB005")),),
    **dict.fromkeys(("JOB002", "JOB004", "JOB005", "JOB006"), ()),
    "PFC005": (Row(S.LINK, ("PFC004",)),),
    "BGP001": (),
    "LAG002": (Row(S.LINK, ("LAG001",)),),
    "LAG001": (Row(S.LINK, ("RAL002",)), Row(S.HOST, ("RAL001",))),  # C10
    # load
    "PRB004": (Row(S.DEVICE, ("LBL001", "LBL003", "LBL002", "CAP001")), *_CROWDED_ABOVE),
    "PRB008": (Row(S.LINK, ("LBL003",)), Row(S.SWITCH, ("LBL002",)), Row(S.UPLINKS, CROWDED, egress)),
    "LBL001": (
        _UPLINKS_LACK,
        Row(S.UPLINKS, ("LBL003", *CROWDED), egress),
        Row(S.DEVICE, ("PFC002",), unreported_egress),
        Row(S.ABOVE, ("PFC002",), egress),
    ),
    "LBL003": (Row(S.SWITCH, ("LBL002",)), *_CROWDED_ABOVE),
    "CAP001": _CROWDED_ABOVE,
    "INC001": (
        Row(S.LINK, ("PFC002", "PFC004", "ECN001", "RAL002"), same_priority),
        Row(S.HOST, ("RAL001",), held_up),
        Row(S.PAUSED, ("ECN001",)),
        Row(S.PAUSED, ("RAL002", "RAL001"), lacks_by_pauses),
        Row(S.OWN_SWITCH, ("ECN001",), marked_here),
        Row(S.UPSTREAM, ("PFC002",), _and(unreported_egress, same_priority)),
    ),
    "PFC002": (
        Row(S.LINK, ("PFC004", "ECN001", "RAL002")),
        Row(S.HOST, ("RAL001",)),
        Row(S.PAUSED, ("PFC004", "ECN001", "LBL002"), same_priority),
        Row(S.PAUSED, ("RAL002", "RAL001"), lacks_by_pauses),
    ),
    "PFC004": (),
    "ECN001": (Row(S.HOST, ("RAL001",), held_up),),
    "LBL002": (),
    "RAL002": (Row(S.HOST, ("RAL001",)), Row(S.OTHER_END, ("RAL001",))),
    "RAL001": (),
}
"""In the order of precedence: physical state, (wiring,) the root of a storm, configuration, load, statistics."""

PHYSICAL = ("LNK001", "LNK005", "LNK004", "LNK003", "NIC005", "NIC004", "NIC006")
"""Rules that outrank wiring."""
