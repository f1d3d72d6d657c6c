"""Counters: quantities, resets and wraps, and the latest samples mapped to planned ports."""

from truerail.analysis.counters.quantities import Column, Kind, Quantity, columns_of
from truerail.analysis.counters.telemetry import Telemetry
from truerail.analysis.counters.window import CounterView, Window

__all__ = ["Column", "CounterView", "Kind", "Quantity", "Telemetry", "Window", "columns_of"]
