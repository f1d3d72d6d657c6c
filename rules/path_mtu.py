"""Large packets are lost where small ones arrive: a hop of the path takes fewer bytes than the NICs send.

## Why it matters
RDMA at full size loses every full packet there, while LLDP, ping and connection setup work: jobs hang at their first
large transfer. LNK002 compares the two ends of a NIC's link, and can see neither the links between switches nor ports
that do not report their MTU.

## How it is detected
`truerail probe` sends IP packets of the plan's MTU (9000 bytes if it declares none) with the DF bit, on the flows of
the lists A and B, beside packets of 64 bytes. A router whose next link is too small says so (ICMP), with its MTU. Where
no router says so, the flows that lose their large packets are compared: all of one NIC, or all between two leaves. A
host that refuses to send the size itself has that MTU on its own NIC. With `--what paths,mtu` large packets go over
every path, and the link is named: behind the router that says so, or behind the last hop that large probes reach.

## What to do
Raise the MTU of the named hop to that of the hosts' packets and more (9216 is usual on switches); on a host
`ip link set dev NIC mtu 9000`, and in its network configuration.

## Decide
- `too big`: the device that says so has a smaller MTU on its next link towards the destination.
- `refuses to send`: the NIC's own MTU is smaller.
- `loses all large packets`: this NIC, or its switch port.
- `large packets are lost between`: a link between the two leaves.
- `large packets end on`: this link, in this direction, by the paths of a sweep.

## False positives
Hosts that are meant to have a smaller MTU than the plan declares: correct the plan, or set --mtu.
"""

import numpy as np

from rules._examples import BETWEEN_LEAVES, TWO_HOSTS, TWO_LEAVES, heard, sent, spines, swept_example, together
from rules._probes import SURE, TIED, Probed, Sweep, probed, sweep_of
from truerail.analysis.cabling import evidence_of
from truerail.analysis.probes.upper_links import owners
from truerail.analysis.rule import Case, Findings, InsufficientDataError, Round, report_not_evaluated, rule
from truerail.analysis.sweep.packet_seats import CutOff
from truerail.model import CauseKind, Finding, NetAddress, ProbeHop, ProbeReach, ProbeTrouble, Severity
from truerail.model.columns import NONE, Codes, Mask, distinct

_LARGE = 1200
"""Bytes from which a probe is a large one: more than every path has to take (RFC 8200: 1280, IPv4: 576)."""


@rule("PRB003", Severity.CRITICAL, [ProbeReach], cause=CauseKind.CONFIGURATION)
def path_mtu(round: Round) -> Findings:
    """Hops, NICs and pairs of leaves that lose large packets."""
    found = probed(round, path_mtu)
    flows, large = found.flows, found.flows.sizes >= _LARGE
    refused = _refused(found)
    tried = found.judged & (((flows.sent[:, large].sum(axis=1) > 0) & flows.witnessed) | refused)
    if not tried.any():
        raise InsufficientDataError("no large packet was sent, or no listener can say whether it arrived")
    small = flows.heard[:, ~large].sum(axis=1) > 0
    lost = tried & small & (flows.heard[:, large].sum(axis=1) == 0)
    for cable in distinct(flows.cable[lost & refused]).tolist():
        yield _own(found, cable, lost & refused & (flows.cable == cable))
    lost &= ~np.isin(flows.cable, flows.cable[lost & refused])
    sweep = sweep_of(round, path_mtu)
    cut_offs = sweep.swept.cut_offs if sweep.swept.over_paths else ()
    for cut in cut_offs:
        if sweep.between_switches(cut.segments):
            yield _seated(sweep, cut)
            lost &= ~found.between(sweep.leaves_of(cut.flows))
        elif cut.mtu is None and (of_nic := sweep.nic_of(cut.segments)):
            cable, sends = of_nic
            which = lost & ((flows.cable if sends else flows.peer_cable) == cable)
            yield _nic(found, cable, which)
            lost &= ~which
    named = _said(found)
    at = np.array([named.get(int(flow), (NONE, NONE))[0] for flow in range(len(lost))], dtype=np.int64)
    for device in distinct(at[lost & (at != NONE)]).tolist():
        yield _hop(found, device, np.flatnonzero(lost & (at == device)), named)
    lost &= at == NONE
    for ends in (flows.cable, flows.peer_cable):
        of, missed = found.counted(tried & small, ends), found.counted(lost, ends)
        dead = (missed >= 2) & (missed == of)
        for cable in np.flatnonzero(dead & _others_pass(found, tried & small & ~lost)).tolist():
            which = lost & ((flows.cable == cable) | (flows.peer_cable == cable))
            yield _nic(found, cable, which)
            lost &= ~which
    yield from _between(found, lost)
    seen = found.counted(tried, flows.cable) + found.counted(tried, flows.peer_cable) > 0
    report_not_evaluated(found.unseen(seen, "no large packet was sent from them or to them"))
    if sweep.swept.over_paths:
        known = [*sweep.swept.large_passed.tolist(), *(one for cut in cut_offs for one in cut.segments)]
        short = ~np.isin(sweep.swept.coverage.segment, known)
        report_not_evaluated(sweep.not_covered(short, "no large packet of known path has crossed"))


