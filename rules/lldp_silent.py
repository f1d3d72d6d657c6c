"""A device answers, but reports no LLDP neighbour on its planned ports.

## Why it matters
LLDP shows the actual cables. Where only one end sends it, a wrong cable is still found, with less certainty; where
neither does, the cables stay unknown.

## How it is detected
The device answered some query and has a planned port that is not known to be down, and yet none of its planned ports
hears a neighbour; the reason is in `reason`: its LLDP query failed (the error is named), it listened and heard nothing,
or it was not queried. Warning where cables stay unknown because of it; info where each is known from its other end or
from another witness (MAC tables, neighbour tables, serial numbers of cables), or has a finding of its own: the other
end contradicts itself (CAB005), or hears no neighbour (CAB003). A device that was not queried is named only in the
first case, and where two or more ports hear a host by its name alone, such as a DPU's host: each of its cables may then
be in the place of another of them, and `places_by_name` counts these ports. Unknown for devices that truerail itself
does not poll at the moment. InfiniBand has no LLDP: this rule does not apply to it.

## What to do
- `command not found`: install lldpd, then `systemctl enable --now lldpd`.
- `unable to connect to socket`, `connection refused`: lldpd does not run: `systemctl enable --now lldpd`.
- `permission denied`: lldpcli needs root or, on Debian, the group adm: `usermod -aG adm USER`.
- A host hears nothing while its leaf hears it, or neither hears: the NIC's firmware consumes the frames. ConnectX:
  `mlxconfig -d DEVICE set LLDP_NB_DCBX_P1=0 LLDP_NB_RX_MODE_P1=0 LLDP_NB_TX_MODE_P1=0` and a firmware reset; Intel
  E810: `ethtool --set-priv-flags NIC fw-lldp-agent off`; Intel 700 series: `ethtool --set-priv-flags NIC
  disable-fw-lldp on`.
- Receiving is switched off: `lldpcli configure lldp status rx-and-tx`; on a switch `feature lldp` (NX-OS), `lldp run`
  (EOS), `set protocols lldp interface all` (Junos), `config feature state lldp enabled` (SONiC).

## Decide
- `unable to connect to socket`: lldpd does not run: `systemctl enable --now lldpd`.
- `runs LLDP and has no neighbor`: no frame arrives: the NIC's firmware consumes them, or the switch does not send any.
  See Fix.
- `report the host only`: a DPU sends its host's name and no port. Two swapped cables of this host would look right.
- `cannot be evaluated`: cables are unknown because of it. Not urgent for traffic, but a wrong cable would not be found.

## False positives
A host within 30 seconds of its boot. Hosts without lldpd by design: their leaves hear them, and the finding stays info.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np

from rules._examples import hears, no_carrier, railed, undecided, up
from rules._links import not_polled, unpolled
from rules._places import unknown_cables
from truerail.analysis.cabling import ONE_END, Why, Wiring
from truerail.analysis.cabling.named_by import named_by
from truerail.analysis.cabling.port_pairs import places_by_name
from truerail.analysis.rule import Case, Findings, Round, report_not_evaluated, rule
from truerail.model import Severity, Transport
from truerail.model.columns import Mask, grouped
from truerail.model.names import printable

_CURES = (
    # the first match; lldpcli prints "unable to connect to socket ... Permission denied" without the right to query
    ("permission", "Let the collecting user run the command on {device}: root, sudo, or on Debian the group adm."),
    ("not permitted", "Let the collecting user run the command on {device}: root, sudo, or on Debian the group adm."),
    ("not found", "Install lldpd on {device}, then `systemctl enable --now lldpd`."),
    ("connect", "Start lldpd on {device}: `systemctl enable --now lldpd`."),
    ("refused", "Start lldpd on {device}: `systemctl enable --now lldpd`."),
)
_RUN_BY_HAND = "Run the LLDP command by hand on {device}, and fix the error it shows."
_SWITCH_IT_ON = (
    "Check on {device} that LLDP is on and receives on these ports, and that the NIC's firmware keeps no frames: "
    "`truerail rules explain TEL003` has the commands."
)
_ASK = "Poll {device} for its LLDP neighbors too: the capture or the inventory omits them."


@rule("TEL003", Severity.WARNING, [], transports=[Transport.ROCE, Transport.EFA], first="where DEVICE")
def lldp_silent(round: Round) -> Findings:
    """Planned devices that answer and report no neighbour on a planned port."""
    wiring = round.cabling
    devices = wiring.index.devices
    known = slice(0, devices.planned)
    reported = unknown_cables(wiring, (Why.AMBIGUOUS, Why.SILENT))[known]
    open_ = unknown_cables(wiring, (Why.NIC_OPEN,))[known]  # counted as `places_by_name`
    unknown, failed = unknown_cables(wiring)[known] - reported - open_, _failed(wiring)
    quiet = wiring.read[known] & ~wiring.hears[known]
    quiet &= _linked(wiring, quiet)
    away = {code: why for code, why in unpolled(round, "lldp").items() if quiet[code]}
    quiet[list(away)] = False
    ends, quiet_ends = (wiring.index.a_device, wiring.index.b_device), np.append(quiet, False)
    cables = grouped((int(of[at]), at) for of in ends for at in np.flatnonzero(quiet_ends[of]).tolist())
    listened, by_name = wiring.listened[known], places_by_name(wiring.index, wiring.heard, wiring.partner)[known]
    for code in np.flatnonzero(quiet).tolist():
        name, error = devices.names[code], failed.get(code, "")
        nameless = int(by_name[code]) if by_name[code] > 1 and devices.is_host(code) else 0
        if not (error or listened[code] or unknown[code] or nameless):
            continue
        reason, action = _reason(error, listened=bool(listened[code]))
        count, apart = int(unknown[code]), int(reported[code])
        left = f"{count} of its cables cannot be evaluated" if count else _known_from(wiring, cables[code])
        if apart and not count:
            left += f", but for {apart} that {'has a finding of its' if apart == 1 else 'have findings of their'} own"
        if nameless:
            left += (
                f"; {nameless} of these ends report the host only, so which of its NICs is in which place is unknown"
            )
        yield lldp_silent.found(
            name,
            severity=Severity.WARNING if count else Severity.INFO,
            summary=f"{name} reports no LLDP neighbors: {reason}; {left}",
            action=action.format(device=name),
            confidence=ONE_END,
            detail=(("reason", reason), ("unknown_cables", count), ("places_by_name", nameless)),
        )
    report_not_evaluated(not_polled(round, away))


def _known_from(wiring: Wiring, cables: Sequence[int]) -> str:
    """What shows the cables of a device that has no neighbours."""
    others = sorted({word for cable in cables for word in named_by(wiring, cable)})
    beside = [word for word in others if not word.startswith(("LLDP", "discovery"))]
    known = "its cables are known from their other ends"
    if beside:
        known = (
            f"its cables are known from {'their other ends, ' if len(beside) < len(others) else ''}{', '.join(beside)}"
        )
    return known


def _reason(error: str, *, listened: bool) -> tuple[str, str]:
    """Why there are no neighbours, and what to do about it."""
    if error:
        low = error.lower()
        return error, next((cure for word, cure in _CURES if word in low), _RUN_BY_HAND)
    if listened:
        return "it runs LLDP and has no neighbor on its planned ports", _SWITCH_IT_ON
    return "it was not polled for them", _ASK


def _failed(wiring: Wiring) -> dict[int, str]:
    """Why the LLDP query failed, by device."""
    return {
        wiring.index.devices.find(reading.device): printable(reading.error, 120)
        for reading in wiring.seen.readings
        if reading.error and reading.collector.startswith("lldp")
    }


def _linked(wiring: Wiring, asked: Mask) -> Mask:
    """Which of the queried devices have a planned port that neither end reports as down, shape (planned,)."""
    index, states = wiring.index, wiring.states
    asked = np.append(asked, False)  # for device -1
    linked = np.zeros(len(asked), dtype=bool)
    for device in (index.a_device, index.b_device):
        cables = np.flatnonzero(asked[device])
        ends = index.a[cables], index.b[cables]
        dead = states.down(ends[0]) | states.down(ends[1]) | states.disabled(ends[0]) | states.disabled(ends[1])
        linked[device[cables[~dead]]] = True
    return linked[:-1]


PLAN = railed(2)
_LEAF = [hears("swp1", "gpu-1/nic0"), hears("swp2", "gpu-2/nic0")]

_TWO_NICS = railed(1, rails=2)
_finds_host = partial(Case, finds="gpu-1")

EXAMPLES = {
    "DPUs send their host's name and no port of it: which NIC is on which leaf is unknown.": _finds_host(
        {
            "gpu-1": [up("nic0"), up("nic1")],
            "leaf-0": [hears("swp1", "dpu-gpu-1/p0")],
            "leaf-1": [hears("swp1", "dpu-gpu-1/p0")],
        },
        plan=_TWO_NICS,
    ),
    "The host listens and hears nothing, though its leaf hears it.": _finds_host(
        {"gpu-1": [up("nic0")], "leaf-0": _LEAF}
    ),
    "lldpd does not run on the host, and the leaf is not read: its cable is unknown.": _finds_host(
        {"gpu-1": [up("nic0")]}, errors={"gpu-1": "unable to connect to socket /run/lldpd.socket: Connection refused"}
    ),
    "The LLDP query fails for another reason.": _finds_host(
        {"gpu-1": [up("nic0")], "leaf-0": _LEAF}, errors={"gpu-1": "line 3: unexpected end"}
    ),
    # Quiet:
    "All hear a neighbour.": Case({"leaf-0": _LEAF, "gpu-1": [hears("nic0", "leaf-0/swp1")]}),
    "The host hears nothing because its only link is down: CAB003.": Case(
        {"gpu-1": [no_carrier("nic0")], "leaf-0": _LEAF[1:]}
    ),
    "A host that does not answer at all is TEL001.": Case({"leaf-0": _LEAF}, errors={"gpu-1": "timed out"}),
    "No poller runs for the host any more: its last answer about neighbours is too old, "
    "that about links is not.": undecided(
        {"gpu-1": [up("nic0")], "leaf-0": _LEAF}, unpolled={"gpu-1": "no poller in zone dc1 since 03:12 UTC"}
    ),
}
