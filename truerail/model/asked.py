"""Roles that nobody was asked of: a capture of the hosts alone does not make every switch unreachable."""

from collections import Counter

from truerail.model.plan import Role
from truerail.model.wiring import Wiring


def roles_not_asked(wiring: Wiring) -> tuple[Role, ...]:
    """Roles of which the plan has two devices or more and the snapshot not one reading, good or bad.

    Whom the discovery of an InfiniBand fabric met has been asked: its switches answer nobody else.
    """
    devices = wiring.index.devices
    tried = {wiring.identity.filed(reading.device) for reading in wiring.identity.seen.readings}
    tried.update(wiring.met)
    planned = Counter(devices.tier[: devices.planned])
    seen = {devices.tier[code] for code in tried}
    if not tried:
        return ()
    return tuple(role for role in Role if planned[role.tier] > 1 and role.tier not in seen)
