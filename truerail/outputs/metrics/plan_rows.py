"""The rows of a plan's metrics. Computed once for a plan: it rarely changes, its evaluations do."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from truerail.analysis.cabling.named_by import VERIFIED
from truerail.model.columns import NONE, Codes, Mask, distinct
from truerail.model.index import PlanIndex
from truerail.model.names import natural_key
from truerail.model.plan import Cable, Plan, Role
from truerail.outputs.metrics.metric_series import Rows

STATES = ("right", "wrong", "missing", "unknown")
"""Words of `State`, in its order."""
REST = "-"
"""The pod parameter for everything without a pod."""
HOST_STATES = ("right", "unknown", "broken")
_Labels = Callable[[Codes], dict[str, list[str]]]


@dataclass(frozen=True)
class Group:
    """A group of cables. `of` is each cable's group, shape (cables,); `rows` has one row for each group."""

    rows: Rows
    of: Codes

    def count(self, kind: Codes, kinds: int) -> Codes:
        """The number of cables of each kind in each group, kind by kind within the group: shape (groups * kinds,)."""
        size = len(self.rows.pod) * kinds
        return np.bincount(self.of * kinds + kind, minlength=size)

    def chosen(self, which: Mask) -> Codes:
        """How many of each row's members `which` marks."""
        return self.count(which.astype(np.int64), 2)[1::2]

    def worst(self, level: Codes) -> Codes:
        """The greatest level in each group."""
        found = np.zeros(len(self.rows.pod), dtype=np.int64)
        np.maximum.at(found, self.of, level)
        return found


@dataclass(frozen=True)
class Cables:
    """Planned cables as rows: `number` is each row's cable in the plan, `row` each cable's row (-1 if it has none)."""

    number: Codes
    rows: Rows
    row: Codes


