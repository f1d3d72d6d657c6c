"""Polls a fleet of devices: all at once, within limits; a failure is a value in the device's own row."""

from truerail.poller.device_poller import Row
from truerail.poller.fleet import Gathered, Poller, Progress
from truerail.poller.limits import Ambient, Limits

__all__ = ["Ambient", "Gathered", "Limits", "Poller", "Progress", "Row"]
