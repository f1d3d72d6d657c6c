"""The extremes of optics in the current hour, per planned port."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from truerail.analysis.cabling import Wiring
from truerail.analysis.optics_lanes import lanes_of
from truerail.history.arrow_tables import arrow, from_columns
from truerail.history.planned_ports import PlannedPorts
from truerail.history.tables import LIGHTS
from truerail.model.columns import Codes
from truerail.model.facts import BitErrorRate

if TYPE_CHECKING:
    import pyarrow as pa

Numbers = npt.NDArray[np.float64]
LEAST = ("rx_power_dbm_min", "tx_power_dbm_min")
MOST = ("temperature_celsius_max", "pre_fec_ber_max")


class HourlyLight:
    """Extremes since the begin of an hour, shapes (planned ports,); NaN is not reported."""

    def __init__(self, hour: datetime, ports: PlannedPorts) -> None:
        self.hour, self.ports = hour, ports
        self.columns = {name: np.full(ports.index.planned_ports, np.nan) for name in (*LEAST, *MOST)}

    def add(self, wiring: Wiring) -> None:
        """Takes in what a round reports."""
        lanes = lanes_of(wiring)
        for name, values in (("rx_power_dbm_min", lanes.rx), ("tx_power_dbm_min", lanes.tx)):
            np.fmin.at(self.columns[name], lanes.port, values)
        np.fmax.at(self.columns["temperature_celsius_max"], lanes.port, lanes.celsius)
        ports, rates = _error_rates(wiring)
        np.fmax.at(self.columns["pre_fec_ber_max"], ports, rates)

    def restore(self, rows: "pa.Table") -> None:
        """Takes in what was written before a restart."""
        index = self.ports.index
        code = np.array([index.devices.find(name) for name in rows["device"].to_pylist()], dtype=np.int64)
        port = index.find(code, rows["port"].to_pylist())
        planned = (port >= 0) & (port < index.planned_ports)
        for names, extreme in ((LEAST, np.fmin), (MOST, np.fmax)):
            for name in names:
                values = rows[name].to_numpy().astype(np.float64)
                extreme.at(self.columns[name], port[planned], values[planned])

    def rows(self) -> "pa.Table":
        """A row for each port with any value."""
        known = np.flatnonzero(np.logical_not(np.isnan(np.stack(list(self.columns.values()))).all(axis=0)))
        columns: dict[str, Any] = {name: values[known] for name, values in self.columns.items()}
        at = arrow().array([self.hour] * len(known), arrow().timestamp("us", "UTC"))
        return from_columns(LIGHTS, {"bucket": at, **self.ports.columns(known), **columns})


def _error_rates(wiring: Wiring) -> tuple[Codes, Numbers]:
    """Planned ports, and the error rates that they report."""
    table = wiring.seen.table(BitErrorRate)
    if not len(table):
        return np.empty(0, dtype=np.int64), np.empty(0)
    names = wiring.index.ports.name_codes(table.column("port"))
    port = wiring.identity.local_ports(wiring.identity.devices_of(table), names)
    rate = table.column("before_fec").astype(np.float64)
    use = (port >= 0) & (port < wiring.index.planned_ports) & ~np.isnan(rate)
    return port[use], rate[use]
