"""Alerts on planned cables: one that is wrong or missing, a plane, a host's rails, a whole leaf, an uplink.

What explains a cable's alert replaces it: a leaf that is gone, or swapped with another, is one alert, and
Alertmanager mutes those of its cables.
"""

from typing import NamedTuple

from dashboards.rules.declared import Alert, Group, Severity, Story, labels
from dashboards.rules.records import BAD_LINKS, FINDINGS, IN_USE, LOST_RAILS, MISSING, WRONG
from dashboards.rules.stories import Cable, cables

C, W = Severity.CRITICAL, Severity.WARNING


class Words(NamedTuple):
    """What the alerts of a pair say."""

    summary: str
    description: str
    page: str


_USED = f"and on(fabric, pod, rail) ({IN_USE})"
_CABLE = "{{ $labels.host }}/{{ $labels.nic }} (rail {{ $labels.rail }})"
_PLANNED = "{{ $labels.switch }}/{{ $labels.switch_port }}"
_RACKS = (
    "{{ if $labels.rack }} Rack {{ $labels.rack }}{{ if $labels.switch_rack }}, the switch in rack "
    "{{ $labels.switch_rack }}{{ end }}.{{ end }}"
)
_OTHER = "{{ $labels.other_host }}/{{ $labels.other_nic }} (rail {{ $labels.other_rail }})"
_THERE = "{{ $labels.actual_switch }}/{{ $labels.actual_switch_port }}"
_SEEN = (
    "{{ if $labels.actual_switch }} It is on {{ $labels.actual_switch }}"
    "{{ if $labels.actual_switch_port }}/{{ $labels.actual_switch_port }}{{ end }}"
    f"{{{{ if $labels.other_host }}}}, where {_OTHER} belongs, and that one in its place{{{{ end }}}}.{{{{ end }}}}"
)
_WHERE = "`truerail where {{ $labels.host }}/{{ $labels.nic }}`"
_NEXT = f" Next: {_WHERE} names the cause and the moves"
_MOVES = '{{ if eq $labels.action "move" }}'
_NAMES = '{{ else if eq $labels.action "none" }}'
_ELSE, _END = "{{ else }}", "{{ end }}"
_MOVE = (
    f" Next: {_MOVES}{_WHERE} confirms the cause; then "
    f"{{{{ if $labels.other_host }}}}swap the plugs in {_PLANNED} and {_THERE}"
    f"{{{{ else if $labels.actual_switch_port }}}}move the plug from {_THERE} to {_PLANNED}"
    f"{_ELSE}bring the plug to {_PLANNED}{_END}."
    f"{_NAMES}move no cable. {_WHERE} names the device that carries a wrong name: correct the name."
    f"{_ELSE}move no cable yet. {_WHERE} names what comes first, or what decides.{_END}"
)


_WRONG = Words(
    f"{_MOVES}{{{{ if $labels.other_host }}}}The cables of {_CABLE} and {_OTHER} are swapped"
    f"{_ELSE}The cable of {_CABLE} is plugged into the wrong place{_END}"
    f"{_NAMES}The cable of {_CABLE} is under another name"
    f"{_ELSE}The cable of {_CABLE} is in another place than planned{_END}",
    f"The cable of {_CABLE} belongs in {_PLANNED}.{_SEEN}{_RACKS}{_MOVE}",
    "CAB001",
)
_HARM = " Until then jobs on {{ $labels.host }} are slower or fail: keep new ones off it."
_MISSING = Words(
    f"The cable of {_CABLE} is missing or has no link",
    f"The cable of {_CABLE} to {_PLANNED} is missing or has no link.{_RACKS}"
    f"{_NEXT}. Reseat both ends; look at the modules; then replace the cable.",
    "CAB003",
)
_PLANES = Words(
    f"{_CABLE} has lost plane {{{{ $labels.plane }}}}: the NIC runs at a part of its rate",
    f"{_CABLE}: the cable of plane {{{{ $labels.plane }}}} to {_PLANNED} is missing or elsewhere.{_SEEN}{_RACKS}"
    f"{_NEXT}. A cable in the other plane counts as lost too.",
    "CAB008",
)


def _critical(bad: str, rules: str) -> str:
    """A cable that is wrong by name alone affects nothing, and pages no one."""
    paging = f'{bad}\nunless on(fabric, host, nic) {BAD_LINKS}{{action="none"}}'
    return f'{paging}\nand on(fabric, host, rail) {FINDINGS}{{rule=~"{rules}", severity="critical"}}\n{_USED}'


def _pair(name: str, bad: str, rules: str, words: Words, critical: Story, warning: Story) -> tuple[Alert, Alert]:
    """Critical where the rule says so and the rail is in use, else a warning."""
    loud = _critical(bad, rules)
    return (
        Alert(name, C, loud, 2, words.summary, words.description + _HARM, words.page, critical),
        Alert(name, W, f"{bad}\nunless on(fabric, host, nic)\n({loud})", 5, *words, warning),
    )


def _reported(cable: Cable, **more: str) -> tuple[tuple[str, str], ...]:
    return labels(fabric=cable.fabric, **cable.place(), **more)


