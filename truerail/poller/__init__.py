"""Gathers what a fleet of running devices answers: all at once, within limits, each failure a value in its own row."""

from truerail.poller.fleet import Gathered, Poller, Progress, gather
from truerail.poller.limits import Ambient, Limits
from truerail.poller.table import Row

__all__ = ["Ambient", "Gathered", "Limits", "Poller", "Progress", "Row", "gather"]
