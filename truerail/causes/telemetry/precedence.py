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
    priorities = found.details[root].get("priorities") or ()
    paused = found.paused_share(symptom, priorities)
    return not paused < PAUSED_ENOUGH * (1 - float(share))


def loud(found: Found, root: int, symptom: int) -> bool:
    """A finding of severity info explains nothing."""
    return found.findings[root].severity is not Severity.INFO


def _and(*all_of: Fits) -> Fits:
    return lambda found, root, symptom: all(fits(found, root, symptom) for fits in all_of)


@dataclass(frozen=True, slots=True)
class Row:
    """One row: a root explains findings of these rules within this scope."""

    id: str
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

_SLOW_LINK = (
    Row("C4", S.LINK, ("LNK003", "LNK004", "LNK005", "RAL002", "LBL003", "INC001", "ECN001", "LAG001", "PRB010")),
    Row("C4", S.LINK, PAUSES, egress),
    Row("C4", S.HOST, ("RAL001",)),
    Row("C4", S.OTHER_END, LAGS),
    Row("C4", S.SWITCH, ("LBL002", "CAP001")),
)
_BAD_SIGNAL = (
    Row("C5", S.LINK, ("LNK003", "RAL002", "LBL003", "LAG001", "BGP001", "PRB010", *LOSSES)),
    Row("C5", S.LINK, PAUSES, egress),
    Row("C5", S.HOST, ("RAL001",)),
    Row("C5", S.OTHER_END, LAGS),
    Row("C5", S.SWITCH, ("LBL002",)),
)
_LOSES = (
    Row("C5", S.LINK, ("PRB007",)),
    Row("C5", S.LINK, ("RAL002", "BGP001")),
    Row("C5", S.HOST, ("RAL001",)),
    Row("C5", S.OTHER_END, LAGS),
)
_FLAP = (
    Row("C7", S.LINK, ("RAL002", "LBL003", "LAG001", "BGP001", *LOSSES, "PRB008")),
    Row("C7", S.LINK, PAUSES, egress),
    Row("C7", S.HOST, ("RAL001",)),
    Row("C7", S.OTHER_END, LAGS),
    Row("C7", S.SWITCH, ("LBL001", "LBL002")),
)
_SLOW_HOST = (
    Row("C8", S.LINK, PAUSES, _and(loud, drains_slowly)),
    Row("C8", S.LINK, ("RAL002", "PFC004", "ECN001"), loud),
    Row("C8", S.HOST, ("RAL001",), loud),
    Row("C8", S.OTHER_END, LAGS, loud),
)
_PAUSED = ("PFC004", "LBL003", "CAP001", "INC001", "ECN001", "LBL002", "RAL002", "RAL001")

LINK_DOWN_UPLINK = (
    Row("C6", S.LINK, ("LNK003", "LBL003", "RAL002", "BGP001", *LOSSES, "PRB008")),
    Row("C6", S.SWITCH, ("LBL002", "CAP001")),
    Row("C6", S.UPLINKS, CROWDED, egress),
)
LINK_DOWN_HOST = (
    Row("C6", S.LINK, ("LNK003", "RAL002", "BGP001", "PRB001", *LOSSES, "JOB005")),
    Row("C6", S.HOST, ("RAL001",)),
    Row("C6", S.OTHER_END, LAGS),
)
OFF = (
    Row("C6", S.OTHER_END, LAGS),
    Row("C6", S.LINK, ("LNK003", "LBL003", "RAL002", "BGP001", "PRB001", *LOSSES, "PRB008")),
    Row("C6", S.DEVICE, ("LNK003", "RAL001", "RAL002", "BGP001", "PRB001")),
)
SWITCH_OFF = (*OFF, Row("C6", S.SWITCH, ("LBL002", "CAP001")))
"""Symptoms of a switch that is off: also that of the switches at its links, which have lost uplinks."""
MAINTAINED_HOST = (
    Row("maintenance", S.OTHER_END, LAGS),
    Row("maintenance", S.LINK, ("LNK003", "LBL003", "RAL002", "BGP001")),
    Row("maintenance", S.DEVICE, ("LNK003", "RAL001", "RAL002", "BGP001", "PRB001")),
)
MAINTAINED_SWITCH = (
    Row("maintenance", S.LINK, ("LNK003", "LBL003", "RAL002", "BGP001", *LOSSES, "PRB008")),
    Row("maintenance", S.HOST, ("RAL001",)),
    Row("maintenance", S.OTHER_END, LAGS),
    Row("maintenance", S.SWITCH, ("LBL002", "CAP001")),
    Row("maintenance", S.UPLINKS, CROWDED, egress),
)
"""Symptoms that work on a device explains at its neighbours: those of the loss of its links (C6)."""
PROBED = ("PRB001", "PRB002")
"""What probes show of a NIC whose cable is in another place: a second witness beside LLDP."""
WRONG_RAIL = (
    Row("C1", S.LINK, ("RAL002", "LAG001", "BGP001", *PROBED)),
    Row("C1", S.HOST, ("RAL001",)),
    Row("C1", S.HOST, ("JOB002",), by_a_cable),
)
CROSSES_SPINES = (
    Row("C1", S.SWITCH, ("LBL002", "CAP001")),
    Row("C1", S.UPLINKS, CROWDED, egress),
)
"""Further symptoms of a wrong-rail cable whose traffic is, as measured, most of its leaf's upward traffic."""
WRONG_UPLINK = (
    Row("C3", S.LINK, ("LBL003", "LAG001", "BGP001")),
    Row("C3", S.SWITCH, ("LBL002", "CAP001")),
)
WRONG_NETWORK = (Row("C9", S.LINK, ("PFC005", "CFG001", "PFC004")),)
HOST_ORDER = (
    Row("C8", S.DEVICE, PAUSES, drains_slowly),
    Row("C8", S.DEVICE, ("NIC004", "RAL001", "RAL002", *PROBED, "JOB002", "JOB003")),
)

