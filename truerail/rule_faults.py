"""Finds the device whose answers break a rule, by bisection, so that the rule still evaluates all others.

A rule that raises is a bug, but the trigger is mostly one device's odd answer. The rule runs again without that device;
the bug is reported with the device's name.
"""

from collections.abc import Sequence
from dataclasses import replace

from truerail.analysis.round import Round
from truerail.analysis.rule import Rule
from truerail.model import Finding


def without_culprit(rule: Rule, round: Round) -> tuple[str, tuple[Finding, ...]]:
    """The device whose answers alone break a rule, and the rule's findings without it. Empty if it is not a single
    device.
    """
    suspects = list(dict.fromkeys(reading.device for reading in round.snapshot.readings))
    while len(suspects) > 1:
        half = len(suspects) // 2
        first, second = suspects[:half], suspects[half:]
        on_second, on_first = (_breaks(rule, _without(round, part)) for part in (first, second))
        if on_first == on_second:  # both halves break it, or only both together
            return "", ()
        suspects = first if on_first else second
    if not suspects:
        return "", ()
    rest = _without(round, suspects)
    try:
        return suspects[0], rule.look(rest).findings
    except Exception:  # noqa: BLE001 - another device breaks it, or more than this one
        return "", ()


def _without(round: Round, devices: Sequence[str]) -> Round:
    gone, snapshot = set(devices), round.snapshot
    readings = [reading for reading in snapshot.readings if reading.device not in gone]
    return replace(round, snapshot=replace(snapshot, readings=readings))


def _breaks(rule: Rule, round: Round) -> bool:
    try:
        rule.look(round)
    except Exception:  # noqa: BLE001 - any exception is the result
        return True
    return False
