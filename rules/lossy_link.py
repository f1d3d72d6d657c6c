"""A link loses some of the packets that one of its ends sends.

## Why it matters
RoCE sends everything again from the lost packet on, so 1 % loss takes most of a flow's speed, while ports may count
nothing: a bad buffer or a policer drops without an error.

## How it is detected
`truerail probe` sends at least 1,000 packets over each directed link that it can reach, on flows whose path is known
hop by hop, and counts what the listener hears. Each link's own loss rate is compared with a background of one in
100,000 by likelihood; the fewest links that explain what was lost are named, each beyond chance by a factor of a
million. Links that carry the same flows explain it alike, and are separated by probes whose TTL ends just behind each
of them: where the loss begins, fewer are answered; where switches limit their answers, all are named. Loss on flows
whose path is not known is reported without a seat. Unknown instead of passed: links that fewer than 1,000 packets of
known path have crossed.

## What to do
Reseat and clean the optics of this direction, that of the sending end first; then exchange it. See LNK004, LNK005.

## Decide
- `on one or more of`: these links carry the same flows. Compare their counters; exchange nothing before.
- `somewhere between`: the paths of these flows are not known. Read the switches' addresses, or sweep more slowly.
- `packets are lost on`: one link, one direction: repair it.

## False positives
A policer or a full queue of another class loses packets by design: sweep in a quiet hour, in the class of RoCE.
"""

from rules._examples import over_spines, spines, swept_example, undecided
from rules._examples import together as _together
from rules._probes import UNSEATED, Sweep, sweep_to_evaluate
from truerail.analysis.rule import Case, Findings, InsufficientDataError, Round, report_not_evaluated, rule
from truerail.analysis.sweep.losses import together
from truerail.model import CauseKind, Finding, ProbeHop, Severity
from truerail.model.columns import Codes

LEAST_PACKETS = 1000
"""Packets over a directed link from which on 1 % loss is seen (probe.md, section 4)."""


@rule("PRB007", Severity.WARNING, [ProbeHop], cause=CauseKind.SILENT_LINK, first="where SWITCH/PORT")
def lossy_link(round: Round) -> Findings:
    """Links that lose some packets in one direction."""
    sweep = sweep_to_evaluate(round, lossy_link)
    losses = sweep.swept.losses
    for seat in losses.lossy_seats:
        flows = losses.flows_of(seat)
        lost = f"{seat.lost:,} of {seat.sent:,} packets are lost on {sweep.words(seat.segments)} ({seat.rate:.2%})"
        yield sweep.loses(seat, flows, f"{lost}, in {len(flows)} flows")
    for leaf, flows in together(losses):
        yield _unseated(sweep, leaf, flows)
    if losses.by_device:
        raise InsufficientDataError("paths change from packet to packet: loss is seated at leaves and NICs alone")
    short = sweep.swept.coverage.short_of(LEAST_PACKETS)
    report_not_evaluated(sweep.not_covered(short, f"fewer than {LEAST_PACKETS:,} packets of known path have crossed"))


def _unseated(sweep: Sweep, leaf: int, flows: Codes) -> Finding:
    """Losses of flows from a leaf whose paths are not known."""
    counted = sweep.swept.paths.flows
    lost, sent, where = int(counted.lost[flows].sum()), int(counted.sent[flows].sum()), sweep.between(flows)
    return sweep.found(
        sweep.names[leaf],
        flows,
        summary=f"{lost:,} of {sent:,} packets are lost somewhere between {where}; the paths of the flows are unknown",
        action="Exchange nothing yet: sweep again, more slowly, so that all hops answer.",
        confidence=UNSEATED,
        detail=(("links", ()), ("sent", sent), ("lost", lost)),
    )


PLAN = spines(leaves=3)


def _other_way(flow: int) -> tuple[str, ...]:
    return over_spines(flow, leaf=2)


def _some(flow: int) -> int:
    return 2 if flow % 4 == 1 else 0


EXAMPLES = {
    "One of four spines loses 2 % of what it sends to one leaf, and nothing of what it sends to the other.": Case(
        _together(swept_example(lost=_some), swept_example(_other_way, ends=("h1", "h3"), number=1)), "spine-1/d1"
    ),
    "Up and down carry the same flows: one of two links.": Case(swept_example(lost=_some), "leaf-0/up1"),
    "Loss on flows of which no spine answers: without a seat.": Case(
        _together(
            swept_example(flows=16),
            swept_example(_other_way, ends=("h1", "h3"), number=1, lost=_some, deepest=lambda _: 1),
        ),
        "leaf-0",
    ),
    # Quiet:
    "Everything arrives, in one direction; the other one was not swept.": undecided(swept_example()),
    "One packet of thousands is lost.": undecided(swept_example(lost=lambda flow: flow == 7)),
    "Paths change from packet to packet, and everything arrives.": undecided(
        _together(swept_example(), swept_example(lambda flow: over_spines(flow + 1)))
    ),
    "Hops were not asked.": undecided(),
}
