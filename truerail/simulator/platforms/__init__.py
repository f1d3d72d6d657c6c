"""Everything that devices of each platform announce and print, written from recordings and from nothing that reads it.

A file or package with a `PLATFORM` is found; nothing else registers. What several platforms share begins with `_`.
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from truerail.simulator.platforms._platform import Platform as Platform

NO_SWITCHES = ("infiniband", "linux")
"""Hosts, and switches into which no one logs."""


@cache
def platforms() -> Mapping[str, Platform]:
    """Every platform by name, in the order of names."""
    found: dict[str, Platform] = {}
    for module in sorted(iter_modules(__path__), key=lambda m: m.name):
        if module.name.startswith("_"):
            continue
        candidate = getattr(import_module(f"{__name__}.{module.name}"), "PLATFORM", None)
        if not isinstance(candidate, Platform):
            raise TypeError(f"truerail/simulator/platforms/{module.name} has no PLATFORM")
        found[module.name] = candidate
    return found


def switch_platforms() -> tuple[str, ...]:
    """The simulated network operating systems; `snmp` is a switch that is only walked."""
    return tuple(name for name in platforms() if name not in NO_SWITCHES)
