"""Polls a fleet of devices: all at once, within limits; a failure is a value in the device's own row."""

from truerail.poller.fleet import Gathered, Poller, Progress, gather
from truerail.poller.limits import Ambient, Limits
from truerail.poller.table import Row

__all__ = ["Ambient", "Gathered", "Limits", "Poller", "Progress", "Row", "gather"]
