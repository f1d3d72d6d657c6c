"""A simulated, changing fabric: time passes, faults appear and are repaired, and its devices can be polled.

From the transport on, polls run the same code as for real devices.
"""

from truerail.simulator.live.assembly import LivingFabric, living_fabric
from truerail.simulator.live.director import Director, Pace
from truerail.simulator.live.hearing import Daemons
from truerail.simulator.live.living_traffic import LivingTraffic, Trouble
from truerail.simulator.live.living_world import LivingWorld
from truerail.simulator.live.scenario import Entry
from truerail.simulator.live.standing_faults import Standing, StandingFaults
from truerail.simulator.live.transport import SimulatedTransport

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
