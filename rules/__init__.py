"""One file per rule. A file here with a rule of its own name is found; nothing else registers it."""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from truerail.analysis.rule import Rule, rule_of


@cache
def rules() -> dict[str, Rule]:
    """Every rule by code, in the order of codes."""
    found: dict[str, Rule] = {}
    for module in iter_modules(__path__):
        if not module.name.startswith("_"):
            import_module(f"{__name__}.{module.name}")
            rule = rule_of(f"{__name__}.{module.name}")
            if rule.code in found:
                raise TypeError(f"{rule.code} is claimed by both {found[rule.code].name} and {rule.name}")
            found[rule.code] = rule
    return dict(sorted(found.items()))
