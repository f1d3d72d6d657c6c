"""The state of every port as its own device tells it: carrier, administrative state, RDMA state, speed, MTU."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from truerail.model.facts import NetLink, RdmaLink
from truerail.model.identity import Identity
from truerail.model.index import NONE, factorize
from truerail.model.snapshot import Codes

YES, NO = 1, 0
_OPERSTATE_DOWN = {"DOWN", "LOWERLAYERDOWN", "NOTPRESENT"}


@dataclass(frozen=True)
class PortStates:
    """Columns over port codes, shape (ports,). 1 is yes, 0 is no, -1 is not told; NaN is not told.

    `link_row` and `rdma_row` are the rows of the NetLink and RdmaLink tables that say so, -1 where none does.
    """

    carrier: Codes
    enabled: Codes
    rdma_active: Codes
    speed_gbps: npt.NDArray[np.float64]
    mtu: Codes
    link_row: Codes
    rdma_row: Codes

    def down(self, port: Codes) -> npt.NDArray[np.bool_]:
        """Whether the port's own device says that it has no link. False where nothing is known, and for port -1."""
        dark = (self.carrier[port] == NO) | ((self.rdma_active[port] == NO) & (self.carrier[port] != YES))
        return np.asarray((port >= 0) & dark, dtype=bool)

    def up(self, port: Codes) -> npt.NDArray[np.bool_]:
        """Whether the port's own device says that it has link."""
        lit = (self.carrier[port] == YES) | (self.rdma_active[port] == YES)
        return np.asarray((port >= 0) & lit & ~self.down(port), dtype=bool)

    def disabled(self, port: Codes) -> npt.NDArray[np.bool_]:
        """Whether the port is switched off by its operator: down by design."""
        return np.asarray((port >= 0) & (self.enabled[port] == NO), dtype=bool)


def port_states(identity: Identity) -> PortStates:
    """Reads NetLink and RdmaLink into columns over the identity's ports."""
    links, rdma = identity.seen.table(NetLink), identity.seen.table(RdmaLink)
    index = identity.index
    link_port, rdma_port = identity.names.link_ports(), identity.names.rdma_ports()
    size = len(index.ports)

    def blank() -> Codes:
        return np.full(size + 1, NONE, dtype=np.int64)  # the last slot is that of port -1

    states = PortStates(
        blank(), blank(), blank(), np.full(size + 1, np.nan), blank(), _rows(size, link_port), _rows(size, rdma_port)
    )
    _read_links(states, links.column("flags"), links.column("operstate"), link_port)
    _put(states.speed_gbps, link_port, links.column("speed_gbps"))
    _put(states.mtu, link_port, links.column("mtu"))
    _read_rdma(states, rdma.column("state"), rdma.column("physical_state"), rdma_port)
    speed = np.full(size + 1, np.nan)
    _put(speed, rdma_port, rdma.column("rate_gbps"))
    np.copyto(states.speed_gbps, speed, where=np.isnan(states.speed_gbps))
    return states


def _rows(size: int, port: Codes) -> Codes:
    rows = np.full(size + 1, NONE, dtype=np.int64)
    rows[port] = np.arange(len(port))
    rows[size] = NONE
    return rows


def _put(column: Any, port: Codes, values: Any) -> None:
    told = np.array([value is not None for value in values], dtype=bool)
    if told.any():
        use = told & (port >= 0)
        column[port[use]] = values[use].astype(column.dtype)


def _read_links(states: PortStates, flags: Any, operstate: Any, port: Codes) -> None:
    codes, distinct = factorize(list(zip(flags, operstate, strict=True)))
    told = np.array([_carrier(*key) for key in distinct], dtype=np.int64).reshape(-1, 2)[codes]
    states.carrier[port], states.enabled[port] = told[:, 0], told[:, 1]
    states.carrier[-1] = states.enabled[-1] = NONE


def _carrier(flags: tuple[str, ...], operstate: str | None) -> tuple[int, int]:
    state = (operstate or "").upper()
    if "NO-CARRIER" in flags or state in _OPERSTATE_DOWN:
        carrier = NO
    elif "LOWER_UP" in flags or state == "UP":
        carrier = YES
    else:
        carrier = NONE
    return carrier, NONE if not flags else YES if "UP" in flags else NO


def _read_rdma(states: PortStates, state: Any, physical: Any, port: Codes) -> None:
    active = [NONE if s is None else YES if s in ("ACTIVE", "ACTIVE_DEFER") else NO for s in state]
    states.rdma_active[port] = active
    off = np.array([p == "DISABLED" for p in physical], dtype=bool)
    if off.any():
        states.enabled[port[off]] = NO
    states.rdma_active[-1] = states.enabled[-1] = NONE
