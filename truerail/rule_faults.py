"""Whose answers a rule breaks on: found by halves, so that the rule still judges all other devices.

A rule that raises is a bug, but what sets it off is mostly one device's odd answer. Without that device the rule says
what it has to say of the others; the bug is reported with the device's name.
"""

from collections.abc import Sequence
from dataclasses import replace

from truerail.model import Finding, Plan, Snapshot
from truerail.model.rule import Rule


def without_culprit(rule: Rule, plan: Plan, snapshot: Snapshot) -> tuple[str, tuple[Finding, ...]]:
    """The device whose answers alone break a rule, and what the rule finds without it. Empty where it is not one."""
    suspects = list(dict.fromkeys(reading.device for reading in snapshot.readings))
    while len(suspects) > 1:
        half = len(suspects) // 2
        first, second = suspects[:half], suspects[half:]
        on_second, on_first = (_breaks(rule, plan, _without(snapshot, part)) for part in (first, second))
        if on_first == on_second:  # both, or only together
            return "", ()
        suspects = first if on_first else second
    if not suspects:
        return "", ()
    rest = _without(snapshot, suspects)
    try:
        return suspects[0], rule.look(plan, rest).findings
    except Exception:  # noqa: BLE001 - it was not this device, or not this one alone
        return "", ()


def _without(snapshot: Snapshot, devices: Sequence[str]) -> Snapshot:
    gone = set(devices)
    return replace(snapshot, readings=[reading for reading in snapshot.readings if reading.device not in gone])


def _breaks(rule: Rule, plan: Plan, snapshot: Snapshot) -> bool:
    try:
        rule.look(plan, snapshot)
    except Exception:  # noqa: BLE001 - that is what is asked
        return True
    return False
