"""What depends on the plan alone, as arrays over its cables: computed once for each plan."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property

import numpy as np

from truerail.model.columns import NONE, Codes, factorize, grouped
from truerail.model.index import PlanColumns
from truerail.model.names import device_key, natural_key, short_name
from truerail.model.plan import Plan, Role

_NUMBER = re.compile(r"\d+")
_NEIGHBOURS = 24
_SAME_NUMBER = 48
"""difflib compares a name in about 20 microseconds: so few candidates take two milliseconds."""


class Nearest:
    """Names, sorted. Candidates are the neighbours of the word in sort order, and names with the same numbers."""

    def __init__(self, names: Iterable[str]) -> None:
        self._spelled = {name.lower(): name for name in names}
        self._names = sorted(self._spelled)
        self._by_numbers = grouped((_numbers(name), name) for name in self._names)

    def find(self, word: str) -> str | None:
        """The nearest name, or None."""
        low = word[:255].lower()
        at = bisect_left(self._names, low)
        beside = self._names[max(0, at - _NEIGHBOURS) : at + _NEIGHBOURS]
        alike = self._by_numbers.get(_numbers(low), [])[:_SAME_NUMBER]
        close = get_close_matches(low, dict.fromkeys([*alike, *beside]), n=1)
        return self._spelled[close[0]] if close else None

    def hint(self, word: str) -> str:
        """`, did you mean 'gpu-012'?`, or nothing."""
        found = self.find(word)
        return f", did you mean {found!r}?" if found else ""


def _numbers(name: str) -> tuple[str, ...]:
    """The numbers in a name, without leading zeros: `gpu-012` and `gpu12` may be the same."""
    return tuple(number.lstrip("0") for number in _NUMBER.findall(name))


class Layout:
    """The cables of each device, and the order of lists. Device codes are indices into the plan's order.

    `a_device`, `b_device`, `rail`, `plane` (-1 where none) have shape (cables,).
    """

    def __init__(self, plan: Plan) -> None:
        columns = plan.once(PlanColumns)
        self.a_device, self.b_device = columns.a_device, columns.b_device
        self.rail, self.plane, self.from_host = columns.rail, columns.plane, columns.from_host
        self.devices, self.cables = tuple(plan.devices.values()), plan.cables
        self.code = {device.name: code for code, device in enumerate(self.devices)}

    @cached_property
    def rank(self) -> Codes:
        """Each device's index in the natural order of names, shape (devices,)."""
        return ranks(device.name for device in self.devices)

    @cached_property
    def ordered_devices(self) -> Codes:
        """Device codes: hosts first, then tier by tier, each in natural order."""
        return np.asarray(np.lexsort((self.rank, self.tier)), dtype=np.int64)

    @cached_property
    def ordered_cables(self) -> Codes:
        """Cables in the order of lists: host cables first, then by device and port."""
        return np.asarray(np.argsort(self.place), dtype=np.int64)

    @cached_property
    def tier(self) -> Codes:
        """`Role.tier` of each device, shape (devices,)."""
        return np.array([device.role.tier for device in self.devices], dtype=np.int64)

    @cached_property
    def by_loose_name(self) -> Mapping[str, Sequence[int]]:
        """Codes of devices by their names without domain, marks and leading zeros: `gpu3` for `gpu-003.dc.example`."""
        codes = self.ordered_devices.tolist()
        return grouped((loose(short_name(device_key(self.devices[code].name))), code) for code in codes)

    @cached_property
    def racks(self) -> Mapping[str, Sequence[int]]:
        """Codes of the devices in each rack, by its name in lower case."""
        return grouped(
            (rack.lower(), code) for code in self.ordered_devices.tolist() if (rack := self.devices[code].rack)
        )

    @cached_property
    def place(self) -> Codes:
        """Each cable's index in the order of lists: host cables first, then by device and port, shape (cables,)."""
        names = ranks(cable.a.name for cable in self.cables)
        order = np.lexsort((names, self._rank_of(self.a_device), np.append(self.tier, NONE)[self.a_device]))
        return np.argsort(order)

    @cached_property
    def _by_device(self) -> tuple[Codes, Codes]:
        """Cable numbers grouped by device, ordered within each device; and the start index of each device."""
        size, cables = len(self.devices), np.arange(len(self.a_device))
        device, cable = np.concatenate([self.a_device, self.b_device]), np.concatenate([cables, cables])
        known = device >= 0
        device, cable = device[known], cable[known]
        order = np.lexsort((self.place[cable], device))
        return cable[order], np.searchsorted(device[order], np.arange(size + 1))

    def cables_of(self, device: int) -> Codes:
        """Numbers of the cables at a planned device, in order: first those with their lower end on it, then those with
        their upper end.
        """
        cables, starts = self._by_device
        known = 0 <= device < len(self.devices)
        return np.asarray(cables[starts[device] : starts[device + 1]] if known else cables[:0], dtype=np.int64)

    def host_cables_of(self, host: int) -> Codes:
        """The cables of a host, ordered by rail and plane; those without a rail come last."""
        cables = self.cables_of(host)
        rail = np.where(self.rail[cables] < 0, np.iinfo(np.int64).max, self.rail[cables])
        return np.asarray(cables[np.lexsort((self.place[cables], self.plane[cables], rail))], dtype=np.int64)

    def uplinks_of(self, switch: int) -> Codes:
        """The cables from a switch to the tier above; none for a host."""
        cables = self.cables_of(switch)
        return np.asarray(cables[(self.a_device[cables] == switch) & ~self.from_host[cables]], dtype=np.int64)

    def gpus_on(self, cables: Codes) -> int:
        """The number of GPUs whose rail uses these cables. Each GPU counts once, also with two planes."""
        unit, weight = self._gpu_units
        cables = cables[unit[cables] >= 0]
        _, first = np.unique(unit[cables], return_index=True)
        return int(weight[cables[first]].sum())

    def gpu_cables(self, host: int, gpu: int) -> Codes:
        """The cables of a host on the rails planned for one of its GPUs; none if the host has no such GPU."""
        cables = self.host_cables_of(host)
        cables = cables[self.rail[cables] >= 0]
        rails, position = np.unique(self.rail[cables], return_inverse=True)
        reported = self.devices[host].gpus
        gpus = len(rails) if reported is None else reported
        if not 0 <= gpu < gpus or not len(rails):
            return self.cables_of(NONE)
        mine = position * gpus // len(rails) == gpu if gpus < len(rails) else position == gpu * len(rails) // gpus
        return np.asarray(cables[mine], dtype=np.int64)

    @cached_property
    def _gpu_units(self) -> tuple[Codes, Codes]:
        """Per cable the GPUs that share it, as a code (-1: none, it has no rail), and their number.

        GPU g of G belongs to rail g * R // G of its host's R rails, as in `truerail.analysis.cabling.paths`. If the
        plan does not give a host's number of GPUs, it is one for each rail.
        """
        unit, weight = np.full(len(self.rail), NONE, dtype=np.int64), np.zeros(len(self.rail), dtype=np.int64)
        use = np.flatnonzero(self.from_host & (self.rail >= 0))
        if not len(use):
            return unit, weight
        span = int(self.rail.max()) + 1
        pairs, inverse = np.unique(self.a_device[use] * span + self.rail[use], return_inverse=True)
        host = pairs // span
        rails = np.bincount(host, minlength=len(self.devices))[host]
        position = np.arange(len(pairs)) - np.searchsorted(host, host)
        reported = np.array([NONE if one.gpus is None else one.gpus for one in self.devices], dtype=np.int64)[host]
        gpus = np.where(reported < 0, rails, reported)
        share = -(-(position + 1) * gpus // rails) + (-position * gpus // rails)  # a difference of two ceilings
        few = gpus < rails
        unit[use] = (host * span + np.where(few, position * gpus // rails, position))[inverse]
        weight[use] = np.where(few, np.minimum(gpus, 1), share)[inverse]
        return unit, weight

    @cached_property
    def by_label(self) -> dict[str, list[int]]:
        """Cable numbers by label, in lower case."""
        return grouped((cable.label.strip().lower(), at) for at, cable in enumerate(self.cables) if cable.label)

    @cached_property
    def nearest(self) -> Nearest:
        """The index for nearest-name suggestions."""
        return Nearest(device.name for device in self.devices)

    @cached_property
    def pod_rank(self) -> Codes:
        """Each device's pod in natural order, shape (devices,)."""
        return ranks(device.pod for device in self.devices)

    @cached_property
    def rack_rank(self) -> Codes:
        """Each device's rack in natural order, shape (devices,)."""
        return ranks(device.rack for device in self.devices)

    @cached_property
    def planned_rank(self) -> Codes:
        """Each cable's upper end in natural order, shape (cables,)."""
        names = ranks(cable.b.name for cable in self.cables)
        order = np.lexsort((names, self._rank_of(self.b_device)))
        return np.argsort(order)

    @cached_property
    def label_rank(self) -> Codes:
        """Each cable's label in natural order, shape (cables,)."""
        return ranks(cable.label for cable in self.cables)

    @cached_property
    def cable_words(self) -> list[str]:
        """What a search of cables reads: both planned ends and the label."""
        return [f"{cable.a} {cable.b} {cable.label}".lower() for cable in self.cables]

    @cached_property
    def device_words(self) -> list[str]:
        """What a search of devices reads."""
        return [f"{one.name} {one.role} {one.pod} {one.rack} {one.platform}".lower() for one in self.devices]

    @cached_property
    def hosts(self) -> Codes:
        """Codes of all hosts, pod by pod, each pod in natural order."""
        hosts = np.array([code for code, one in enumerate(self.devices) if one.role is Role.HOST], dtype=np.int64)
        return np.asarray(hosts[np.lexsort((self.rank[hosts], self.pod_rank[hosts]))], dtype=np.int64)

    def _rank_of(self, device: Codes) -> Codes:
        return np.append(self.rank, NONE)[device]


_MARKS = re.compile(r"[-_. ]+")
_ZEROS = re.compile(r"(?<!\d)0+(?=\d)")


def loose(name: str) -> str:
    """A name without marks and leading zeros, in lower case: `gpu-003` and `GPU 3` are `gpu3`."""
    return _ZEROS.sub("", _MARKS.sub("", _ZEROS.sub("", name.lower())))


def ranks(values: Iterable[str]) -> Codes:
    """The index of each value in natural order, -1 for an empty one. Shape (values,)."""
    code, names = factorize(value or None for value in values)
    rank: Codes = np.argsort(sorted(range(len(names)), key=lambda at: natural_key(names[at])))
    return np.append(rank, NONE)[code]
