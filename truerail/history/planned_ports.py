"""The planned ports as columns that every table of ports begins with. Made once for a plan."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from truerail.history.arrow_tables import arrow, words
from truerail.model.columns import NONE, Codes
from truerail.model.index import PlanIndex

PORT_COLUMNS = ("device", "port", "rail", "pod", "role")


@dataclass(frozen=True)
class PlannedPorts:
    """The ports of a plan's cables by code, shape (planned ports,)."""

    index: PlanIndex

    @cached_property
    def device(self) -> Codes:
        """The device code of each port."""
        return self.index.ports.device_of(np.arange(self.index.planned_ports))

    @cached_property
    def name(self) -> Codes:
        """The code of each port's name."""
        return self.index.ports.name_of(np.arange(self.index.planned_ports))

    @cached_property
    def rail(self) -> Codes:
        """The rail of each port's cable; -1 for an uplink."""
        cable = self.index.cables_at(np.arange(self.index.planned_ports))
        return np.where(cable >= 0, self.index.rail[cable], NONE)

    @cached_property
    def _devices(self) -> tuple[Any, ...]:
        return tuple(self.index.plan.devices.values())

    @cached_property
    def _names(self) -> list[str | None]:
        return [self.index.ports.spelled(code) for code in range(int(self.name.max(initial=NONE)) + 1)]

    def columns(self, ports: Codes) -> dict[str, Any]:
        """The columns device, port, rail, pod and role of these ports, in the types of the store."""
        device, rail = self.device[ports], self.rail[ports]
        return {
            "device": words(device, [one.name for one in self._devices]),
            "port": words(self.name[ports], self._names),
            "rail": arrow().array(rail, mask=rail < 0),
            "pod": words(device, [one.pod for one in self._devices]),
            "role": words(device, [one.role.value for one in self._devices]),
        }
