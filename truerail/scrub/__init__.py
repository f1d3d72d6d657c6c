"""Captures that can be shared: identities are replaced, the cabling stays."""

from truerail.scrub.scrubbed_round import scrub_round

__all__ = ["scrub_round"]
