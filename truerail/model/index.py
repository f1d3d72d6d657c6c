"""Names as numbers: every device and port of a plan and of a snapshot gets a code, once, at the border.

A fabric of 100,000 GPUs has a quarter of a million ports but only some hundred distinct port names. So a port is
the pair (device code, name code) packed into one integer, and every look-up of many ports is one binary search in
numpy.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Any

import numpy as np

from truerail.model.columns import NONE, Codes, Mask, distinct, factorize, found, mapped, several
from truerail.model.names import CUT_COLUMN, CUT_NAME, device_key, port_key, printable, short_name
from truerail.model.plan import Cable, Plan, Port, Role

if TYPE_CHECKING:
    from truerail.model.snapshot import Table

_NAME_BITS = 24
NO_NAMES: Mapping[Any, str] = {}
_DIGITS = re.compile(r"\d+")


def _without_digits(name: str) -> str:
    return _DIGITS.sub("#", port_key(name))


class Devices:
    """Devices by code. The first `planned` are the plan's, in its order; others are added as they are heard of. `also`
    has planned devices by further names that they announce.
    """

    def __init__(self, plan: Plan, also: Mapping[str, str] = NO_NAMES) -> None:
        self.names: list[str] = [device.name for device in plan.devices.values()]
        self.planned = len(self.names)
        self.tier: list[int] = [device.role.tier for device in plan.devices.values()]
        self._by_key: dict[str, int] = {}
        self._short: dict[str, int] = {}
        for code, device in enumerate(plan.devices.values()):
            self._by_key.setdefault(device_key(device.name), code)
        for code, device in enumerate(plan.devices.values()):
            for alias in (*device.aliases, device.address):
                if alias:
                    self._by_key.setdefault(device_key(alias), code)
            short = short_name(device_key(device.name))
            self._short[short] = code if self._short.get(short, code) == code else NONE
        for name, planned in also.items():
            self._by_key[device_key(name)] = self._by_key[device_key(planned)]
        self._sorted = sorted(self._by_key)

    @property
    def tiers(self) -> Codes:
        """The tier of every device by its code, -1 for an unplanned one; the last entry is for no device."""
        return np.array([*self.tier, NONE], dtype=np.int64)

    def marked(self, codes: Codes | list[int]) -> Mask:
        """By device code, whether it is among some; the last entry is for no device, -1."""
        found = np.zeros(len(self.names) + 1, dtype=bool)
        found[codes] = True
        return found

    def find(self, name: str) -> int:
        """The code of a device by any spelling of its name; -1 if unknown or if two devices could be meant."""
        key = device_key(name)
        found = self._by_key.get(key)
        if found is None:
            found = self._short.get(short_name(key), self._by_key.get(short_name(key), NONE))
        return found

    def find_heard(self, name: str) -> int:
        """The code of the device that a neighbour calls itself; an unplanned one gets a new code. -1 for a name that
        may be cut if several begin so: it ends with `CUT_NAME`, or fills `CUT_COLUMN` and is no device's own.
        """
        text = name.strip()
        marked = text.endswith(CUT_NAME)
        if not marked and (len(text) != CUT_COLUMN or self.find(text) != NONE):
            return self.find_or_add(name)
        begin = text.removesuffix(CUT_NAME).lower()
        later = islice(self._sorted, bisect_left(self._sorted, begin), None)
        keys = list(takewhile(lambda key: key.startswith(begin), later))
        if not marked and any(key[len(begin) - 1 : len(begin) + 1].isdigit() for key in keys):
            return NONE  # host-1 of the plan's host-12, or a host-1 that the plan does not have
        fits = {self._by_key[key] for key in keys}
        return self.find_or_add(name) if not fits else fits.pop() if len(fits) == 1 else NONE

    def find_or_add(self, name: str) -> int:
        """The code of a device by name; an unplanned device gets a new code."""
        found = self.find(name)
        if found == NONE:
            found = len(self.names)
            self._by_key[device_key(name)] = found
            self.names.append(printable(name, 64))
            self.tier.append(NONE)
        return found

    def unplanned(self) -> tuple[list[str], dict[str, int]]:
        """The names of the devices that the plan does not have, and their codes by key: for `restore`."""
        return self.names[self.planned :], {key: code for key, code in self._by_key.items() if code >= self.planned}

    def restore(self, names: Sequence[str], keys: Mapping[str, int]) -> None:
        """Adds what `unplanned` gave, to the devices of the same plan."""
        self.names += names
        self.tier += [NONE] * len(names)
        self._by_key |= keys

    def is_host(self, code: int) -> bool:
        """Whether this device is a host in the plan."""
        return self.tier[code] == Role.HOST.tier


class _NameCodes(dict[str | None, int]):
    """Codes by raw spelling. A new spelling gets the code of its normalized name, in order of appearance."""

    def __init__(self) -> None:
        super().__init__({None: NONE})
        self._by_key: dict[str, int] = {}
        self.spelling: list[str] = []

    def __missing__(self, name: str | None) -> int:
        assert name is not None  # noqa: S101 - None is there from the start
        code = self._by_key.setdefault(port_key(name), len(self._by_key))
        if code == len(self.spelling):
            self.spelling.append(name)
        self[name] = code
        return code


class Ports:
    """Ports by code. Planned ports come first and keep the plan's spelling; others are added as they are seen."""

    def __init__(self, devices: Devices) -> None:
        self._devices = devices
        self._raw = _NameCodes()
        self._packed = np.empty(0, dtype=np.int64)
        self._order = np.empty(0, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._packed)

    def name_codes(self, names: Iterable[str | None]) -> Codes:
        """Codes of port names: one code for all spellings of a name, -1 for None."""
        return mapped(self._raw.__getitem__, names)

    def names_in(self, table: "Table[Any]", field: str) -> Codes:
        """The codes of the names in a field of every row: each different name is looked up once."""
        codes, names = table.codes(field)
        return np.append(self.name_codes(names), NONE)[codes]

    def known_codes(self, names: Iterable[str | None]) -> Codes:
        """The same without new ones: -1 for a spelling that nothing has. Another thread may add names meanwhile."""
        return mapped(lambda name: self._raw.get(name, NONE), names)

    def find(self, device: Codes, name: Codes) -> Codes:
        """Port codes of (device, name) pairs; -1 where there is no such port or either is -1. Shapes (n,)."""
        wanted = self._pack(device, name)
        if not len(self._packed):
            return np.full(len(wanted), NONE, dtype=np.int64)
        place = np.searchsorted(self._packed, wanted, sorter=self._order)
        found = self._order[np.minimum(place, len(self._order) - 1)]
        return np.where((self._packed[found] == wanted) & (wanted >= 0), found, NONE)

    def find_or_add(self, device: Codes, name: Codes) -> Codes:
        """Port codes of (device, name) pairs; new ones are added. -1 only where either is -1."""
        wanted = self._pack(device, name)
        fresh = wanted[(self.find(device, name) == NONE) & (wanted >= 0)]
        if len(fresh):
            _, first = np.unique(fresh, return_index=True)
            self._packed = np.concatenate([self._packed, fresh[np.sort(first)]])
            self._order = np.argsort(self._packed, kind="stable")
        return self.find(device, name)

    def device_of(self, port: Codes) -> Codes:
        """Device codes of port codes; -1 for -1."""
        if not len(self._packed):
            return np.full(len(port), NONE, dtype=np.int64)
        return np.where(port >= 0, self._packed[port] >> _NAME_BITS, NONE)

    def name_of(self, port: Codes) -> Codes:
        """Name codes of port codes; -1 for -1."""
        if not len(self._packed):
            return np.full(len(port), NONE, dtype=np.int64)
        return np.where(port >= 0, self._packed[port] & ((1 << _NAME_BITS) - 1), NONE)

    def spelled(self, name_code: int) -> str:
        """A name code as text, in the spelling first seen (the plan's, for planned ports)."""
        return self._raw.spelling[name_code]

    def forms(self, name_codes: Codes, form: Callable[[str], str] = _without_digits) -> Codes:
        """A number for the form of each name, which by default names that differ in digits alone share; -1 for no name.
        Forms of two calls are not comparable.
        """
        names, inverse = np.unique(name_codes, return_inverse=True)
        return factorize(form(self.spelled(name)) if name >= 0 else None for name in names.tolist())[0][inverse]

    def key(self, code: int) -> str:
        """The form of a port's name that is the same for all its spellings."""
        return port_key(self._raw.spelling[int(self._packed[code]) & ((1 << _NAME_BITS) - 1)])

    def port(self, code: int) -> Port:
        """One port by name."""
        packed = int(self._packed[code])
        name = self._raw.spelling[packed & ((1 << _NAME_BITS) - 1)]
        return Port(self._devices.names[packed >> _NAME_BITS], printable(name, 64))

    def columns(self) -> tuple[list[str], Codes]:
        """The spellings of names by code, and device and name of each port in one number: for `restore`."""
        return self._raw.spelling, self._packed

    def restore(self, spellings: Iterable[str], packed: Codes) -> None:
        """Adds what `columns` gave, to the ports of the same plan."""
        for name in spellings:
            self._raw[name]  # a new name gets its code
        self._packed, self._order = packed, np.argsort(packed, kind="stable")

    @staticmethod
    def _pack(device: Codes, name: Codes) -> Codes:
        return np.where((device >= 0) & (name >= 0), (device << _NAME_BITS) | name, NONE)


