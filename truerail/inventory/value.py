"""An inventory, whatever its source, and the exception of inventory files, with faults that never show secrets."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from truerail.files.problems import Faults, FileError, Problem
from truerail.model import Plan, Target
from truerail.model.names import some

MOST_SHOWN = 3
_NO_WORD = re.compile(r"[\s@]|^[*!&]")
"""A value with a blank may be a line that lost its colon, one with `@` a login, `*` and `!` start passwords that YAML
takes for an alias or a tag."""


class InventoryError(FileError):
    """An inventory that cannot be used. `str()` has one line for each of `problems`, and no secret."""


class InventoryFaults(Faults):
    """Collects the problems of one inventory; a value that might be, or contain, a secret is not shown."""

    def __init__(self, file: str) -> None:
        super().__init__(file, InventoryError)

    def add(self, line: int, value: str, summary: str) -> None:
        """Notes a fault that makes the file unusable, once: those of `defaults` come up again with each entry."""
        shown = "" if _NO_WORD.search(value) else value
        if Problem(self.file, line, shown, summary) not in self.found:
            super().add(line, shown, summary)


@dataclass(frozen=True, slots=True)
class Inventory:
    """The devices of a fabric and how each is reached.

    `plan` is set if the source has the cables (NetBox). `notes` list what was left out, and why.
    """

    targets: tuple[Target, ...]
    plan: Plan | None = None
    notes: tuple[str, ...] = ()
    source: str = ""


def several(names: Sequence[str]) -> str:
    """`leaf-1, leaf-2, leaf-3 and 61 more`: enough to find them, in one line."""
    return some(names, MOST_SHOWN)


def shared_addresses(targets: Sequence[Target]) -> list[str]:
    """A note for each address that two devices have behind the same jump hosts: one of them is likely mistyped.

    A host may also report its fabric, in an entry of its own.
    """
    at: dict[tuple[str, int, tuple[str, ...], str], list[str]] = {}
    for target in targets:
        port = target.gnmi.port if target.gnmi else target.ssh.port
        key = (target.address.lower(), port, target.ssh.jump, target.platform if target.apart else "")
        at.setdefault(key, []).append(target.name)
    return [f"{several(names)} have the same address, {key[0]}" for key, names in at.items() if len(names) > 1]
