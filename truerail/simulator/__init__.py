"""A fault simulator: fabrics of any shape, with any mix of faults and noise, as captures in the devices' real formats.

A machine's identity, its announced name, the names of its NICs and the cabling are four separate things here, because
an evaluation has to distinguish them. The truth is stored beside the answers.
"""

from truerail.simulator.fabric.builder import Shape
from truerail.simulator.fabric.demo_fabric import demo_simulation
from truerail.simulator.faults.noise import Noise
from truerail.simulator.faults.planting import KINDS, VARIANTS, Fault
from truerail.simulator.faults.truth import TrueCause, Truth
from truerail.simulator.simulation import Simulation, simulate

__all__ = [
    "KINDS",
    "VARIANTS",
    "Fault",
    "Noise",
    "Shape",
    "Simulation",
    "TrueCause",
    "Truth",
    "demo_simulation",
    "simulate",
]
