"""The role of a device in the fabric."""

from enum import StrEnum


class Role(StrEnum):
    """The role of a device; tiers go upwards in this order."""

    HOST = "host"
    LEAF = "leaf"
    SPINE = "spine"
    SUPERSPINE = "superspine"

    @property
    def tier(self) -> int:
        """0 for a host, 1 for a leaf, 2 for a spine, 3 for a superspine."""
        return _TIERS[self]


_TIERS = {Role.HOST: 0, Role.LEAF: 1, Role.SPINE: 2, Role.SUPERSPINE: 3}
