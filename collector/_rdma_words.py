"""The states of an RDMA port in the words of `rdma link`, from those of every command that prints them.

Source: the tables of names in iproute2's `rdma/link.c`, rdma-core's `ibstat.c` and `devinfo.c`, and the kernel's sysfs.
`TRAINNING` is rdma-core's spelling; `invalid physical state` is its word for 0, which many drivers report.
"""

from typing import Any

from truerail.errors import UnreadableError

_STATES = {
    **{word: word for word in ("NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER", "UNKNOWN")},
    "nop": "NOP",
    "down": "DOWN",
    "init": "INIT",
    "initializing": "INIT",
    "armed": "ARMED",
    "active": "ACTIVE",
    "activedefer": "ACTIVE_DEFER",
    "unknown": "UNKNOWN",
    "invalidstate": "UNKNOWN",
    "nostatechange": "NOP",
}
_PHYSICAL = {
    **{word: word for word in ("LINK_UP", "POLLING", "DISABLED", "SLEEP")},
    "nop": "NOP",
    "nostatechange": "NOP",
    "sleep": "SLEEP",
    "polling": "POLLING",
    "disabled": "DISABLED",
    "armed": "ARMED",
    "portconfigurationtraining": "ARMED",
    "portconfigurationtrainning": "ARMED",
    "linkup": "LINK_UP",
    "linkerrorrecover": "LINK_ERROR_RECOVER",
    "linkerrorrecovery": "LINK_ERROR_RECOVER",
    "phytest": "PHY_TEST",
    "unknown": "UNKNOWN",
    "<unknown>": "UNKNOWN",
    "invalidphysicalstate": "UNKNOWN",
    "opaoffline": "OPA_OFFLINE",
    "offline": "OPA_OFFLINE",
    "opatest": "OPA_TEST",
    "test": "OPA_TEST",
}


def port_state(text: Any, line: int = 0) -> str:
    """`ACTIVE` for `Active`, ... Raises `UnreadableError` for a word that no command prints."""
    return _STATES.get(text) or _normalised(_STATES, text, "port state", line)


def physical_state(text: Any, line: int = 0) -> str | None:
    """`LINK_UP` for `LinkUp`, ..., None for None. Raises `UnreadableError` for a word that no command prints."""
    if text is None:
        return None
    return _PHYSICAL.get(text) or _normalised(_PHYSICAL, text, "physical state", line)


def _normalised(words: dict[str, str], text: Any, what: str, line: int) -> str:
    found = words.get(str(text).strip().lower().replace("_", "").replace(" ", ""))
    if found is None:
        raise UnreadableError(f"not a {what}", line=line, text=str(text))
    return found
