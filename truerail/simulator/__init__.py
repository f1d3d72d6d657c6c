"""A fault simulator: fabrics of any shape, with any mix of faults and noise, as captures in the devices' real formats.

A machine's identity, its announced name, the names of its NICs and the cabling are four separate things here, because
an evaluation has to distinguish them. The truth is stored beside the answers.
"""

from truerail.simulator.fabric.builder import Shape as Shape
from truerail.simulator.fabric.demo_fabric import demo_simulation as demo_simulation
from truerail.simulator.faults.noise import Noise as Noise
from truerail.simulator.faults.planting import KINDS as KINDS
from truerail.simulator.faults.planting import VARIANTS as VARIANTS
from truerail.simulator.faults.planting import Fault as Fault
from truerail.simulator.faults.truth import TrueCause as TrueCause
from truerail.simulator.faults.truth import Truth as Truth
from truerail.simulator.simulation import Simulation as Simulation
from truerail.simulator.simulation import simulate as simulate