_SWAPPED = Cable("swapped", "CAB001", 3)
_GONE = Cable("gone", "CAB003", 2)
_PORT = Cable("gone-day-1", "CAB003", 2, in_use=False)
_PLANE = Cable("plane", "CAB008", 3, plane="1")
_PLANE_DAY_1 = Cable("plane-day-1", "CAB008", 3, plane="1", in_use=False)
_SEEN_AT = {"actual_switch": "leaf-6", "actual_switch_port": "swp1", "action": "move"}
_NAMED = Cable("named", "CAB001", 3, action="none")
_NAMED_AT = {**_SEEN_AT, "action": "none"}

CABLES = (
    *_pair(
        "TruerailCableWrong", f'({BAD_LINKS}{{plane=""}} == 3)', "CAB001|CAB008", _WRONG,
        Story(cables(_SWAPPED), _reported(_SWAPPED, **_SEEN_AT), 3,
              quiet=(*cables(Cable("swapped-muted", "CAB001", 3, muted="acknowledged")),
                     *cables(Cable("swapped-unknown", "TEL001", 1)))),
        Story(cables(_NAMED), _reported(_NAMED, **_NAMED_AT), 3),
    ),
    *_pair(
        "TruerailCableMissing", f'({BAD_LINKS}{{plane=""}} == 2)', "CAB003|NIC003", _MISSING,
        Story(cables(_GONE), _reported(_GONE), 2,
              quiet=cables(Cable("gone-muted", "CAB003", 2, muted="maintenance"))),
        Story(cables(_PORT), _reported(_PORT), 2,
              quiet=cables(Cable("gone-off", "CAB003", 2, in_use=False, severity="info"))),
    ),
    *_pair(
        "TruerailPlaneLost", f'{BAD_LINKS}{{plane!=""}}', "CAB001|CAB003|CAB008|NIC003", _PLANES,
        Story(cables(_PLANE), _reported(_PLANE, **_SEEN_AT), 3,
              quiet=cables(Cable("plane-muted", "CAB008", 3, plane="1", muted="maintenance"))),
        Story(cables(_PLANE_DAY_1), _reported(_PLANE_DAY_1, **_SEEN_AT), 3),
    ),
)  # fmt: skip


def _rails(name: str, lost: int) -> Story:
    reported = cables(Cable(name, "CAB003", 2, rails=lost))
    return Story(reported, labels(fabric=name, pod="p1", host="gpu-001"), lost)


_RAILS_WORDS = Words(
    "{{ $labels.host }} has lost {{ $value }} of its rails",
    "{{ $labels.host }} has lost {{ $value }} of its rails: the cables there have no link, and the leaves are not to "
    "blame. Every job on it runs on the others, slower, or fails. Next: keep jobs off it; "
    "`truerail where {{ $labels.host }}` shows each rail from the GPU to the leaf, with the cables to mend.",
    "RAL003",
)
RAILS = (
    Alert("TruerailHostRailsDown", C, f"{LOST_RAILS} >= 2", 2, *_RAILS_WORDS, _rails("two-rails", 2)),
    Alert("TruerailHostRailsDown", W, f"{LOST_RAILS} == 1", 2, *_RAILS_WORDS, _rails("one-rail", 1)),
)


def _leaf(name: str, share: str, state: int, words: Words) -> tuple[Alert, Alert]:
    code = {2: "CAB003", 3: "CAB001"}[state]
    used = f'and on(fabric, switch) ({BAD_LINKS}{{action!="none"}} {_USED})'
    loud = f"({share} >= 0.5)\n{used}"
    reported = (
        Cable(f"leaf-{state}", code, state, hosts=6),
        Cable(f"leaf-{state}-day-1", code, state, hosts=6, in_use=False),
    )
    few = cables(Cable(f"leaf-{state}-few", code, state, hosts=2))
    critical, warning = (Story(cables(c), labels(fabric=c.fabric, switch="leaf-0"), 1, quiet=few) for c in reported)
    return (
        Alert(name, C, loud, 2, *words, critical),
        Alert(name, W, f"({share} >= 0.5)\nunless on(fabric, switch)\n({loud})", 5, *words, warning),
    )


_DOWN = Words(
    "{{ $labels.switch }} is down: {{ $value | humanizePercentage }} of its cables to hosts have no link",
    "{{ $labels.switch }}: {{ $value | humanizePercentage }} of its cables to hosts are missing or have no link, so "
    "its rail is cut for all of them. It is the switch or its power, not the cables. Next: reach it by its console; "
    "`truerail blast {{ $labels.switch }}` says who is hurt.",
    "CAB003",
)
_SWAPPED_LEAF = Words(
    "{{ $labels.switch }} is cabled as another: {{ $value | humanizePercentage }} of its cables are elsewhere",
    "{{ $labels.switch }}: {{ $value | humanizePercentage }} of the cables planned there are elsewhere. So many "
    "are not moved by hand: it is swapped with another leaf, or carries its name. Next: "
    "`truerail where {{ $labels.switch }}` names the cause; mostly no cable has to move.",
    "CAB001",
)
LEAVES = (
    *_leaf("TruerailLeafDown", MISSING, 2, _DOWN),
    *_leaf("TruerailLeafMiscabled", WRONG, 3, _SWAPPED_LEAF),
)

LINK_ALERTS = Group("truerail.cables", alerts=CABLES + RAILS + LEAVES, apart=True)
