"""The plan names devices, ports or NICs that no device has, or contradicts itself: what it means is not clear.

## Why it matters
Lists are written by people, with the names on the front (`1/5`, `P5`, `OSFP3`), of another system, or of an older
draft. Taken literally, every cable of such a list looks wrong. No cable is moved for a name: what is planned there is
unknown until the question is answered.

## How it is detected
An eighth or more of the planned ports of a device are not among those that it reports, and as many of its own have
planned neighbours but no planned name; half of the devices of its kind or more are like this. A map of names that keeps
the numbers on the front, or the order of a host's GPUs, or on which three devices agree, is used and reported as a
note if it explains the cabling: half of the cables where numbers are kept, a quarter where NICs are in the order of the
GPUs, three quarters elsewhere. Where only another map explains it, this may be a shift of all cables as well: then it
is this question, as is each planned name that a map leaves out. Devices are matched by the words and numbers of their
names, numbers alone if these are the neighbors planned there. Where half of a tier's devices or more are not found so,
those heard in their places are the question. Rows that `truerail plan lint` calls critical, such as two cables in one
port, are named once: what is planned there is unknown too. These limits are judged, on simulated lists
(benchmarks/results/accuracy.md).

## What to do
- Look at one of the devices: does the port beside the printed number have the name that the question offers?
- If so: `truerail plan fit PLAN --from CAPTURE --accept --output FITTED.yaml` writes the plan under the devices' own
  names. If not, correct the names in the list.

## Decide
- `perhaps`: a map explains the cabling. Look at one device, then accept it or correct the list.
- `none of them is known`: no map explains it. Correct the names in the list.
- `contradicts itself`: correct these rows; `truerail plan lint` says what is wrong with each.
- `another fabric's plan`: none of the planned devices answers. See Fix.

## False positives
None known: nothing else is reported of these cables while the question is open.
"""

import numpy as np

from rules._examples import finds_nic, hears
from truerail.analysis.cabling import Why
from truerail.analysis.rule import Case, Findings, Round, rule
from truerail.model import Neighbor, Severity

_SHOWN = 4


@rule("CAB011", Severity.WARNING, [Neighbor], first="where DEVICE")
def plan_names_unknown(round: Round) -> Findings:
    """Planned names that no device has, and rows of the plan that exclude each other."""
    wiring = round.cabling
    rows = [str(wiring.index.a_port(cable)) for cable in np.flatnonzero(wiring.why == Why.CONTRADICTED).tolist()]
    if rows:
        yield plan_names_unknown.found(
            rows[0],
            summary=f"the plan contradicts itself about {len(rows):,} cables, which are unknown: "
            f"{', '.join(rows[:_SHOWN])}{', ...' * (len(rows) > _SHOWN)}",
            action="Correct these rows: `truerail plan lint PLAN` says what is wrong with each.",
        )
    for match in wiring.identity.fit.matches:
        if match.open:
            yield plan_names_unknown.found(
                match.devices[0],
                summary=match.words,
                action=f"{match.question} If so: `truerail plan fit PLAN --from CAPTURE --accept`. "
                "If not: correct the names in the plan.",
                detail=(("devices", len(match.devices)), ("explained", match.explained), ("tested", match.tested)),
            )


def _leaf(first: int) -> list[Neighbor]:
    """A leaf that hears the NICs of four hosts on ports from this number on."""
    return [hears(f"swp{first + n}", f"gpu-{n + 1}/nic0") for n in range(4)]


def _plan(name: str) -> str:
    return "\n".join(f"gpu-{n + 1}/nic0 leaf-0/{name.format(n + 1)} rail=0" for n in range(4))


EXAMPLES = {
    "The list begins at 1, the cables at swp2: a shift of the cables, or of the numbers.": Case(
        {"leaf-0": _leaf(2)}, "leaf-0", plan=_plan("P{}")
    ),
    "The leaf hears each host twice, so that nothing shows which of its ports is meant.": Case(
        {"leaf-0": [*_leaf(1), *_leaf(5)]}, "leaf-0", plan=_plan("P{}")
    ),
    "None of the planned devices answers, others do.": Case(
        {"leaf-0": _leaf(1)}, "node-1", plan=_plan("swp{}").replace("gpu", "node").replace("leaf-0", "rack9")
    ),
    "Two cables in one port.": finds_nic({"leaf-0": _leaf(1)}, plan=_plan("swp1").rpartition("\n")[0]),
    # Quiet:
    "A list with the numbers on the front: P1 is swp1.": Case({"leaf-0": _leaf(1)}, plan=_plan("P{}")),
    "All cables are one port too high, in a list with the leaf's own names.": Case(
        {"leaf-0": _leaf(2)}, plan=_plan("swp{}")
    ),
}
