"""Which devices answered in a round: any question, and the one for their neighbours."""

import numpy as np

from truerail.analysis.cabling.identity import Identity
from truerail.model.columns import Mask
from truerail.model.nccl_facts import JOB_COLLECTORS
from truerail.model.probe_facts import PROBE_COLLECTORS

NOT_POLLED = JOB_COLLECTORS | PROBE_COLLECTORS
"""Readings of these do not show that a device answers."""


def who_answered(identity: Identity) -> tuple[Mask, Mask]:
    """Which devices returned any data, and which their LLDP neighbours. Shapes (devices + 1,)."""
    devices = identity.index.devices
    answers: dict[str, bool] = {}
    for name in dict.fromkeys(reading.device for reading in identity.names.seen.readings):
        identity.filed(name)  # now: a device that is filed later would have no place in the columns made here
    for reading in identity.names.seen.readings:
        if not reading.error and not answers.get(reading.device) and reading.collector not in NOT_POLLED:
            answers[reading.device] = reading.collector.startswith("lldp")
    codes = [(identity.filed(name), lldp) for name, lldp in answers.items()]
    read = np.zeros(len(devices.names) + 1, dtype=bool)
    listened = np.zeros(len(devices.names) + 1, dtype=bool)
    for code, lldp in codes:
        read[code] = True
        listened[code] |= lldp
    if identity.discovery is not None:  # the cabling of a device met in a discovery is known without a login
        read[identity.discovery.devices] = listened[identity.discovery.devices] = True
    return read, listened
