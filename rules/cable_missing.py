"""A planned cable is not there, or carries nothing.

## Why it matters
A host without one of its rails stops every collective that spans it, or falls back to another rail and slows all
members of the job. A leaf without one of its uplinks has less capacity than planned.

## How it is detected
The reason is in `reason`. It is based on what devices report, never on silence alone:

- `link down`: a port's own device reports no carrier (`NO-CARRIER`, operstate `DOWN`, ifOperStatus 2), or an RDMA port
  that is not active while its carrier is unknown; or the discovery of an InfiniBand fabric found the switch and no link
  at the port.
- `silent`: both ends answer, hear other neighbours, and hear none here; or another cable is in the switch port; or the
  host's InfiniBand port has a link that the discovery of the fabric does not have; or the lower end has link and the
  upper one has none: the cable is in another port, or carries one direction only. Where an end reports link and no
  other cable is in the place, the cable counts as unknown, not as missing: the link may be too young for a frame (30
  seconds), or the switch lost rows of its table (SONiC after a restart, sonic-buildimage#24685). It is also unknown
  where one end only listens, and the other, which sends, is heard on its other cables.
- `switched off`: the operator turned the port off: an interface without the `UP` flag, an administratively down switch
  port, on InfiniBand the physical state `DISABLED`. On RoCE most drivers report `DISABLED` without carrier (mlx5,
  bnxt_re, irdma, ...), so it means no link, not switched off; the same applies to a port whose interface was not read.
  A switch port that is on and has no module is `link down`, even where the other end is switched off.
- `pending`, host down: the host does not answer, no switch hears it, and its switches report no link on two or more of
  its cables, and link on none. It is not powered yet, or lost its power.

Critical for a host's cable without link, warning for an uplink and for silence, info for ports that are switched off
and hosts that are down. A host that does not answer while its switch ports have link is TEL001, a missing NIC is
NIC003.

## What to do
`link down`: where the switch gives a reason (no module, module not accepted, error-disabled, no light), the finding
names it and the repair. Otherwise reseat both ends, look at the transceiver (`ethtool -m`, `show interface
transceiver`), then replace the cable. `silent`: look for a second cable in a neighbouring port; check that this port
sends LLDP (TEL003).

## Decide
- `has no module`: put a module into the named port, or reseat the one in it.
- `link-down`: reseat both ends, then try another cable, then another transceiver.
- `switched off by its operator`: somebody did this. Ask who, or read the change log, before switching it on.
- `host down`: no power or no boot. Go to the host's BMC; leave its cables alone.
- `! unknown`: the link is up and the cable's other end is unknown. Find the other end by hand; look at LLDP on both
  ports (TEL003).

## False positives
A link younger than 30 seconds has sent no LLDP frame yet. All links of a host go down at once when it reboots: with two
or more of them, and no answer, it is `host down` and no alert.
"""

from functools import partial

import numpy as np

from rules._examples import carrier, down, finds_nic, hears, no_carrier, rdma, switched_off, undecided
from rules._places import places, unseen_cables
from truerail.analysis.cabling import BOTH_ENDS, ONE_END, WITNESS_KINDS, State, Why, Wiring, link_repair
from truerail.analysis.rule import Case, Findings, Round, report_not_evaluated, rule
from truerail.model import Neighbor, NetLink, RdmaLink, Severity, Transport

_REASONS = {Why.LINK_DOWN: "link down", Why.SILENT: "silent", Why.DISABLED: "switched off", Why.PENDING: "pending"}


@rule("CAB003", Severity.CRITICAL, [Neighbor], instead=WITNESS_KINDS)
def cable_missing(round: Round) -> Findings:
    """Cables without link, without neighbours, switched off, or of hosts that are down."""
    wiring = round.cabling
    missing = (wiring.state == State.MISSING) & (wiring.why != Why.NIC_ABSENT)
    unseen = np.isin(wiring.why, [Why.PENDING, Why.SILENT])
    for cable in np.flatnonzero(missing | unseen).tolist():
        why = Why(int(wiring.why[cable]))
        summary, action = _summary_and_action(wiring, cable, why, places(round).subject(cable))
        yield places(round).found(
            cable_missing,
            cable,
            severity=_severity(why, from_host=bool(wiring.index.from_host[cable])),
            summary=summary,
            action=action,
            confidence=BOTH_ENDS if len(_witnesses(wiring, cable)) == 2 else ONE_END,
            detail=(("reason", _REASONS[why]),),
        )
    report_not_evaluated(unseen_cables(wiring, ~unseen))


