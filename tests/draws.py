"""How many examples a property test draws: few in each run, many in `make soak`."""

import os


def draws(here: int, soak: int) -> int:
    """`here`, or `soak` where TRUERAIL_SOAK is set."""
    return soak if os.environ.get("TRUERAIL_SOAK") else here
