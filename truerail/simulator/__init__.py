"""A fault simulator: fabrics of any shape, with any mix of faults and noise, as captures in the devices' real formats.

What a machine is, what it calls itself, what its NICs are called and what is plugged where are four separate things
here, because the work of an evaluation is to tell them apart. The truth stands beside the answers.
"""

from truerail.simulator.fabric.builder import Shape
from truerail.simulator.fabric.demo_fabric import demo_simulation
from truerail.simulator.faults.noise import Noise
from truerail.simulator.faults.planting import KINDS, VARIANTS, Fault
from truerail.simulator.faults.truth import Explanation, TrueCause, Truth
from truerail.simulator.simulation import Simulation, simulate

__all__ = [
    "KINDS",
    "VARIANTS",
    "Explanation",
    "Fault",
    "Noise",
    "Shape",
    "Simulation",
    "TrueCause",
    "Truth",
    "demo_simulation",
    "simulate",
]