def _severity(why: Why, *, from_host: bool) -> Severity:
    if why is Why.LINK_DOWN:
        return Severity.CRITICAL if from_host else Severity.WARNING
    return Severity.WARNING if why is Why.SILENT else Severity.INFO


def _summary_and_action(wiring: Wiring, cable: int, why: Why, subject: str) -> tuple[str, str]:
    a, b = wiring.index.a_port(cable), wiring.index.b_port(cable)
    pair = f"{subject} to {b}"
    if why is Why.LINK_DOWN:
        reported = _witnesses(wiring, cable)
        reason, action = link_repair(wiring, cable)
        summary = (
            f"{subject} has no link to {b}, as {' and '.join(reported)} {'reports' if len(reported) == 1 else 'report'}"
        )
        return f"{summary}: {reason}" if reason else summary, action
    if why is Why.DISABLED:
        return f"{pair} is switched off by its operator", "None if this is intended; else switch the port on."
    if why is Why.PENDING:
        return f"{pair}: host down, {a.device} does not answer and has no link", f"Power {a.device}, then check again."
    taker = int(wiring.partner[wiring.index.b[cable]])
    if taker >= 0:
        return (
            f"{subject} is not found anywhere, and its port {b} is taken by {wiring.index.spell(taker)}",
            f"Find the other end of the cable of {a}.",
        )
    if wiring.states.lit(wiring.index.a[[cable]])[0] and wiring.states.dark(wiring.index.b[[cable]])[0]:
        return (
            f"{subject} has link, and {b} has none: its cable is in another port, or carries one direction only",
            f"Find the other end of the cable of {a}. If it is in {b}, replace the cable, then the transceivers.",
        )
    if wiring.met:
        return (
            f"{pair}: {a} reports its link up, but the discovery of the fabric finds it nowhere",
            f"Find the other end of the cable of {a}: it is beyond this fabric, or was plugged in since the discovery.",
        )
    if not any(wiring.states.up(code[[cable]])[0] for code in (wiring.index.a, wiring.index.b)):
        return (
            f"{pair}: {_who_hears_whom(wiring, cable)}; no end reports whether it has link",
            f"Check whether {a} and {b} have link. Without it reseat the cable; with it find the cable's other end.",
        )
    summary = f"{pair}: link is up, but {_who_hears_whom(wiring, cable)}"
    action = f"Check again in a minute: a new link has sent no frame yet. Then check that LLDP is on for {a} and {b}"
    return (
        f"{summary}; where the cable leads is unknown",
        f"{action}, and restart it on the switch if its newest neighbors are missing.",
    )


def _who_hears_whom(wiring: Wiring, cable: int) -> str:
    """Which end does not hear which."""
    a, b = wiring.index.a_port(cable), wiring.index.b_port(cable)
    hears = wiring.hears[[wiring.index.a_device[cable], wiring.index.b_device[cable]]].tolist()
    if all(hears):
        return "neither end sees the other, but both see others"
    quiet, near, far = (a.device, b, a) if hears[1] else (b.device, a, b)
    return f"{near} does not see {far}, but {quiet} is seen elsewhere; {quiet} reports no neighbors itself"


def _witnesses(wiring: Wiring, cable: int) -> list[str]:
    """What reports that there is no link: the ports themselves, and a discovery, which is one witness for both ends."""
    index, states = wiring.index, wiring.states
    ends = ((index.a[[cable]], index.a_port(cable)), (index.b[[cable]], index.b_port(cable)))
    dark_ends = [str(port) for code, port in ends if states.dark(code)[0]]
    return [*dark_ends, *(["the discovery of the fabric"] if any(states.unlinked(code)[0] for code, _ in ends) else [])]


PLAN = (
    "gpu-1/nic0 leaf-0/swp1 rail=0\ngpu-1/nic1 leaf-0/swp2 rail=1\n"
    "gpu-2/nic0 leaf-0/swp3 rail=0\nleaf-0/swp9 spine-1/swp1"
)
_OTHERS = [hears("swp2", "gpu-1/nic1"), hears("swp3", "gpu-2/nic0"), hears("swp9", "spine-1/swp1")]
_NIC1_UP = carrier("nic1")
_NIC1_HEARS = hears("nic1", "leaf-0/swp2")

