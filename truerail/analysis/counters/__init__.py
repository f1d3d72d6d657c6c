"""Counters: what they count, how they misbehave, and their last samples in the plan's terms."""

from truerail.analysis.counters.quantities import Column, Kind, Quantity, columns_of
from truerail.analysis.counters.window import Window

__all__ = ["Column", "Kind", "Quantity", "Window", "columns_of"]
