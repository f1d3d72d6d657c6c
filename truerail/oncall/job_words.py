"""The sentences of a job's answer, and what is said of one host's cables."""

from collections.abc import Iterator, Sequence

from truerail.files.nodesets import fold
from truerail.model.columns import NONE
from truerail.model.wiring import State
from truerail.oncall.answers import CauseLine, JobHost, Pairs
from truerail.oncall.lines import seen_end, why_words
from truerail.oncall.standing import Stand, Standing
from truerail.oncall.subjects import rail_words
from truerail.oncall.view import View
from truerail.outputs.words import count

MOST_NAMED = 3


def headline(hosts: int, unplanned: Sequence[str], tally: tuple[int, int, int], rails: int, pairs: Pairs) -> str:
    """The job in one sentence: hosts that lose a rail, what becomes of the pairs, and what nobody can tell.

    `tally` is hosts with a rail lost, degraded, unknown. Pairs are counted on each rail.
    """
    lost, degraded, unknown = tally
    parts = []
    if lost:
        parts.append(f"{lost:,} of {count(hosts, 'host')} {_has(lost)} lost a rail")
    if degraded:
        parts.append(f"{count(degraded, 'host')} {_has(degraded)} one plane left on a rail")
    if unknown:
        parts.append(f"of {count(unknown, 'host')} nobody can tell whether all rails stand")
    if not parts:
        parts.append(f"{'All ' if hosts > 1 else ''}{count(hosts, 'host')} whole on {count(rails, 'rail')}")
    parts += _fate(pairs)
    if unplanned:
        parts.append(f"{count(len(unplanned), 'name')} not in the plan")
    return f"{parts[0][:1].upper()}{parts[0][1:]}{''.join(f'; {part}' for part in parts[1:])}."


def _has(number: int) -> str:
    return "has" if number == 1 else "have"


def _fate(pairs: Pairs) -> Iterator[str]:
    """What becomes of pairs that do not stay within their rail; one sentence where all do."""
    if pairs.cut:
        yield f"{pairs.cut:,} of {count(pairs.total, 'pair')} cut: NCCL drops these connections"
    if pairs.rerouted:
        yield f"{pairs.rerouted:,} of {count(pairs.total, 'pair')} go round (PXN, or across the spine)"
    if pairs.unknown:
        yield f"{pairs.unknown:,} of {count(pairs.total, 'pair')} cannot be told"
    if pairs.total and pairs.same_rail == pairs.total:
        yield "every pair of hosts stays within its rail"


def rail_says(hosts: int, whole: int, lost: str, degraded: str, unknown: str) -> str:
    """One rail in a line."""
    if whole == hosts:
        return "whole on its one host" if hosts == 1 else f"whole on all {hosts:,} hosts"
    parts = [f"whole on {whole:,} of {hosts:,}"]
    parts += [f"{word} {names}" for word, names in (("lost on", lost), ("one plane left on", degraded)) if names]
    if unknown:
        parts.append(f"nobody can tell of {unknown}")
    return ", ".join(parts)


def host_says(view: View, standing: Standing, host: int) -> str:
    """Why a host is not whole: each of its cables that does not stand, the first few."""
    bad = [cable for cable in view.layout.host_cables_of(host).tolist() if standing.stand[cable] != Stand.ON]
    told = [_cable(view, standing, cable) for cable in bad[:MOST_NAMED]]
    if len({why for _, why in told}) == 1 and len(bad) > 1 and "seen on" not in told[0][1]:
        return f"{_rails(standing, bad)}: {told[0][1]}"
    more = f"; and {count(len(bad) - MOST_NAMED, 'more cable')}" if len(bad) > MOST_NAMED else ""
    return "; ".join(f"{name}: {why}" for name, why in told) + more


def _cable(view: View, standing: Standing, cable: int) -> tuple[str, str]:
    planned = view.plan.cables[cable]
    plane = "" if planned.plane is None else f" plane {planned.plane}"
    name = planned.a.name if planned.rail is None else f"rail {planned.rail}{plane} ({planned.a.name})"
    if standing.stand[cable] == Stand.OFF and standing.wiring.state[cable] == State.RIGHT:
        return name, "RDMA is not active"
    return name, why_words(view, cable, seen_end(view, cable))


def _rails(standing: Standing, cables: Sequence[int]) -> str:
    return rail_words({int(standing.index.rail[cable]) for cable in cables} - {NONE}) or "cables without a rail"


def to_do(worst: Sequence[JobHost], causes: Sequence[CauseLine], *, cut: bool) -> str:
    """One thing to do: mend what hurts the worst host; where pairs are cut, the job must leave the hosts until then."""
    lost = [host.host for host in worst if host.lost]
    first = worst[0].causes if worst else ()
    mend = next((cause.do for cause in causes if cause.key in first), "") or next((c.do for c in causes if c.do), "")
    if cut and lost:
        more = " and the others that have lost a rail" if len(lost) > MOST_NAMED else ""
        return f"{mend} Until then keep the job off {fold(lost[:MOST_NAMED])}{more}.".strip()
    if mend or not worst:
        return mend or "Nothing to do."
    return f"Look at {worst[0].host} first: {worst[0].says}."
