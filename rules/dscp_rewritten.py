"""Packets arrive with another class (DSCP) than they were sent with.

## Why it matters
The class decides the queue. RoCE that loses its DSCP on the way travels in the best-effort queue: no PFC protects it,
no ECN marks it, and losses stall the job although every port's own configuration looks right.

## How it is detected
`truerail probe` sends with the DSCP of RoCE (26, or the one that the plan maps to a lossless priority) and of its
congestion notifications (48). The listener compares the six bits of the class; the two ECN bits may change. A leaf
whose own pairs are rewritten does it; all that one NIC sends, the NIC or its host; else it happens between two leaves.
With `--what paths,dscp` the switch is named that all rewritten paths share, and no path that keeps its class.

## What to do
Let the named switch trust the DSCP of its ports (CFG001 shows what it is set to), and remove policies that set it.

## Decide
- `packets under`: the leaf itself rewrites: check its trust mode and policies.
- `everything`: the host or its switch port rewrites what this NIC sends, or what is sent to it.
- `between`: a switch above the two leaves.
- `over`: this switch, or one of these, by the paths of a sweep.

## False positives
Fabrics that set the class at their edge on purpose, by another match than DSCP.
"""

from collections.abc import Callable

import numpy as np

from rules._examples import (
    BETWEEN_LEAVES,
    TWO_HOSTS,
    TWO_LEAVES,
    SweptFacts,
    each_to_each,
    heard,
    over_spines,
    sent,
    spines,
    swept_example,
    together,
)
from rules._probes import SURE, TIED, Probed, Sweep, codes_of, probed, sweep_of
from truerail.analysis.cabling import ONE_END
from truerail.analysis.rule import Case, Findings, InsufficientDataError, Round, report_not_evaluated, rule
from truerail.analysis.sweep.packet_seats import Rewriter
from truerail.model import CauseKind, Finding, ProbeReach, Severity, Transport
from truerail.model.columns import Codes, Mask, distinct
from truerail.model.names import some


@rule("PRB006", Severity.WARNING, [ProbeReach], transports=[Transport.ROCE], cause=CauseKind.CONFIGURATION)
def dscp_rewritten(round: Round) -> Findings:
    """NICs, leaves and pairs of leaves whose packets arrive in another class."""
    found = probed(round, dscp_rewritten)
    flows = found.flows
    tos = np.array([flows.fact(flow).tos for flow in range(len(flows.row))], dtype=np.int64)
    tried = found.planned & (tos > 0) & flows.arrived
    if not tried.any():
        raise InsufficientDataError("no packet with a class was sent and heard")
    changed = tried & (flows.rewritten.sum(axis=1) > 0)
    sweep = sweep_of(round, dscp_rewritten)
    for one in sweep.swept.rewriters if sweep.swept.over_paths else ():
        if of_nic := sweep.nic_of(one.segments):
            cable, sends = of_nic
            which = changed & ((flows.cable if sends else flows.peer_cable) == cable)
            words = f"everything {'that' if sends else 'sent to'} {found.nic(cable)} {'sends ' * sends}arrives"
            yield _finding(found, found.nic(cable), which, words)
        else:
            which = changed & _rewritten_by(found, sweep, one)
            sure = TIED if len(one.segments) > 1 else SURE
            words = f"packets over {sweep.words(one.segments)} arrive"
            yield _finding(found, sweep.subject(one.segments), which, words, sure)
        changed &= ~which
    inside = found.leaf == found.peer_leaf
    whole = found.counted(changed, flows.cable)
    of_nic = (whole >= 2) & (whole == found.counted(tried, flows.cable))
    kept = np.isin(found.round.cabling.index.b_device, found.leaf[tried & ~changed])
    for cable in np.flatnonzero(of_nic & kept).tolist():
        which = changed & (flows.cable == cable)
        yield _finding(found, found.nic(cable), which, f"everything that {found.nic(cable)} sends arrives")
        changed &= ~which
    for leaf in distinct(found.leaf[changed & inside]).tolist():
        which = changed & ((found.leaf == leaf) | (found.peer_leaf == leaf))
        yield _finding(found, found.device(leaf), which, f"packets under {found.device(leaf)} arrive")
        changed &= ~which
    for leaf in found.leaves_of_all(tried, changed):
        which = changed & ((found.leaf == leaf) | (found.peer_leaf == leaf))
        words = f"packets between {found.device(leaf)} and all other leaves arrive"
        yield _finding(found, found.device(leaf), which, words)
        changed &= ~which
    for leaf, of in found.by_leaf(changed):
        words = f"packets between {found.device(leaf)} and {found.devices(found.peer_leaf[of])} arrive"
        yield _finding(found, found.device(leaf), of, words)
    seen = found.counted(tried, flows.cable) > 0
    report_not_evaluated(found.unseen(seen, "no packet with a class arrived from them"))


