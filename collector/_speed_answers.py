"""The commands for a switch's port states and speeds, and their parsers, chosen by the form of the answer."""

from collector import _speed_json, _speed_table, _speed_text
from collector._answer import is_json, lines
from collector._documents import unwrapped
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
            "show interface status",
        )
    ),
    *(
        Command(f"show interfaces {kind}| display json{rest}", ("junos",))
        for kind in ("media ", "", "extensive ")
        for rest in ("", " | no-more")
    ),
    *(Command(text, ("junos",)) for text in ("show interfaces media", "show interfaces extensive")),
    Command("show interfaces", ("eos", "junos")),
    Command("show interface", ("nxos",)),
    Command("display interface brief", ("capture",)),
)
"""For each platform JSON first, the shortest output before the rest."""


def statuses(answer: str) -> list[PortStatus] | None:
    """The ports in a switch's answer; None if it is no such answer. Raises `UnreadableError`."""
    if is_json(answer):
        return _speed_json.statuses(unwrapped(answer))
    text = lines(answer)
    rows = _speed_table.statuses(answer, text)
    return rows if rows is not None else _speed_text.statuses(answer, text) or None
