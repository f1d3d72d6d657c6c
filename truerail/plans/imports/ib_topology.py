"""InfiniBand topology files of ibdm and ibtopodiff (`.topo`, `.ibnl`): a line `TYPE name` for each system, and below it
indented lines `P1 -> TYPE name P2`, or `P1 -4x-25-> TYPE name P2`.
"""

import re

from truerail.plans.imports.import_row import End, ImportRow, Rows

_SYSTEM = re.compile(r"(?P<kind>\S+)[ \t]+(?P<name>\S+)\s*(?:CFG:.*)?")
_CABLE = re.compile(
    r"[ \t]+(?P<port>\S+)[ \t]+-(?:\d+x)?-?(?:[\d.]+G?)?-?>[ \t]*(?P<kind>\S+)[ \t]+(?P<name>\S+)[ \t]+(?P<far>\S+)\s*"
)
_HOST = re.compile(r"MT\d+|HCA.*|.*HCA", re.IGNORECASE)
_BEGINNING = re.compile(r"^[^#\s]\S*[ \t]+[^\s{]+[ \t]*\n(?:[ \t]*\n)*[ \t]+\S+[ \t]+-\S*>", re.MULTILINE)


def is_topology(text: str) -> bool:
    """Whether a text has a system with a cable below it."""
    return _BEGINNING.search(text) is not None


def read_topology(text: str) -> Rows:
    """The cables in order; each may stand at both ends. Comments begin with `#`."""
    rows, system = Rows(), End("", "")
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.partition("#")[0].rstrip()
        if cable := _CABLE.fullmatch(bare):
            near = End(system.device, cable["port"], kind=system.kind)
            rows.add(ImportRow(near, End(cable["name"], cable["far"], kind=_kind(cable["kind"])), number))
        elif bare and not bare[0].isspace() and (found := _SYSTEM.fullmatch(bare)):
            system = End(found["name"], "", kind=_kind(found["kind"]))
        elif bare:
            rows.leave_out("neither a system nor a cable", f"line {number}")
    return rows


def _kind(model: str) -> str:
    """An adapter's model is a host's; others are switches."""
    return "host" if _HOST.fullmatch(model) else "switch"