def _rewritten_by(found: Probed, sweep: Sweep, one: Rewriter) -> Mask:
    """The flows that a seat explains: between its leaves, or of the NICs at which it is."""
    if sweep.between_switches(one.segments):
        return found.between(sweep.leaves_of(one.flows))
    cables = sweep.graph.cable_of(np.array(one.segments))
    return np.isin(found.flows.cable, cables) | np.isin(found.flows.peer_cable, cables)


def _finding(found: Probed, subject: str, which: Codes | Mask, words: str, confidence: float = ONE_END) -> Finding:
    flows, of = found.flows, codes_of(which)
    rows = flows.rewritten_row[of]
    first = flows.table.rows[int(rows[0])]
    heard_as = sorted({int(flows.table.rows[int(row)].tos_heard or 0) >> 2 for row in rows})
    return found.found(
        int(flows.cable[of[0]]),
        of,
        subject,
        summary=f"{words} with DSCP {some(list(map(str, heard_as)))} instead of {first.tos >> 2}",
        action=f"Let {subject} trust DSCP, and remove what sets it on the way.",
        confidence=confidence,
        evidence=found.evidence(of, rows),
        detail=(("sent_dscp", first.tos >> 2), ("heard_dscp", heard_as), ("flows", len(of))),
    )


PLAN = TWO_LEAVES


def _classes(*changed: tuple[str, str]) -> dict[str, list[ProbeReach]]:
    """Some pairs lose their class, all others have a mark of congestion."""
    return each_to_each(4, lambda here, there: {"tos_heard": 0 if (here, there) in changed else 107})


_THIRD = "\n\nh5/nic0 leaf-2/p1 rail=0\nh6/nic0 leaf-2/p2 rail=0\nleaf-2/u1 spine-1/p3"
_HALL = _classes()
_HALL["h1"] += [sent(90, "nic0", "h5", "nic0"), heard(91, "nic0", "h5", "nic0", tos_heard=0)]
_HALL["h3"] += [sent(92, "nic0", "h5", "nic0"), heard(93, "nic0", "h5", "nic0", tos_heard=0)]
_HALL["h5"] = [
    *(sent(flow, "nic0", peer, "nic0") for flow, peer in ((91, "h1"), (93, "h3"))),
    *(heard(flow, "nic0", peer, "nic0", tos_heard=0) for flow, peer in ((90, "h1"), (92, "h3"))),
    sent(94, "nic0", "h6", "nic0"),
]
_HALL["h6"] = [heard(94, "nic0", "h5", "nic0")]

_BESIDE = spines().replace("h2/nic0 leaf-1/p1", "h3/nic0 leaf-1/p1") + "\nh2/nic0 leaf-0/p2 rail=0"


def _bleached(path: Callable[[int], tuple[str, ...]], bleached: tuple[str, str], kept: tuple[str, str]) -> SweptFacts:
    """Two pairs of NICs, by all paths: the packets of the first one lose their class."""
    changed = swept_example(path, ends=bleached, tos_heard=lambda _: 0)
    return together(changed, swept_example(path, ends=kept, number=1))


EXAMPLES = {
    "All that one NIC sends.": Case(_bleached(over_spines, ("h1", "h3"), ("h2", "h3")), "h1/nic0", plan=_BESIDE),
    "All between two NICs, and none that another pair sends over the same switches.": Case(
        _bleached(over_spines, ("h1", "h3"), ("h2", "h4")), "h1/nic0", plan=_BESIDE + "\nh4/nic0 leaf-1/p2 rail=0"
    ),
    "All that is sent to one NIC.": Case(
        _bleached(lambda flow: over_spines(flow)[::-1], ("h3", "h1"), ("h3", "h2")), "h1/nic0", plan=_BESIDE
    ),
    "One of four spines clears it.": Case(
        swept_example(tos_heard=lambda flow: 0 if flow % 4 == 1 else 104), "spine-1", plan=spines()
    ),
    "All between one leaf and the others, both ways.": Case(_HALL, "leaf-2", plan=PLAN + _THIRD),
    "Between two leaves.": Case(_classes(*BETWEEN_LEAVES), "leaf-0"),
    "Under a leaf, and all that crosses it.": Case(_classes(*BETWEEN_LEAVES, ("h1", "h2"), ("h2", "h1")), "leaf-0"),
    "All that one NIC sends, by probes without a sweep.": Case(
        _classes(("h1", "h2"), ("h1", "h3"), ("h1", "h4")), "h1/nic0"
    ),
    # Quiet:
    "All keep it; ECN marks do not count.": Case(_classes()),
    "Packets without a class.": Case(
        {"h1": [sent(0, "nic0", "h2", "nic0", tos=0)], "h2": [heard(0, "nic0", "h1", "nic0", tos=0, tos_heard=0)]},
        plan=TWO_HOSTS,
        unknown=True,
    ),
}
