"""The sentences of a path."""

from collections.abc import Sequence
from dataclasses import dataclass

from truerail.questions.answers.climb import Step
from truerail.questions.answers.rail_status import RailStatus, Stand
from truerail.questions.answers.subjects import rail_words
from truerail.questions.path import RailPath
from truerail.views.lines import seen_end, why_words
from truerail.views.view import View


@dataclass(frozen=True, slots=True)
class Way:
    """A path on one rail between two host cables. `steps` are the tiers between their leaves, None if no link leads
    there; `stays` is None if unknown; `leaves_at` is the leaf of another rail that it begins or ends on.
    """

    rail: int
    source: int
    target: int
    steps: tuple[Step, ...] | None
    stays: bool | None
    leaves_at: str
    reaches: bool


def headline(source: str, target: str, rails: Sequence[RailPath]) -> str:
    """All rails in one sentence."""
    off = [path.rail for path in rails if path.stays is False and path.rail is not None]
    doubt = [path.rail for path in rails if path.stays is None and path.rail is not None]
    if len(rails) == 1:
        return f"{source} to {target}, rail {rails[0].rail}: {rails[0].summary}"
    parts = []
    if off:
        parts.append(f"{rail_words(off)} {'do' if len(off) > 1 else 'does'} not stay within the rail")
    if doubt:
        parts.append(f"{rail_words(doubt)} unknown")
    rest = len(rails) - len(off) - len(doubt)
    lost = [path.rail for path in rails if path.stays and path.planes_off and path.rail is not None]
    if not parts and lost:
        return (
            f"{source} to {target}: all {len(rails)} rails stay within the rail, {rail_words(lost)} not on all planes."
        )
    if not parts:
        return f"{source} to {target}: all {len(rails)} rails stay within the rail."
    return f"{source} to {target}: {'; '.join(parts)}; {rest} of {len(rails)} rails stay within the rail."


def rail_says(view: View, standing: RailStatus, way: Way) -> str:
    """One path as a sentence: its hops, or why there is none."""
    broken = [cable for cable in (way.source, way.target) if standing.stand[cable] == Stand.OFF]
    if way.stays:
        over = "" if not way.steps else f" over {_over(view, way.steps)}"
        return f"NIC to NIC within the rail{over}{_off_plan(view, standing, broken)}."
    if way.stays is None:
        doubt = [cable for cable in (way.source, way.target) if standing.stand[cable] == Stand.UNKNOWN]
        why = (
            "; ".join(_why(view, cable) for cable in doubt) or "the state of the uplinks between the leaves is unknown"
        )
        return f"Unknown: {why}."
    why = "; ".join(_why(view, cable) for cable in broken) or "no link connects the leaves"
    if way.reaches and way.steps:
        return f"It leaves its rail at {way.leaves_at} and crosses {_over(view, way.steps)}: {why}."
    if standing.rail_only:
        return f"Cut: {why}. No switch connects the leaves, so NCCL drops the connection."
    return f"No path on this rail: {why}. NCCL uses another NIC (PXN), if there is one."


def planes_say(planes: int, off: Sequence[int], unknown: Sequence[int]) -> str:
    """The planes of a rail that do not connect its two NICs, as a sentence."""
    words = [
        f"{'planes' if len(which) > 1 else 'plane'} {', '.join(map(str, which))} {state}"
        for which, state in ((off, "not"), (unknown, "unknown"))
        if which
    ]
    return f"This holds on {planes - len(off) - len(unknown)} of {planes} planes: {', '.join(words)}."


def pxn_says(leg: str, from_rail: int, found: RailPath, *, rail_only: bool) -> str:
    """The path from one rail to another, as sentences."""
    without = "there is no other path" if rail_only else f"it would cross the spines from rail {from_rail}"
    return (
        f"By PXN: inside the sending host over NVLink from {leg}, then on rail {found.rail}. {found.summary} "
        f"Without PXN (NCCL_PXN_DISABLE=1) {without}."
    )


def _why(view: View, cable: int) -> str:
    return f"{view.index.a_port(cable)}: {why_words(view, cable, seen_end(view, cable))}"


def _off_plan(view: View, standing: RailStatus, broken: Sequence[int]) -> str:
    """Both ends are on one leaf, which is not the planned one."""
    if not broken:
        return ""
    return f", but not as planned: {'; '.join(_why(view, cable) for cable in broken)}"


def _over(view: View, steps: Sequence[Step]) -> str:
    """`8 uplinks to 4 spines`, and the switches above them."""
    first = steps[0]
    words = []
    for step in steps[:-1]:
        role = view.layout.devices[step.switches[0]].role.value
        words.append(f"{len(step.switches)} {role}{'s' if len(step.switches) > 1 else ''}")
    distinct = list(dict.fromkeys(words)) if len(words) > 2 else words
    return f"{', '.join(distinct)} ({first.links} equal uplink{'s' if first.links > 1 else ''})"
