"""Flows of probes and the hops that answered them, as columns: what every conclusion of a sweep starts from."""

from dataclasses import dataclass

import numpy as np

from truerail.model.columns import NONE, Codes, Mask


@dataclass(frozen=True)
class Flows:
    """One row for each flow and source port. `source` and `target` are the codes of planned NIC ports.

    Packets `sent` with a TTL that arrives and `heard` by the listener, small ones and large ones apart; `rewritten` are
    those heard in another class than they were sent in. Where no listener witnessed a flow it has no row.
    """

    source: Codes
    target: Codes
    source_port: Codes
    sent: Codes
    heard: Codes
    large_sent: Codes
    large_heard: Codes
    rewritten: Codes
    astray: Mask
    """Heard on another NIC than the planned one, or the host's routes send it by another one."""

    def __len__(self) -> int:
        return len(self.source)

    @property
    def lost(self) -> Codes:
        """Small packets that were not heard; a packet that was heard twice is no gain."""
        return np.asarray(np.maximum(self.sent - self.heard, 0), dtype=np.int64)


@dataclass(frozen=True)
class Hops:
    """One row for each flow, TTL, size and address that answered, or without an address where nothing answered.

    `flow` is a row of `Flows`, `device` and `port` are codes of the plan, -1 where the address is not known or names
    the device alone. `mtu` is that of a "too big" answer, 0 if it names none, -1 for all other answers.
    """

    flow: Codes
    ttl: Codes
    large: Mask
    sent: Codes
    answered: Codes
    device: Codes
    port: Codes
    mtu: Codes

    @property
    def expired(self) -> Mask:
        """Rows of answers that say that the TTL ended there."""
        return np.asarray((self.answered > 0) & (self.mtu == NONE), dtype=bool)


def by_row(row: Codes, values: Codes, size: int) -> Codes:
    """Sums of values by row, shape (size,)."""
    return np.bincount(row, weights=values, minlength=size).astype(np.int64)
