"""Recording rules: what alerts and dashboards share, computed once.

Two things are done here for every alert on the fabric:

- What is muted (acknowledged, or in a maintenance window) is left out, and so is what is information only.
- Causes and findings vanish when they end, and also when truerail is restarted. So while truerail is silent, and until
  it has been back for two minutes, what it said last still stands, for at most a quarter of an hour. As long as
  truerail speaks, what it no longer says is gone at once: how long a fault stays open is its life, not a record's.
"""

from typing import Final

from dashboards.rules.declared import MINUTES_HELD, Group, Record

STEADY: Final = "fabric:truerail_evaluation_number:steady2m"
CAUSES: Final = "cause:truerail_cause_info:held"
FINDINGS: Final = "finding:truerail_finding_info:held"
IN_USE: Final = "pod:truerail_rail_right_ratio:max7d"
"""At least 0.5 where half of the cables of a pod's rails were right at some time in the last week: it is in use.
Without a pod: the most of any pod, for causes that lie in several.
"""
VERIFIED: Final = "fabric:truerail_links_verified:ratio"
READ: Final = "role:truerail_devices_read:ratio"
MANY: Final = "fabric:truerail_devices_unread:ratio"
"""The share of unread devices of a role in which so many fail that they are one fault."""
MANY_RATIO: Final = 0.1
MANY_DEVICES: Final = 5
"""One device of a small fabric is a large share, and still one device."""

_UNREAD = "sum by (fabric, role) (truerail_devices) - sum by (fabric, role) (truerail_devices_read)"


def _open(metric: str, identity: str) -> str:
    return f'max by ({identity}, severity) (\n  {metric}{{muted="no", severity!="info"}}\n)'


def _held(name: str, of: str) -> Record:
    """What is reported now and, while truerail is silent or just back, what stood a moment ago: the rule's own last
    sample. A longer look back would bring up again what had ended before.
    """
    lately = f"last_over_time({STEADY}[{MINUTES_HELD}m])"
    return Record(name, f"{of}\nor\n({name} unless on(fabric) {STEADY} and on(fabric) {lately})")


RECORDS = Group(
    "truerail.records",
    (
        # Twelve samples in two minutes are all that there can be: one look every ten seconds, none of them in vain.
        Record(STEADY, "truerail_evaluation_number\nand\n(count_over_time(truerail_evaluation_number[2m:10s]) >= 12)"),
        _held(CAUSES, _open("truerail_cause_info", "fabric, pod, cause, kind")),
        _held(FINDINGS, _open("truerail_finding_info", "fabric, pod, finding, rule")),
        # The subquery looks at whole ten minutes only, so a new Prometheus has nothing else to go by until the first.
        Record(
            "rail:truerail_rail_right_ratio:max7d",
            "max_over_time(truerail_rail_right_ratio[7d:10m])\nor\ntruerail_rail_right_ratio",
        ),
        Record(
            IN_USE,
            "avg by (fabric, pod) (rail:truerail_rail_right_ratio:max7d)\nor\n"
            "max by (fabric) (avg by (fabric, pod) (rail:truerail_rail_right_ratio:max7d))",
        ),
        Record(
            VERIFIED,
            'sum by (fabric) (truerail_links_verified{verified!="none"})\n/ sum by (fabric) (truerail_links_verified)',
        ),
        Record(READ, "sum by (fabric, role) (truerail_devices_read)\n/ sum by (fabric, role) (truerail_devices)"),
        Record(MANY, f"(1 - {READ} > {MANY_RATIO})\nand on(fabric, role)\n({_UNREAD} >= {MANY_DEVICES})"),
        Record(
            "fabric:truerail_links:right_ratio",
            'sum by (fabric) (truerail_links{state="right"})\n/ sum by (fabric) (truerail_links)',
        ),
    ),
)
