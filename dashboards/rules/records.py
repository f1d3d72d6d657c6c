"""Recording rules: what alerts and dashboards share, computed once.

Three things are done here for every alert:

- What is muted (acknowledged, or in a maintenance window) is left out.
- A finding is joined with the cable that it is about: that of its NIC, else the only one of its host and rail.
- Findings vanish with their cause, and also when truerail is restarted. So while truerail is silent, and until it has
  been back for two minutes, what it said last still stands, for at most a quarter of an hour. As long as truerail
  speaks, what it no longer says is gone at once.
"""

from typing import Final

from dashboards.rules.declared import MINUTES_HELD, Group, Record

STEADY: Final = "fabric:truerail_evaluation_number:steady2m"
FINDINGS: Final = "device:truerail_device_findings:held"
BAD_LINKS: Final = "link:truerail_link_state:held"
IN_USE: Final = "rail:truerail_rail_right_ratio:max7d >= 0.5"
"""A rail is in use in a pod once half of its cables were right at some time in the last week."""
LOST_RAILS: Final = "host:truerail_rails_lost:held"
MISSING: Final = "switch:truerail_links_missing:ratio"
WRONG: Final = "switch:truerail_links_wrong:ratio"
VERIFIED: Final = "fabric:truerail_links_verified:ratio"
READ: Final = "role:truerail_devices_read:ratio"
CABLE_RULES: Final = "CAB00[1-8]|NIC003"
LEAF_LINKS: Final = 4
"""A leaf with fewer planned cables is not evaluated as a whole."""

_FOUND = "device:truerail_device_findings:sum"
_AFFECTED = "link:truerail_link_info:affected"
_ONLY = "link:truerail_link_info:only"
_LOCATED = "device:truerail_device_findings:located"
_BAD = "link:truerail_link_state:bad"
_SEEN = "link:truerail_link_state:seen"
_SWAPPED = "link:truerail_link_state:swapped"
_PAIRED = "link:truerail_link_state:paired"
_OTHER = "other_host, other_nic, other_rail"
_LOST = "host:truerail_rails_lost:count"
_PLACE = "fabric, pod, host, rail, plane, nic, switch, switch_port, rack, switch_rack"
_SWITCH_LINKS = "switch:truerail_link_info:count"


def _held(name: str, of: str) -> Record:
    """What is reported now and, while truerail is silent or just back, what stood a moment ago: the rule's own last
    sample. A longer look back would bring up again what had ended before.
    """
    lately = f"last_over_time({STEADY}[{MINUTES_HELD}m])"
    return Record(name, f"{of}\nor\n({name} unless on(fabric) {STEADY} and on(fabric) {lately})")


def _swapped() -> str:
    """Two cables that are each seen where the other belongs, each with the other's host, nic and rail."""
    planned, seen = '"switch", "switch_port"', '"actual_switch", "actual_switch_port"'
    reported = f'{_SEEN}{{actual_switch_port!=""}}'
    one, other = (
        f'label_join(label_join({reported}, "belongs", "/", {belongs}), "is", "/", {is_at})'
        for belongs, is_at in ((planned, seen), (seen, planned))
    )
    for label in ("host", "nic", "rail"):
        other = f'label_join({other}, "other_{label}", "", "{label}")'
    return (
        f"sum by ({_PLACE}, actual_switch, actual_switch_port, action, {_OTHER}) (\n"
        f"  {one}\n"
        f"  * on(fabric, belongs, is) group_left({_OTHER})\n"
        f"  count by (fabric, belongs, is, {_OTHER}) ({other})\n)"
    )


def _share(name: str, state: int) -> Record:
    bad = f"count by (fabric, switch) ({BAD_LINKS} == {state})"
    whole = f"max by (fabric, switch) (last_over_time({_SWITCH_LINKS}[{MINUTES_HELD}m]) >= {LEAF_LINKS})"
    return Record(name, f"{bad}\n/ on(fabric, switch)\n{whole}")


