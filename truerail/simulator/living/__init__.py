"""A simulated fabric that lives: time passes, faults appear and are repaired, and its devices can be asked.

From the transport on, whoever asks it runs the code that asks real devices.
"""

from truerail.simulator.living.director import Director, Pace
from truerail.simulator.living.fabric import LivingFabric, living_fabric
from truerail.simulator.living.faults import Standing, StandingFaults
from truerail.simulator.living.hearing import Daemons
from truerail.simulator.living.story import Entry
from truerail.simulator.living.traffic import LivingTraffic, Trouble
from truerail.simulator.living.transport import SimulatedTransport
from truerail.simulator.living.world import LivingWorld

__all__ = [
    "Daemons",
    "Director",
    "Entry",
    "LivingFabric",
    "LivingTraffic",
    "LivingWorld",
    "Pace",
    "SimulatedTransport",
    "Standing",
    "StandingFaults",
    "Trouble",
    "living_fabric",
]
