"""Captures that can be shared: who is who is replaced, what is plugged where stays."""

from truerail.scrub.names import CannotScrub
from truerail.scrub.rounds import scrub_round

__all__ = ["CannotScrub", "scrub_round"]