class PlanColumns:
    """What no snapshot changes of a plan's cables, as read-only columns of shape (cables,). The plan owns them."""

    def __init__(self, plan: Plan) -> None:
        cables: Sequence[Cable] = plan.cables
        code = {device.name: number for number, device in enumerate(plan.devices.values())}
        self.a_device = np.array([code.get(c.a.device, NONE) for c in cables], dtype=np.int64)
        self.b_device = np.array([code.get(c.b.device, NONE) for c in cables], dtype=np.int64)
        self.rail = np.array([NONE if c.rail is None else c.rail for c in cables], dtype=np.int64)
        self.plane = np.array([NONE if c.plane is None else c.plane for c in cables], dtype=np.int64)
        self.speed_gbps = np.array([np.nan if c.speed_gbps is None else c.speed_gbps for c in cables], dtype=np.float64)
        tier = np.array([*(device.role.tier for device in plan.devices.values()), NONE], dtype=np.int64)
        self.from_host = tier[self.a_device] == Role.HOST.tier
        for column in (self.a_device, self.b_device, self.rail, self.plane, self.speed_gbps, self.from_host):
            column.setflags(write=False)


class PlanIndex:
    """A plan as arrays over its cables: `a` and `b` port codes, `rail`, `plane` (-1 where none), `speed` (NaN
    where none).

    `cable_at[port]` is the cable planned at a port (-1 if none), for planned ports only; use `cables_at` for any.
    Devices may use other names than the plan: `named` are planned devices by the names that they announce, `called` the
    own names of planned ports.
    """

    def __init__(self, plan: Plan, named: Mapping[str, str] = NO_NAMES, called: Mapping[Port, str] = NO_NAMES) -> None:
        self.plan = plan
        self.named, self.called = named, called
        self.devices = Devices(plan, named)
        self.ports = Ports(self.devices)
        cables: Sequence[Cable] = plan.cables
        columns = plan.once(PlanColumns)
        self.a_device, self.b_device = columns.a_device, columns.b_device
        self.rail, self.plane, self.speed_gbps = columns.rail, columns.plane, columns.speed_gbps
        self.from_host = columns.from_host
        # the plan's own spellings first, so that reports use them
        a_name = self.ports.name_codes([called.get(c.a, c.a.name) for c in cables])
        b_name = self.ports.name_codes([called.get(c.b, c.b.name) for c in cables])
        self.a = self.ports.find_or_add(self.a_device, a_name)
        self.b = self.ports.find_or_add(self.b_device, b_name)
        self.planned_ports = len(self.ports)
        self._cable_at = np.full(self.planned_ports, NONE, dtype=np.int64)
        numbers = np.arange(len(cables) - 1, -1, -1)
        for end in (self.b, self.a):  # backwards, so that the first cable at a port wins, as in Plan.cable_at
            valid = end[::-1] >= 0
            self._cable_at[end[::-1][valid]] = numbers[valid]

    def find(self, device: Codes, names: Iterable[str | None]) -> Codes:
        """Port codes of names as `spell` gives them: planned ones first, then the devices' own; -1 where unknown."""
        return self._find(device, self.ports.name_codes(names))

    def _find(self, device: Codes, name: Codes) -> Codes:
        own = self.ports.find(device, name)
        if not self.called:
            return own
        keys, ports = self._by_label
        at = found(keys, np.where((device >= 0) & (name >= 0), device << 32 | name, NONE))
        return np.where(at >= 0, np.append(ports, NONE)[at], own)

    @cached_property
    def _by_label(self) -> tuple[Codes, Codes]:
        """Devices and names that the plan gives their ports, ascending, and these ports."""
        keys = self.ports.device_of(np.arange(self.planned_ports)) << 32 | self._labels
        order = np.argsort(keys)
        return keys[order], order

    @cached_property
    def _labels(self) -> Codes:
        """Codes of the names that the plan gives its ports."""
        labels = self.ports.name_of(np.arange(self.planned_ports))
        for port, ends in ((self.a, (c.a for c in self.plan.cables)), (self.b, (c.b for c in self.plan.cables))):
            labels[port[port >= 0]] = self.ports.name_codes(end.name for end in ends)[port >= 0]
        return labels

    def labels(self, port: Codes) -> Codes:
        """Codes of the ports' names: the plan's for its ports, whatever each device calls them, else their own."""
        planned = (port >= 0) & (port < self.planned_ports)
        own = self.ports.name_of(port)
        return np.where(planned, self._labels[np.where(planned, port, 0)], own) if self.called else own

    def has(self, device: int, ports: Sequence[int]) -> int:
        """How many of these ports have a label that the plan gives a port of this device."""
        own = self._find(np.full(len(ports), device), self.labels(np.array(ports)))
        return int(np.count_nonzero((own >= 0) & (own < self.planned_ports)))

    def counterparts(self, device: Codes, port: Codes) -> Codes:
        """The port of each device that is labelled as a port of another device is; it is added where needed."""
        there = self._find(device, self.labels(port))
        return np.where(
            there >= 0, there, self.ports.find_or_add(np.where(there < 0, device, NONE), self.ports.name_of(port))
        )

    @property
    def contradicted(self) -> Mask:
        """Cables that cannot be as planned, shape (cables,): at a device that the plan does not have, from a device to
        itself, with another cable in one of their ports or in their host's rail and plane; or that it has before. Where
        half of the hosts or more have two in a rail, they are planes without a name.
        """
        pair = np.minimum(self.a, self.b) << 32 | np.maximum(self.a, self.b)
        found = np.ones(len(pair), dtype=bool)
        found[np.unique(pair, return_index=True)[1]] = False
        found |= (np.minimum(self.a_device, self.b_device) < 0) | (self.a_device == self.b_device)
        found |= several(np.concatenate([self.a, self.b]), np.concatenate([pair, pair])).reshape(2, -1).any(axis=0)
        in_rail = np.flatnonzero(self.from_host & (self.rail >= 0))
        place = (self.a_device << 40 | self.rail << 20 | self.plane + 1)[in_rail]
        twice = in_rail[several(place, pair[in_rail])]
        if 2 * len(distinct(self.a_device[twice])) < len(distinct(self.a_device[in_rail])):
            found[twice] = True
        return found

    def cables_at(self, port: Codes) -> Codes:
        """The cable planned at each port; -1 if there is none."""
        known = (port >= 0) & (port < self.planned_ports)
        return np.where(known, self._cable_at[np.where(known, port, 0)], NONE) if self.planned_ports else port * 0 - 1

    def cable_at(self, port: int) -> int:
        """The cable planned at one port; -1 if there is none."""
        return int(self._cable_at[port]) if 0 <= port < self.planned_ports else NONE

    def far_ends(self, port: Codes) -> Codes:
        """The port at the other end of the cable planned at each port; -1 where there is none."""
        cable = self.cables_at(port)
        if not len(self.a):
            return cable
        return np.where(cable >= 0, np.where(self.a[cable] == port, self.b[cable], self.a[cable]), NONE)

    def a_port(self, cable: int) -> Port:
        """The end of a cable nearer to the GPUs, in the plan's spelling."""
        return self.plan.cables[cable].a

    def b_port(self, cable: int) -> Port:
        """The end of a cable away from the GPUs, in the plan's spelling."""
        return self.plan.cables[cable].b

    def spell(self, port: int) -> Port:
        """A port in the plan's spelling if it is planned, else as first seen: with a mark where the plan calls another
        port so.
        """
        if 0 <= port < self.planned_ports:
            cable = int(self._cable_at[port])
            if cable >= 0:
                return self.a_port(cable) if int(self.a[cable]) == port else self.b_port(cable)
        found = self.ports.port(port)
        return Port(found.device, f"{found.name} (own name)") if found in self.called else found
