"""An inventory, whatever its source."""

from collections.abc import Sequence
from dataclasses import dataclass

from truerail.model import Plan, Target
from truerail.model.names import some

MOST_SHOWN = 3


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
