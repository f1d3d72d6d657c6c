"""The commands for a switch's port states and speeds, and their parsers, chosen by the form of the answer."""

import re

from collector import _nvue_interfaces, _speed_json, _speed_paragraphs, _speed_table, _speed_text
from collector._answer import lines
from collector._documents import document
from collector._port_models import REQUESTS
from collector._speed_status import PortStatus
from truerail.model import Command

ASK = (
    *(Command(text, ("eos",)) for text in ("show interfaces status | json", "show interfaces | json")),
    Command("show interfaces status", ("eos", "sonic")),
    *(Command(text, ("sonic",)) for text in ("show int status", "intfutil -c status")),
    *(
        Command(text, ("nxos",))
        for text in (
            "show interface status | json",
            "show interface status | json-pretty",
            "show interface | json",
        )
    ),
    *(
        Command(f"show interfaces {kind}| display json{rest}", ("junos",))
        for kind in ("media ", "", "extensive ")
        for rest in ("", " | no-more")
    ),
    *(Command(text, ("junos",)) for text in ("show interfaces media", "show interfaces extensive")),
    Command("info from state interface * | as json", ("srlinux",)),
    Command("show interfaces", ("eos", "junos", "iosxr")),
    Command("show interfaces brief", ("iosxr",)),
    Command("show interface physical", ("aoscx",)),
    Command("show interface brief", ("aoscx",)),
    Command("show interface", ("nxos", "aoscx", "os10", "sonic_cli")),
    Command("show interface status", ("nxos", "os10", "sonic_cli")),
    Command("display interface", ("comware", "vrp")),
    Command("display interface brief", ("comware", "vrp")),
    *(Command(f"show interfaces {kind}| display xml", ("capture",)) for kind in ("", "terse ", "extensive ")),
    Command("show interfaces terse", ("capture",)),
    Command("nv show interface", ("capture",)),
    *REQUESTS,
    Command("openconfig-interfaces", ("capture",)),
)
"""For each platform JSON first, the shortest output before the rest; OS10's has no administrative state and is last."""
_PARAGRAPHS = re.compile(
    r"^[ \t]*(?:LineSpeed \d|Current state: |(?:Full|Half)-duplex, \d+Mb/s, (?:THD, )?link type is )"
    r"|^ ?\S+ current state ?: ",
    re.MULTILINE | re.IGNORECASE,
)
"""Lines that only the paragraphs of `collector/_port_paragraphs.py` have."""


def statuses(answer: str) -> list[PortStatus] | None:
    """The ports in a switch's answer; None if it is no such answer. Raises `UnreadableError`."""
    found = document(answer)
    if found is not None:
        return _speed_json.statuses(found)
    text = lines(answer)
    if _nvue_interfaces.is_table(text):
        return _nvue_interfaces.statuses(text)
    rows = _speed_table.statuses(answer, text)
    return rows if rows is not None else _prose(answer, text)


def _prose(answer: str, text: list[str]) -> list[PortStatus] | None:
    if _PARAGRAPHS.search(answer):
        return _speed_paragraphs.statuses(text)
    return _speed_text.statuses(answer, text) or None
