"""The state of ports during a step: all effects of faults on traffic."""

from dataclasses import dataclass, field

import numpy as np

from truerail.simulator.traffic.net import Marks, Net, Rates
from truerail.simulator.traffic.traffic_jobs import Job


@dataclass(frozen=True)
class Conditions:
    """Arrays have shape (ports,).

    `capacity` is the share of its speed at which a port sends, `accept` that at which a NIC receives, `pace` the
    relative speed of a NIC's work. `stuck` ports wait for ever, `storming` NICs pause for ever; `warning` ones report
    it themselves. `lost` is the share of frames that arrive corrupted at a port, `bit_errors` the share of bits that
    FEC corrects there. `down` ports have no link, `downs` is the number of link losses in this step; no route uses
    `unused` ports. NICs marked `pcie` or `application` are slow for that reason.
    """

    capacity: Rates
    accept: Rates
    pace: Rates
    lost: Rates
    bit_errors: Rates
    downs: Rates
    stuck: Marks
    storming: Marks
    down: Marks
    unused: Marks
    pcie: Marks
    application: Marks
    warning: Marks
    jobs: list[Job] = field(default_factory=list)
    shared_seed: list[bool] = field(default_factory=list)


HEALTHY_BIT_ERRORS = 1e-9
"""Pre-FEC bit error ratio of a clean link of PAM4 lanes."""


def healthy(net: Net) -> Conditions:
    """Conditions without faults."""
    count = len(net.ports)
    ones, zeros = np.ones, np.zeros

    def marks() -> Marks:
        return np.zeros(count, dtype=bool)

    return Conditions(
        ones(count), ones(count), ones(count), zeros(count), np.full(count, HEALTHY_BIT_ERRORS), zeros(count),
        marks(), marks(), marks(), marks(), marks(), marks(), marks(),
    )  # fmt: skip