_INFINIBAND = "gpu-1/mlx5_0 leaf-0/1 rail=0\ngpu-2/mlx5_0 leaf-0/2 rail=0\ngpu-2/mlx5_1 leaf-1/1 rail=1"


def _link(switch: str, port: str, host: str, device: str) -> tuple[Neighbor, Neighbor]:
    """A link as a discovery reports it, from both ends."""
    at_switch = hears(port, f"{host}/{device}", via="InfiniBand", of=switch)
    return at_switch, hears(device, f"{switch}/{port}", via="InfiniBand", of=host)


_DISCOVERED = [*_link("leaf-0", "2", "gpu-2", "mlx5_0"), *_link("leaf-1", "1", "gpu-2", "mlx5_1")]
_infiniband = partial(Case, plan=_INFINIBAND, transport=Transport.INFINIBAND)

EXAMPLES = {
    "The discovery of an InfiniBand fabric, which one host reports, has no link at the leaf's port.": _infiniband(
        {"gpu-2": _DISCOVERED}, "gpu-1/mlx5_0"
    ),
    "The same, and the host says that it has link: it is plugged in elsewhere.": _infiniband(
        {"gpu-2": _DISCOVERED, "gpu-1": [RdmaLink("mlx5_0", 1, "ACTIVE", "LINK_UP")]}, "gpu-1/mlx5_0"
    ),
    "No carrier, as the host says.": finds_nic({"leaf-0": _OTHERS, "gpu-1": [no_carrier("nic0"), _NIC1_UP]}),
    "No carrier on RoCE, as most drivers report it, and nothing was read of the interface.": finds_nic(
        {"leaf-0": _OTHERS, "gpu-1": [rdma("DOWN", "DISABLED"), _NIC1_UP]}
    ),
    "The leaf's cage is empty, and the host's port is switched off: the module is missing all the same.": finds_nic(
        {
            "leaf-0": [*_OTHERS, NetLink("swp1", operstate="DOWN", down_reason="no module")],
            "gpu-1": [switched_off("nic0"), _NIC1_UP],
        }
    ),
    "No carrier, as both ends say.": finds_nic(
        {"leaf-0": [*_OTHERS, down("swp1")], "gpu-1": [rdma("DOWN", "POLLING"), _NIC1_UP]}
    ),
    "An uplink is down.": Case({"leaf-0": [*_OTHERS[:2], down("swp9")], "spine-1": []}, "leaf-0/swp9"),
    "Link is up at both ends, and neither hears the other.": finds_nic(
        {"leaf-0": _OTHERS, "gpu-1": [carrier("nic0"), _NIC1_UP, _NIC1_HEARS]}
    ),
    "Neither end hears the other, and none reports whether it has link.": finds_nic(
        {"leaf-0": _OTHERS, "gpu-1": [_NIC1_HEARS]}
    ),
    "The host's port has link and the leaf's has none: the cable is elsewhere, "
    "or carries one direction only.": finds_nic(
        {"leaf-0": [*_OTHERS, down("swp1")], "gpu-1": [carrier("nic0"), _NIC1_UP, _NIC1_HEARS]}
    ),
    "Another cable sits in its place, and it is seen nowhere itself.": finds_nic(
        {"leaf-0": [*_OTHERS[:1], hears("swp1", "gpu-2/nic0")], "gpu-1": [_NIC1_HEARS]}
    ),
    "The operator switched the NIC off.": finds_nic({"leaf-0": _OTHERS, "gpu-1": [switched_off("nic0"), _NIC1_UP]}),
    "The host is down: it does not answer, and all of its switch ports are without link.": Case(
        {"leaf-0": [*_OTHERS[1:], down("swp1"), down("swp2")]}, "gpu-1/nic0 gpu-1/nic1"
    ),
    # Quiet:
    "The leaf of an InfiniBand fabric was not met in the discovery: what is on its ports is not known.": _infiniband(
        {"gpu-2": [link for link in _DISCOVERED if link.of != "leaf-0" and link.system_name != "leaf-0"]}, unknown=True
    ),
    "All cables are there, as the leaf hears.": Case({"leaf-0": [*_OTHERS, hears("swp1", "gpu-1/nic0")]}),
    "Neither the host nor the leaf answers: nothing is known, and nothing is missing.": undecided(
        {"spine-1": [hears("swp1", "leaf-0/swp9")]}, errors={"gpu-1": "timed out", "leaf-0": "timed out"}
    ),
}
