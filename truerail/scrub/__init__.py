"""Captures that can be shared: who is who is replaced, what is plugged where stays."""

from truerail.scrub.rounds import scrub_round

__all__ = ["scrub_round"]