class Layout:
    """A plan's rows. `pods` are its pods in natural order, the empty one of devices without a pod first."""

    def __init__(self, fabric: str, index: PlanIndex) -> None:
        self.fabric = fabric
        self.plan: Plan = index.plan
        devices = list(self.plan.devices.values())
        self.pods: tuple[str, ...] = tuple(sorted({"", *(device.pod for device in devices)}, key=natural_key))
        self.rank = {pod: rank for rank, pod in enumerate(self.pods)}
        self.device_pod = np.array([*(self.rank[device.pod] for device in devices), 0], dtype=np.int64)
        tier = np.array([*(device.role.tier for device in devices), NONE], dtype=np.int64)
        self._a_device, self._rail, self._plane = index.a_device, index.rail, index.plane
        own = _first_of_its_port(self.plan.cables)
        self.links = self._cables(own & index.from_host, self._link_labels)
        self.uplinks = self._cables(own & ~index.from_host, self._uplink_labels)
        self.hosts = self._by_pod(np.flatnonzero(tier[:-1] == Role.HOST.tier), self.device_pod)
        self._names = [device.name for device in devices]
        self._tier = tier
        self.host_links = self.by_host.rows.crossed("state", STATES)
        """Hosts by the state of their links."""
        self.uplink_states = self.uplinks_by_pod.rows.crossed("state", STATES)
        """Pods by the state of their uplinks."""
        self.rail_links = self.by_rail.rows.crossed("state", STATES)
        """Pods, rails and planes by the state of their links."""
        self.rail_verified = self.by_rail.rows.crossed("verified", VERIFIED)
        """Pods, rails and planes by the ends that confirm their links."""

    def rows(self, pod: Codes, **labels: Sequence[str]) -> Rows:
        """Rows of these pods (ranks, ascending), the pod's name among their labels."""
        return Rows(self.fabric, {"pod": [self.pods[rank] for rank in pod.tolist()], **labels}, pod, len(self.pods))

    @cached_property
    def link_at(self) -> dict[str, int]:
        """The row of each host's port that has a planned cable, by the port as findings spell it."""
        ends = (self.plan.cables[cable].a for cable in self.links.number.tolist())
        return {str(end): row for row, end in enumerate(ends)}

    @cached_property
    def by_host(self) -> Group:
        """Links by host, including hosts without links."""
        place = np.full(len(self._names) + 1, NONE, dtype=np.int64)
        place[self.hosts] = np.arange(len(self.hosts))
        rows = self.rows(self.device_pod[self.hosts], host=[self._names[code] for code in self.hosts.tolist()])
        return Group(rows, place[self._a_device[self.links.number]])

    @cached_property
    def by_rail(self) -> Group:
        """Links by pod, rail and plane."""
        cables = self.links.number
        return self._grouped(self._rail[cables], self._plane[cables])

    @cached_property
    def whole_rails(self) -> tuple[Codes, Group]:
        """Links that have a rail (as rows), by pod and rail."""
        railed = np.flatnonzero(self._rail[self.links.number] >= 0)
        rail = self._rail[self.links.number[railed]]
        return railed, self._grouped(rail, np.full(len(rail), NONE), self.links.rows.pod[railed])

    @cached_property
    def uplinks_by_pod(self) -> Group:
        """Uplinks by the lower switch's pod."""
        pods, of = np.unique(self.uplinks.rows.pod, return_inverse=True)
        return Group(self.rows(pods), of)

    @cached_property
    def lower_switches(self) -> tuple[Codes, Rows]:
        """Devices with uplinks, and a row for each."""
        codes = self._by_pod(distinct(self._a_device[self.uplinks.number]), self.device_pod)
        return codes, self.rows(self.device_pod[codes], switch=[self._names[code] for code in codes.tolist()])

    @cached_property
    def devices_by_role(self) -> Group:
        """The plan's devices by pod and role."""
        packed, of = np.unique(self.device_pod[:-1] * len(Role) + self._tier[:-1], return_inverse=True)
        words = [role.value for role in sorted(Role, key=lambda role: role.tier)]
        return Group(self.rows(packed // len(Role), role=[words[tier] for tier in packed % len(Role)]), of)

    def _grouped(self, rail: Codes, plane: Codes, pod: Codes | None = None) -> Group:
        pod = self.links.rows.pod if pod is None else pod
        rails, planes = int(rail.max(initial=NONE)) + 2, int(plane.max(initial=NONE)) + 2
        packed, of = np.unique((pod * rails + rail + 1) * planes + plane + 1, return_inverse=True)
        upper, plane_of = np.divmod(packed, planes)
        pod_of, rail_of = np.divmod(upper, rails)
        return Group(self.rows(pod_of, rail=_numbers(rail_of - 1), plane=_numbers(plane_of - 1)), of)

    def _by_pod(self, numbers: Codes, pod: Codes) -> Codes:
        return numbers[np.argsort(pod[numbers], kind="stable")]

    def _cables(self, chosen: Mask, labels: _Labels) -> Cables:
        pod = self.device_pod[self._a_device]
        number = self._by_pod(np.flatnonzero(chosen), pod)
        row = np.full(len(pod) + 1, NONE, dtype=np.int64)
        row[number] = np.arange(len(number))
        return Cables(number, self.rows(pod[number], **labels(number)), row)

    def _link_labels(self, number: Codes) -> dict[str, list[str]]:
        ends = [self.plan.cables[cable].a for cable in number.tolist()]
        rail, plane = _numbers(self._rail[number]), _numbers(self._plane[number])
        return {"host": [a.device for a in ends], "rail": rail, "plane": plane, "nic": [a.name for a in ends]}

    def _uplink_labels(self, number: Codes) -> dict[str, list[str]]:
        ends = [self.plan.cables[cable].a for cable in number.tolist()]
        return {"switch": [a.device for a in ends], "switch_port": [a.name for a in ends]}


def _numbers(values: Codes) -> list[str]:
    """Numbers as label values; empty for no number."""
    return ["" if value < 0 else str(value) for value in values.tolist()]


def _first_of_its_port(cables: Sequence[Cable]) -> Mask:
    """Which cables are the first planned at their lower port: one port is one series, even if the plan uses it
    twice.
    """
    first = {cable.a: number for number, cable in reversed(list(enumerate(cables)))}
    chosen = np.zeros(len(cables), dtype=bool)
    chosen[list(first.values())] = True
    return chosen
