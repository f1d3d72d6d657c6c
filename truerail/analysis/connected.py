"""Which switches reach each other over uplinks."""

import numpy as np

from truerail.model.columns import Codes, Mask
from truerail.model.index import PlanIndex


def connected_parts(index: PlanIndex, end: Codes, use: Mask, size: int) -> Codes:
    """Numbers the connected parts of the switches, shape (devices,): union by the smaller number."""
    part = list(range(size))

    def root(device: int) -> int:
        while part[device] != device:
            part[device] = part[part[device]]
            device = part[device]
        return device

    links = use & ~index.from_host & (index.a_device >= 0) & (end >= 0)
    for packed in np.unique(index.a_device[links] << 32 | end[links]).tolist():
        one, other = root(packed >> 32), root(packed & 0xFFFFFFFF)
        part[max(one, other)] = min(one, other)
    return np.array([root(device) for device in range(size)], dtype=np.int64)