ROWS: Mapping[str, tuple[Row, ...]] = {
    "LNK001": _SLOW_LINK,
    "LNK005": (Row("C5", S.LINK, ("LNK004", "LNK006")), *_BAD_SIGNAL),
    "LNK004": (Row("C5", S.LINK, ("LNK006",)), *_BAD_SIGNAL),
    "LNK006": (),
    "EFA001": (Row("C5", S.LINK, ("RAL002",)), Row("C5", S.HOST, ("RAL001",))),
    "LNK003": (*_FLAP, Row("C7", S.DEVICE, ("RAL002", "RAL001", "LBL003", "LBL002"))),
    "PRB005": _LOSES,
    "PRB007": _LOSES[1:],
    "NIC005": (*_SLOW_HOST, Row("C8", S.LINK, ("PRB010",)), Row("C8", S.DEVICE, PAUSES, _and(loud, drains_slowly))),
    "NIC004": (
        Row("C8", S.DEVICE, PAUSES, _and(loud, drains_slowly)),
        Row("C8", S.DEVICE, ("RAL001", "RAL002", "JOB004"), loud),
    ),
    "NIC006": (Row("C8", S.DEVICE, ("RAL001", "RAL002")),),
    "PFC003": (
        Row("C11", S.PAUSED, (*PAUSES, *_PAUSED), same_priority),
        Row("C11", S.DEVICE, PAUSES, same_priority),
    ),
    "PFC001": (
        Row("C11", S.LINK, ("PFC002", "PFC004", "LBL003", "INC001", "ECN001", "RAL002"), same_priority),
        Row("C11", S.HOST, ("RAL001",)),
        Row("C11", S.OTHER_END, LAGS),
        Row("C11", S.PAUSED, ("PFC002", *_PAUSED), same_priority),
    ),
    "CFG001": (
        Row("configuration", S.LINK, ("PFC005", "PFC004", "ECN001", "PRB006")),
        Row("configuration", S.DEVICE, ("PFC005", "PFC004", "ECN001"), lambda f, r, _: int(f.port[r]) < 0),
        Row("configuration", S.SWITCH, ("PRB006",)),
    ),
    "PRB002": (Row("configuration", S.LINK, ("PRB001", "PRB003")),),
    "PRB001": (),
    "PRB003": (),
    "PRB006": (),
    "PRB009": (),
    "PRB010": (),
    "JOB003": (Row("configuration", S.DEVICE, ("JOB002", "JOB005")),),
    "JOB002": (),
    "JOB004": (),
    "JOB005": (),
    "JOB006": (),
    "PFC005": (Row("configuration", S.LINK, ("PFC004",)),),
    "BGP001": (),
    "LAG002": (Row("configuration", S.LINK, ("LAG001",)),),
    "LAG001": (Row("C10", S.LINK, ("RAL002",)), Row("C10", S.HOST, ("RAL001",))),
    "PRB004": (
        Row("load", S.DEVICE, ("LBL001", "LBL003", "LBL002", "CAP001")),
        Row("load", S.UPLINKS, CROWDED, egress),
        Row("load", S.DEVICE, ("PFC002",), unreported_egress),
    ),
    "PRB008": (
        Row("load", S.LINK, ("LBL003",)),
        Row("load", S.SWITCH, ("LBL002",)),
        Row("load", S.UPLINKS, CROWDED, egress),
    ),
    "LBL001": (
        Row("load", S.SWITCH, ("LBL002", "CAP001")),
        Row("load", S.UPLINKS, ("LBL003", *CROWDED), egress),
        Row("load", S.DEVICE, ("PFC002",), unreported_egress),
        Row("load", S.ABOVE, ("PFC002",), egress),
    ),
    "LBL003": (
        Row("load", S.SWITCH, ("LBL002",)),
        Row("load", S.UPLINKS, CROWDED, egress),
        Row("load", S.DEVICE, ("PFC002",), unreported_egress),
    ),
    "CAP001": (
        Row("load", S.UPLINKS, CROWDED, egress),
        Row("load", S.DEVICE, ("PFC002",), unreported_egress),
    ),
    "INC001": (
        Row("load", S.LINK, ("PFC002", "PFC004", "ECN001", "RAL002"), same_priority),
        Row("load", S.HOST, ("RAL001",), held_up),
        Row("load", S.PAUSED, ("ECN001",)),
        Row("load", S.PAUSED, ("RAL002", "RAL001"), lacks_by_pauses),
        Row("load", S.OWN_SWITCH, ("ECN001",), marked_here),
        Row("load", S.UPSTREAM, ("PFC002",), _and(unreported_egress, same_priority)),
    ),
    "PFC002": (
        Row("load", S.LINK, ("PFC004", "ECN001", "RAL002")),
        Row("load", S.HOST, ("RAL001",)),
        Row("load", S.PAUSED, ("PFC004", "ECN001", "LBL002"), same_priority),
        Row("load", S.PAUSED, ("RAL002", "RAL001"), lacks_by_pauses),
    ),
    "PFC004": (),
    "ECN001": (Row("load", S.HOST, ("RAL001",), held_up),),
    "LBL002": (),
    "RAL002": (Row("load", S.HOST, ("RAL001",)), Row("load", S.OTHER_END, ("RAL001",))),
    "RAL001": (),
}
"""In the order of precedence: physical state, (wiring,) the root of a storm, configuration, load, statistics."""

PHYSICAL = ("LNK001", "LNK005", "LNK004", "LNK003", "NIC005", "NIC004", "NIC006")
"""Rules that outrank wiring."""
