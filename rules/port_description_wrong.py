"""A port's description names another cable end than the one that is there.

## Why it matters
Descriptions are what people read first at three in the morning, and what scripts take for the truth. A stale one sends
a technician to the wrong host, although the cable is right.

## How it is detected
A port sends its description with LLDP. Where the cable is right by its port ids, and the description has the form
`device:port`, `device port`, `device/port` or `device`, with or without `to` before it, the planned device or port that
it names must be the other end. A description that names nothing of the plan, or the sender itself, is free text.
Several ports of one device are one finding. Descriptions are never evidence for a place.

## What to do
Correct the description. If many descriptions of a device name the ports of an earlier plan, write them from the plan.

## Decide
- `is described as`: one port. Correct its description.
- `ports are described as`: the device's descriptions come from an earlier plan. Write them from the plan.

## False positives
A device of the plan whose name is also a word in free text, such as a customer's. This is information; it never alerts.
"""

import re

import numpy as np

from rules._examples import finds_nic, hears, railed
from truerail.analysis.cabling import ONE_END, State, Wiring, evidence_of
from truerail.analysis.rule import Case, Findings, Round, rule
from truerail.model import Finding, Neighbor, Severity
from truerail.model.columns import NONE, Codes, Objects, factorize
from truerail.model.names import printable, some

_LABEL = re.compile(r"(?://\s*)?(?:(?:connected )?to[- ])?([^\s:/]+)(?:[:/ ]([^\s:]\S*))?", re.IGNORECASE)
_SHOWN = 4


@rule("CAB010", Severity.INFO, [Neighbor], first="where PORT")
def port_description_wrong(round: Round) -> Findings:
    """Ports of right cables whose descriptions name another planned end."""
    for device, ports in round.cabling.once(_misdescribed).items():
        yield _finding(round.cabling, round.cabling.index.devices.names[device], ports)


def _misdescribed(wiring: Wiring) -> dict[int, dict[int, int]]:
    """The ports described as another end, by device, each with the claim that reports it."""
    index, claims = wiring.index, wiring.identity.claims
    cable = index.cables_at(claims.u)
    right = (cable >= 0) & (claims.v >= 0) & (index.far_ends(claims.u) == claims.v)
    right[right] = wiring.state[cable[right]] == State.RIGHT
    rows = np.flatnonzero(right)
    texts = wiring.seen.table(Neighbor).column("port_description")[claims.row[rows]]
    wrong = rows[_names_another_end(wiring, texts, claims.u[rows], claims.w[rows])]
    found: dict[int, dict[int, int]] = {}
    for row in wrong.tolist():
        found.setdefault(int(claims.w[row]), {}).setdefault(int(claims.v[row]), row)
    return found


def _names_another_end(wiring: Wiring, texts: Objects, heard_at: Codes, sender: Codes) -> Codes:
    """The places of the texts that name a planned device or port other than the port that hears them."""
    index = wiring.index
    code, distinct = factorize(texts)
    split = [*(_LABEL.fullmatch(text.strip()) for text in distinct), None]  # -1, no text, is the last one
    spoken, names = factorize([one[1] if one else None for one in split])
    of_name = np.array([*map(index.devices.find, names), NONE], dtype=np.int64)
    device = of_name[spoken][code]
    device[(device >= index.devices.planned) | (device == sender)] = NONE
    named = index.ports.name_codes(one[2] if one else None for one in split)[code]
    port = index.ports.find(device, named)
    other_device = (device >= 0) & (device != index.ports.device_of(heard_at))
    other_port = (port >= 0) & (port < index.planned_ports) & (port != heard_at)
    known = (named < 0) | ((port >= 0) & (port < index.planned_ports))
    return np.flatnonzero(known & (other_device | other_port))


def _finding(wiring: Wiring, name: str, ports: dict[int, int]) -> Finding:
    index, claims = wiring.index, wiring.identity.claims
    facts = wiring.seen.table(Neighbor).rows
    ends = {port: str(index.spell(int(claims.u[row]))) for port, row in ports.items()}
    texts = {port: printable(facts[int(claims.row[row])].port_description or "", 80) for port, row in ports.items()}
    first, *others = ports
    shown = some([f"{index.spell(port).name} as {texts[port]}, not {ends[port]}" for port in ports], more=", ...")
    single = f"{index.spell(first)} is described as {texts[first]}; its cable leads to {ends[first]}, as planned"
    return port_description_wrong.found(
        name if others else str(index.spell(first)),
        summary=f"{name}: {len(ports)} ports are described as other ends than theirs: {shown}" if others else single,
        action="Move no cable. Correct the description.",
        expected=None if others else ends[first],
        observed=None if others else texts[first],
        confidence=ONE_END,
        evidence=tuple(
            evidence_of(wiring.seen, Neighbor, int(claims.row[row])) for row in list(ports.values())[:_SHOWN]
        ),
        detail=(("descriptions", {index.spell(port).name: end.replace("/", ":", 1) for port, end in ends.items()}),),
    )


PLAN = railed(3)


def _hosts(*texts: str | None) -> dict[str, list[Neighbor]]:
    """What each host hears from its leaf, whose ports have these descriptions."""
    return {f"gpu-{n}": [hears("nic0", f"leaf-0/swp{n}", port_description=text)] for n, text in enumerate(texts, 1)}


EXAMPLES = {
    "One port of a leaf still has the name of the host that was there before.": Case(
        _hosts("gpu-1:nic0", "to-gpu-3:nic0", None), "leaf-0/swp2"
    ),
    "Only the device is named.": Case(_hosts("// Connected to gpu-2", None, "to gpu-3"), "leaf-0/swp1"),
    "All descriptions are one port off, as in an earlier plan: one finding, on the leaf.": Case(
        _hosts("gpu-2 nic0", "gpu-3/nic0", "gpu-1:nic0"), "leaf-0"
    ),
    "A NIC's alias names another port of its leaf.": finds_nic(
        {"leaf-0": [hears("swp1", "gpu-1/nic0", port_description="leaf-0:swp2")]}
    ),
    # Quiet:
    "Each names its end, however it is written.": Case(_hosts("gpu-1:nic0", "to-gpu-2 nic0", "GPU-3.dc1:nic0")),
    "Free text, a device that is not planned, the port itself.": Case(_hosts("rail 0", "gpu-9:nic0", "swp3")),
    "A port that the plan does not have, or the sender's own name.": Case(_hosts("gpu-2:eth7", "leaf-0:swp3")),
    "The cable is wrong: the description names the planned end, and the cable is the finding.": Case(
        {"leaf-0": [hears("swp1", "gpu-2/nic0", port_description="leaf-0:swp2")]}
    ),
}
