"""Finds the device whose answers break a rule, by bisection, so that the rule still evaluates all others.

A rule that raises is a bug, but the trigger is mostly one device's odd answer. The rule runs again without that device;
the bug is reported with the device's name.
"""

from collections.abc import Sequence
from dataclasses import replace

from truerail.model import Finding, Plan, Snapshot
from truerail.model.rule import Rule


def without_culprit(rule: Rule, plan: Plan, snapshot: Snapshot) -> tuple[str, tuple[Finding, ...]]:
    """The device whose answers alone break a rule, and the rule's findings without it. Empty if it is not a single
    device.
    """
    suspects = list(dict.fromkeys(reading.device for reading in snapshot.readings))
    while len(suspects) > 1:
        half = len(suspects) // 2
        first, second = suspects[:half], suspects[half:]
        on_second, on_first = (_breaks(rule, plan, _without(snapshot, part)) for part in (first, second))
        if on_first == on_second:  # both halves break it, or only both together
            return "", ()
        suspects = first if on_first else second
    if not suspects:
        return "", ()
    rest = _without(snapshot, suspects)
    try:
        return suspects[0], rule.look(plan, rest).findings
    except Exception:  # noqa: BLE001 - another device breaks it, or more than this one
        return "", ()


def _without(snapshot: Snapshot, devices: Sequence[str]) -> Snapshot:
    gone = set(devices)
    return replace(snapshot, readings=[reading for reading in snapshot.readings if reading.device not in gone])


def _breaks(rule: Rule, plan: Plan, snapshot: Snapshot) -> bool:
    try:
        rule.look(plan, snapshot)
    except Exception:  # noqa: BLE001 - any exception is the result
        return True
    return False
