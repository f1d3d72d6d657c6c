"""How real devices behave: each behaviour is a flag that a simulated fabric can switch on."""

from truerail.simulator.behaviours.catalogue import CATALOGUE, Behaviour
from truerail.simulator.behaviours.chosen import NONE, Behaviours, Choice

__all__ = ["CATALOGUE", "NONE", "Behaviour", "Behaviours", "Choice"]
