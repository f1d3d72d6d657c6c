"""An uplink between switches does not end where the plan says.

## Why it matters
The number of uplinks stays the same, so link counters look healthy; but two uplinks of a leaf on one spine leave
another spine with none. ECMP then loads that spine's links twice as much, and its loss takes two uplinks at once.

## How it is detected
LLDP at either end of the switch-to-switch cable names another port than planned.

## What to do
Move the upper end to the planned port. Crossed uplinks of one leaf that end on the planned spines are harmless to
traffic if the routing is symmetric: correct the plan instead if that is simpler. Where all uplinks of two leaves look
crossed the leaves' labels are swapped and no cable has to move: the cause says so.

## Decide
- `cable-swap`: two uplinks are swapped. Traffic flows, unless routing depends on the position. Move them
  in a quiet hour, or correct the plan.
- `leaf-swap`: all uplinks of two leaves look crossed, and so do their cables to hosts. Correct the names; move no
  cable.
- `! unknown`: only one end reports it. Read the label at the upper end before moving it.

## False positives
Names of two leaves that are swapped show crossed uplinks although every cable is right: then the cables to hosts look
wrong as well, and the cause is one `leaf-swap`.
"""

from rules._examples import hears
from rules._places import Misplaced, places, unseen_cables
from truerail.analysis.cabling import WITNESS_KINDS
from truerail.analysis.rule import Case, Findings, Round, report_not_evaluated, rule
from truerail.model import Neighbor, Severity


@rule("CAB006", Severity.WARNING, [Neighbor], instead=WITNESS_KINDS, first="where SWITCH/PORT")
def uplink_miscabled(round: Round) -> Findings:
    """Cables that start at a switch and are seen elsewhere."""
    placed = places(round)
    wiring = placed.wiring
    for cable in placed.cables_of(Misplaced.UPLINK):
        source, target = wiring.index.a_port(cable), wiring.index.b_port(cable)
        if placed.at[cable] >= 0:
            summary = f"the uplink {source} is cabled to {placed.seen_at(cable)}, not to {target}"
        else:
            stranger = wiring.index.devices.names[int(wiring.heard[wiring.index.b[cable]])]
            summary = f"the uplink {source} does not reach {target}, which sees {stranger} instead"
        yield placed.found(
            uplink_miscabled,
            cable,
            summary=summary,
            action=f"Move the upper end of the cable to {target}, unless its cause is a wrong label.",
        )
    report_not_evaluated(unseen_cables(wiring, ~wiring.index.from_host))


PLAN = "leaf-0/swp9 spine-1/swp1\nleaf-0/swp10 spine-2/swp1\nleaf-1/swp9 spine-1/swp2"

EXAMPLES = {
    "Two uplinks of a leaf are swapped.": Case(
        {"leaf-0": [hears("swp9", "spine-2/swp1"), hears("swp10", "spine-1/swp1")]}, "leaf-0/swp9 leaf-0/swp10"
    ),
    "The leaf hears another spine, which does not report its port.": Case(
        {"leaf-0": [hears("swp9", "spine-2")]}, "leaf-0/swp9"
    ),
    "The spine hears another leaf, which does not report its port; the planned leaf reports nothing.": Case(
        {"spine-2": [hears("swp1", "leaf-1")]}, "leaf-0/swp10"
    ),
    # Quiet:
    "Each uplink ends on its spine.": Case(
        {
            "spine-1": [hears("swp1", "leaf-0/swp9"), hears("swp2", "leaf-1/swp9")],
            "leaf-0": [hears("swp10", "spine-2/swp1")],
        }
    ),
}
