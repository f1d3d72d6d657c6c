"""Which pods are in use: half of their cables were right at some time in the last week.

In a pod that is still being cabled, wrong cables are expected: the causes that `KindOfCause.needs_use` marks are sent
as warnings there, as Prometheus' alerts have it.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

import numpy as np

from truerail.analysis.cabling import State, Wiring
from truerail.model.cause_kinds import CAUSE_KINDS
from truerail.model.finding import Severity
from truerail.model.open_fault import OpenFault

IN_USE_RATIO: Final = 0.5
DAYS: Final = 7

PodUse = Mapping[str, Mapping[str, float]]
"""By day (UTC, ISO 8601), each pod's greatest share of right cables, as the mean over its rails."""


def use_after(use: PodUse, wiring: Wiring, at: datetime) -> PodUse:
    """The days of the last week, with what this evaluation found."""
    day, first = at.date().isoformat(), (at - timedelta(days=DAYS)).date().isoformat()
    return merged({one: pods for one, pods in use.items() if one >= first}, {day: right_by_pod(wiring)})


def merged(one: PodUse, other: PodUse) -> PodUse:
    """The greatest shares of both."""
    return {
        day: {
            pod: max(one.get(day, {}).get(pod, 0.0), other.get(day, {}).get(pod, 0.0))
            for pod in sorted({*one.get(day, ()), *other.get(day, ())})
        }
        for day in sorted({*one, *other})
    }


def pods_in_use(use: PodUse) -> frozenset[str]:
    """The pods in use; the empty name, which causes in several pods have, if any pod is."""
    found = {pod for pods in use.values() for pod, ratio in pods.items() if ratio >= IN_USE_RATIO}
    return frozenset(found | ({""} if found else set()))


def as_sent(fault: OpenFault, in_use: Collection[str]) -> OpenFault:
    """The fault with the severity that it is reported with."""
    in_use_only = fault.kind is not None and CAUSE_KINDS[fault.kind].needs_use
    if in_use_only and fault.severity is Severity.CRITICAL and fault.pod not in in_use:
        return replace(fault, severity=Severity.WARNING)
    return fault


def right_by_pod(wiring: Wiring) -> dict[str, float]:
    """The share of right cables of each pod that has rails, 0 to 1, as the mean over its rails."""
    index = wiring.index
    names = [device.pod for device in index.plan.devices.values()]
    pods, pod_of = np.unique(np.array([*names, ""], dtype=object).astype(str), return_inverse=True)
    cables = np.flatnonzero(index.from_host & (index.rail >= 0))
    rails = int(index.rail[cables].max(initial=-1)) + 1
    if not rails:
        return {}
    group = pod_of[index.a_device[cables]] * rails + index.rail[cables]
    right = np.bincount(group, weights=wiring.state[cables] == State.RIGHT, minlength=len(pods) * rails)
    planned = np.bincount(group, minlength=len(pods) * rails)
    shares = np.divide(right, planned, out=np.full(len(planned), np.nan), where=planned > 0).reshape(len(pods), rails)
    return {str(pod): float(np.nanmean(row)) for pod, row in zip(pods, shares, strict=True) if not np.isnan(row).all()}
