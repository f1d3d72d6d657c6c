"""A simulated, changing fabric: time passes, faults appear and are repaired, and its devices can be polled.

From the transport on, polls run the same code as for real devices.
"""

from truerail.simulator.live.assembly import LivingFabric, living_fabric
from truerail.simulator.live.director import Entry, Pace
from truerail.simulator.live.living_traffic import Trouble
from truerail.simulator.live.living_world import Daemons

__all__ = ["Daemons", "Entry", "LivingFabric", "Pace", "Trouble", "living_fabric"]
