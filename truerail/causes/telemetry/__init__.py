"""Counters and cabling together: one cause with its symptoms under it.

1. Findings get their places: port, link, device (`found`).
2. Causes of the cabling and findings are roots; the table defines which findings a root explains, and where
   (`precedence`, `roots`). A wrong-rail cable's traffic through the spines is measured (`crossing`).
3. Rank by rank, physical state first, roots claim findings that share their link, host or pause tree, went on at the
   same time, and lie in the right direction (`correlator`). An unclaimed finding is a cause itself.

An explained finding remains a finding: it only gains a cause.
"""

from truerail.causes.telemetry.correlate import correlate as correlate
