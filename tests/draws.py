"""How many examples a property test draws: few in each run, many in `make soak`."""

import os

SOAK = bool(os.environ.get("TRUERAIL_SOAK"))
"""Whether this is `make soak`."""


def draws(here: int, soak: int) -> int:
    """`here`, or `soak` where this is it."""
    return soak if SOAK else here
