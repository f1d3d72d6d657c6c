"""One file per command family. A file with a collector of its own name registers itself; no other list exists. What
several of them read is in `formats` and `nos`.
"""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from collector._questions import naming
from truerail.model import Collector, PortCounters


@cache
def collectors() -> dict[str, Collector]:
    """Every collector by name, sorted by name."""
    found: dict[str, Collector] = {}
    for module in sorted(iter_modules(__path__), key=lambda m: m.name):
        if module.ispkg or module.name.startswith("_"):
            continue
        candidate = getattr(import_module(f"{__name__}.{module.name}"), module.name, None)
        if not isinstance(candidate, Collector):
            raise TypeError(f"collector/{module.name}.py declares no collector named {module.name}")
        found[module.name] = naming(candidate)
    return found


@cache
def at_once() -> frozenset[str]:
    """The collectors whose facts are useful after a single round: all except counters, which need two."""
    return frozenset(name for name, found in collectors().items() if found.yields != (PortCounters,))