FOUND = (
    # Twelve samples in two minutes are all that there can be: one look every ten seconds, none of them in vain.
    Record(
        STEADY,
        "truerail_evaluation_number\nand\n(count_over_time(truerail_evaluation_number[2m:10s]) >= 12)",
    ),
    Record(
        _FOUND,
        "sum by (fabric, pod, host, nic, rail, plane, switch, rule, severity) (\n"
        '  truerail_device_findings{muted="no", severity!="info"}\n)',
    ),
    Record(
        _AFFECTED,
        f'sum by ({_PLACE}) (\n  truerail_link_info and on(fabric, host, rail) {_FOUND}{{host!=""}}\n)',
    ),
    Record(
        _ONLY,
        f'{_AFFECTED}{{rail!=""}}\nand on(fabric, host, rail)\n(count by (fabric, host, rail) ({_AFFECTED}) == 1)',
    ),
    Record(
        _LOCATED,
        f'{_FOUND}{{nic!=""}} * on(fabric, host, nic) group_left(switch, switch_port, rack) {_AFFECTED}\n'
        f'or\n({_FOUND}{{nic=""}} * on(fabric, host, rail) group_left(nic, switch, switch_port, rack) {_ONLY})\n'
        f"or\n({_FOUND} unless on(fabric, host, nic) {_AFFECTED} unless on(fabric, host, rail) {_ONLY})",
    ),
    _held(FINDINGS, _LOCATED),
)

LINKS = (
    # The subquery looks at whole ten minutes only, so a new Prometheus has nothing else to go by until the first.
    Record(
        "rail:truerail_rail_right_ratio:max7d",
        "max_over_time(truerail_rail_right_ratio[7d:10m])\nor\ntruerail_rail_right_ratio",
    ),
    Record(_SWITCH_LINKS, "count by (fabric, switch) (truerail_link_info)"),
    Record(
        _BAD,
        "(truerail_link_state > 1)\n"
        f"* on(fabric, host, nic) group_left(switch, switch_port, rack, switch_rack) {_AFFECTED}\n"
        f'and on(fabric, host, rail)\n{_FOUND}{{rule=~"{CABLE_RULES}"}}',
    ),
    Record(
        _SEEN,
        f"{_BAD} * on(fabric, host, nic) group_left(actual_switch, actual_switch_port, action) "
        "truerail_link_actual_info\n"
        f"or\n({_BAD} unless on(fabric, host, nic) truerail_link_actual_info)",
    ),
    Record(_SWAPPED, _swapped()),
    Record(_PAIRED, f"{_SWAPPED}\nor\n({_SEEN} unless on(fabric, host, nic) {_SWAPPED})"),
    _held(BAD_LINKS, _PAIRED),
    _share(MISSING, 2),
    _share(WRONG, 3),
    Record(
        _LOST,
        "count by (fabric, pod, host) (\n"
        "  count by (fabric, pod, host, rail) (\n"
        f"    ({_BAD} == 2)\n"
        "    unless on(fabric, host, rail) (truerail_link_state < 2)\n"
        f"    unless on(fabric, switch) ({MISSING} >= 0.5 or {WRONG} >= 0.5)\n"
        f"  )\n  and on(fabric, pod, rail) ({IN_USE})\n)",
    ),
    _held(LOST_RAILS, _LOST),
)

FABRIC = (
    Record(
        VERIFIED,
        'sum by (fabric) (truerail_links_verified{verified!="none"})\n/ sum by (fabric) (truerail_links_verified)',
    ),
    Record(READ, "sum by (fabric, role) (truerail_devices_read)\n/ sum by (fabric, role) (truerail_devices)"),
    Record("fabric:truerail_links:right_ratio",
           'sum by (fabric) (truerail_links{state="right"})\n/ sum by (fabric) (truerail_links)'),
)  # fmt: skip

RECORDS = Group("truerail.records", FOUND + LINKS + FABRIC)
