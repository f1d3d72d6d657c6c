"""What was not queried: whole roles (a capture of the hosts alone does not make every switch unreachable), and planned
devices that are not in the inventory.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from truerail.analysis.cabling import Wiring
from truerail.model.index import Devices
from truerail.model.names import device_key, folded, natural_key, printable, short_name
from truerail.model.plan import Plan, Role

MOST_NEAR = 3
_NUMBER = re.compile(r"0*(\d+)")


@dataclass(frozen=True, slots=True)
class Unlisted:
    """Planned devices that are not in the inventory. `near` are names of the inventory that may be meant: those that
    are not in the plan and that differ in their domain, case or leading zeros only.
    """

    devices: tuple[str, ...]
    near: Mapping[str, str]

    @property
    def summary(self) -> str:
        """One sentence, without its full stop."""
        many = len(self.devices) != 1
        which = f"{len(self.devices):,} device{'s' * many} of the plan {'are' if many else 'is'}"
        near = ", ".join(f"{theirs} for {ours}" for ours, theirs in list(self.near.items())[:MOST_NEAR])
        hint = f" (perhaps under other names: {near})" if near else ""
        return f"{which} not in the inventory: {folded(self.devices)}{hint}"


def unlisted(plan: Plan, inventory: Collection[str]) -> Unlisted:
    """The planned devices that are not in an inventory under any spelling that names them."""
    devices = Devices(plan)
    code = {name: devices.find(name) for name in inventory}
    listed = set(code.values())
    missing = tuple(name for number, name in enumerate(devices.names) if number not in listed)
    strange: dict[str, str] = {}
    for name in sorted((name for name, found in code.items() if found < 0), key=natural_key):
        strange.setdefault(_plain(name), printable(name, 64))
    return Unlisted(missing, {name: strange[_plain(name)] for name in missing if _plain(name) in strange})


def not_listed(wiring: Wiring) -> Unlisted:
    """The same for a round: without whole roles that were not queried, and devices that a discovery met."""
    seen, devices = wiring.seen, wiring.index.devices
    if seen.inventory is None:
        return Unlisted((), {})
    answered = {wiring.identity.filed(reading.device) for reading in seen.readings} | wiring.met
    absent = {role.tier for role in roles_not_asked(wiring)}
    found = unlisted(wiring.index.plan, seen.inventory)
    code = {name: number for number, name in enumerate(devices.names[: devices.planned])}
    left = tuple(n for n in found.devices if code[n] not in answered and devices.tier[code[n]] not in absent)
    return Unlisted(left, {name: near for name, near in found.near.items() if name in set(left)})


def _plain(name: str) -> str:
    """A name without its domain and leading zeros, in lower case."""
    return _NUMBER.sub(r"\1", short_name(device_key(name)))


def roles_not_asked(wiring: Wiring) -> tuple[Role, ...]:
    """Roles of which the plan has two devices or more and the snapshot not one reading, good or bad.

    Devices that the discovery of an InfiniBand fabric met count as queried: its switches answer no other query.
    """
    devices = wiring.index.devices
    tried = {wiring.identity.filed(name) for name in {reading.device for reading in wiring.seen.readings}}
    tried.update(wiring.met)
    planned = Counter(devices.tier[: devices.planned])
    seen = {devices.tier[code] for code in tried}
    if not tried:
        return ()
    return tuple(role for role in Role if planned[role.tier] > 1 and role.tier not in seen)
