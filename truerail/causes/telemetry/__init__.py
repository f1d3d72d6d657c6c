"""Counters and cabling together: one cause with its symptoms under it.

1. Findings get their places: port, link, device (`found`).
2. Causes of the cabling and findings are roots; the table says which findings a root explains, and where (`table`,
   `roots`). What a wrong-rail cable sends through the spines is measured (`crossing`).
3. Rank by rank, physical state first, roots claim what shares their link, host or pause tree, went on at the same time,
   and lies in the right direction (`board`). What nobody claims is a cause itself.

An explained finding stays a finding: it only has a cause.
"""

from truerail.causes.telemetry.correlate import correlate

__all__ = ["correlate"]