def _seated(sweep: Sweep, cut: CutOff) -> Finding:
    where, reports = sweep.words(cut.segments), ""
    if cut.mtu is not None:
        reports = f"; the router reports an MTU of {cut.mtu} bytes" if cut.mtu else "; ICMP says so"
    return sweep.found(
        sweep.subject(cut.segments),
        cut.flows,
        summary=f"large packets end on {where}, and small ones arrive: {len(cut.flows)} flows{reports}",
        action=f"Raise the MTU on {where}, at the sending end first.",
        confidence=TIED if len(cut.segments) > 1 else SURE,
        detail=(
            ("because", "path"),
            ("links", tuple(map(sweep.graph.name, cut.segments))),
            ("mtu", cut.mtu or None),
            ("flows", len(cut.flows)),
        ),
    )


def _refused(found: Probed) -> Mask:
    """Flows of which the sender's kernel refused a size."""
    flows = found.flows
    table = found.round.snapshot.table(ProbeTrouble)
    keys = {
        (table.devices[int(d)], t.run, t.flow)
        for t, d in zip(table.rows, table.device, strict=True)
        if t.what == "EMSGSIZE"
    }
    of = (flows.fact(flow) for flow in range(len(flows.row)))
    hosts = (flows.table.devices[int(flows.table.device[row])] for row in flows.row.tolist())
    return np.array([(host, one.run, one.flow) in keys for host, one in zip(hosts, of, strict=True)], dtype=bool)


def _said(found: Probed) -> dict[int, tuple[int, int]]:
    """By flow, the device that said `too big`, by its code, and the row of the answer."""
    flows, hops = found.flows, found.round.snapshot.table(ProbeHop)
    numbers = {
        (flows.table.devices[int(flows.table.device[row])], flows.table.rows[row].run, flows.table.rows[row].flow): flow
        for flow, row in enumerate(flows.row.tolist())
    }
    known, answered = found.round.once(owners), {}
    for row, hop in enumerate(hops.rows):
        flow = numbers.get((hops.devices[int(hops.device[row])], hop.run, hop.flow))
        if flow is not None and hop.kind == "too big" and hop.address in known:
            answered[flow] = (known[hop.address].device, row)
    return answered


def _others_pass(found: Probed, passing: Mask) -> Mask:
    """NICs whose leaf passes large packets of other NICs, shape (cables,)."""
    leaves = np.concatenate([found.leaf[passing], found.peer_leaf[passing]])
    return np.isin(found.round.cabling.index.b_device, leaves)


def _own(found: Probed, cable: int, which: Mask) -> Finding:
    nic = found.nic(cable)
    size = int(found.flows.sizes.max()) if len(found.flows.sizes) else 0
    more = f" ({size} bytes)" if size >= _LARGE else ""
    return found.found(
        cable,
        which,
        summary=f"{nic} refuses to send large packets{more}: its own MTU is smaller",
        action=f"Raise the MTU of {nic}, here and in the host's network configuration.",
        confidence=0.99,
        detail=(("because", "own MTU"),),
    )


def _hop(found: Probed, device: int, which: Codes, named: dict[int, tuple[int, int]]) -> Finding:
    rows = [named[flow][1] for flow in which.tolist()]
    hops = found.round.snapshot.table(ProbeHop).rows
    mtus = sorted({mtu for row in rows if (mtu := hops[row].mtu)})
    name, towards = found.device(device), found.devices(found.peer_leaf[which])
    said = f" (its next link takes {', '.join(map(str, mtus))} bytes)" if mtus else ""
    return found.found(
        int(found.flows.cable[which[0]]),
        which,
        name,
        summary=f"{name} answers that packets to {towards} are too big{said}: {len(which)} probed flows",
        action=f"Raise the MTU of the links of {name} towards {towards}.",
        confidence=0.95,
        evidence=(evidence_of(found.round.snapshot, ProbeHop, rows[0]), *found.evidence(which)),
        detail=(("because", "router"), ("mtu", mtus), ("flows", len(which))),
    )


def _nic(found: Probed, cable: int, which: Mask) -> Finding:
    nic, peers = found.nic(cable), found.flows.peer_cable
    others = np.where(found.flows.cable == cable, peers, found.flows.cable)[which]
    return found.found(
        cable,
        which,
        summary=f"{nic} loses all large packets to or from {found.peers(others)}, and small ones arrive",
        action=f"Check the MTU of {nic} and of its switch port.",
        detail=(("because", "NIC"), ("flows", int(which.sum()))),
    )


