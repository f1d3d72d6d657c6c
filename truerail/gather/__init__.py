"""Gathers what a fleet of running devices answers: all at once, within limits, each failure a value in its own row."""

from truerail.gather.fleet import Gathered, Gatherer, Progress, gather
from truerail.gather.limits import Ambient, Limits
from truerail.gather.table import Row

__all__ = ["Ambient", "Gathered", "Gatherer", "Limits", "Progress", "Row", "gather"]
