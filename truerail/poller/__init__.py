"""Polls a fleet of devices: all at once, within limits; a failure is a value in the device's own row."""

from truerail.poller.device_poller import Ambient, Limits, Row
from truerail.poller.fleet import Gathered, Poller, Progress

__all__ = ["Ambient", "Gathered", "Limits", "Poller", "Progress", "Row"]