def _between(found: Probed, lost: Mask) -> Findings:
    """By the sender's leaf."""
    for leaf, of in found.by_leaf(lost):
        name, towards = found.device(leaf), found.devices(found.peer_leaf[of])
        yield found.found(
            int(found.flows.cable[of[0]]),
            of,
            name,
            summary=f"large packets are lost between {name} and {towards}, and small ones arrive: {len(of)} flows",
            action=f"Check the MTU of the links between {name} and {towards}: no router names the hop.",
            detail=(("because", "between"), ("flows", len(of))),
        )


PLAN = TWO_LEAVES


def _sizes(*lost: tuple[str, str]) -> dict[str, list[ProbeReach]]:
    """Four hosts, each to each, with small and large packets; some pairs lose the large ones."""
    facts: dict[str, list[ProbeReach]] = {host: [] for host in ("h1", "h2", "h3", "h4")}
    pairs = [(a, b) for a in facts for b in facts if a != b]
    for flow, (a, b) in enumerate(pairs):
        facts[a] += [sent(flow, "nic0", b, "nic0"), sent(flow, "nic0", b, "nic0", size=9000)]
        facts[b].append(heard(flow, "nic0", a, "nic0"))
        if (a, b) not in lost:
            facts[b].append(heard(flow, "nic0", a, "nic0", size=9000))
    return facts


_OF_H1 = (("h1", "h2"), ("h1", "h3"), ("h1", "h4"), ("h2", "h1"), ("h3", "h1"), ("h4", "h1"))
_SAID = ProbeHop("nic0", "h3", "nic0", "r", 1, 50000, 64, 9000, 1, "10.9.0.1", 1, "too big", 1500)
_ADDRESS = {"leaf-0": [NetAddress("p1", "10.9.0.1", 31)]}
_SMALL = _sizes(*_OF_H1[:3])
_SMALL["h1"] = [fact for fact in _SMALL["h1"] if fact.size != 9000 or fact.sent is None]
_REFUSED = [ProbeTrouble("nic0", "EMSGSIZE", 1, "r", flow) for flow in (0, 1, 2)]


def _cut(flow: int) -> int:
    return 0 if flow % 4 == 1 else 3


_BESIDE = spines().replace("h2/nic0 leaf-1/p1", "h3/nic0 leaf-1/p1") + "\nh2/nic0 leaf-0/p2 rail=0"

EXAMPLES = {
    "All paths of one NIC pass none, and those of another NIC under the same leaf do.": Case(
        together(
            swept_example(ends=("h1", "h3"), large=lambda _: 0),
            swept_example(ends=("h2", "h3"), number=1, large=lambda _: 3),
        ),
        "h1/nic0",
        plan=_BESIDE,
    ),
    "The leaf says so of its link to the NIC.": Case(
        swept_example(ends=("h1", "h3"), large=lambda _: 0, too_big=lambda _: "leaf-1"), "leaf-1", plan=_BESIDE
    ),
    "One of four spines passes no large packets.": Case(swept_example(large=_cut), "leaf-0/up1", plan=spines()),
    "The router at one of four links says so.": Case(
        swept_example(large=_cut, too_big=lambda flow: "spine-1" if flow % 4 == 1 else ""), "spine-1/d1", plan=spines()
    ),
    "No router says so: between two leaves.": Case(_sizes(*BETWEEN_LEAVES), "leaf-0"),
    "A router says so, for some of the flows; the others lose theirs there too.": Case(
        {
            **_sizes(("h1", "h3")),
            **_ADDRESS,
            "h1": [_SAID, _SAID._replace(ttl=1, kind="time exceeded", mtu=None), *_sizes(("h1", "h3"))["h1"]],
        },
        "leaf-0",
    ),
    "All that one NIC sends and receives.": Case(_sizes(*_OF_H1), "h1/nic0"),
    "The host refuses: its own MTU is smaller.": Case({**_SMALL, "h1": [*_SMALL["h1"], *_REFUSED]}, "h1/nic0"),
    # Quiet:
    "All sizes arrive.": Case(_sizes()),
    "All arrive by all paths; the other direction was not swept.": Case(
        swept_example(large=lambda _: 3), plan=spines(), unknown=True
    ),
    "Small packets do not arrive either: that is another rule's.": Case(
        {
            "h1": [sent(0, "nic0", "h2", "nic0"), sent(0, "nic0", "h2", "nic0", size=9000)],
            "h2": [heard(0, "nic0", "h1", "nic0", 0)],
        },
        plan=TWO_HOSTS,
    ),
    "No large packet was sent.": Case(
        {"h1": [sent(0, "nic0", "h2", "nic0")], "h2": [heard(0, "nic0", "h1", "nic0")]}, plan=TWO_HOSTS, unknown=True
    ),
}
