"""A NIC's or GPU's PCIe link came up slower or narrower than it can.

## Why it matters
A NIC of 400 Gb/s needs sixteen lanes of PCIe 5. With eight lanes, or at the speed of PCIe 4, it takes what the wire
brings at half the rate, fills its buffer, and pauses its leaf: this host looks like a slow receiver, and no counter of
the network says why.

## How it is detected
Sysfs (`current_link_speed`, `max_link_width`, ...) or `lspci -vv` report the current link and the device's maximum. The
slot may support less than the device, so a link is compared with those of the same address and the same device on other
hosts. Where more than half of at least three run alike, a worse one is a finding; if all run below the device's
maximum, that is the hosts' design. With fewer to compare, the device's own maximum counts. A GPU lowers its speed while
idle, so of GPUs, and of devices not known to be NICs, only the width counts. Critical where the PCIe link carries less
than the NIC's own link.

## What to do
Reseat the card or its riser, clean the contacts, and look at the BIOS settings of the slot (speed, bifurcation) and
compare with a host that is right. `lspci -vv` shows `downgraded`; `dmesg` shows PCIe errors (AER).

## Decide
- `for a link of`: the PCIe link is slower than the network link: the NIC is a straggler. Drain the host now; power it
  off and on, then reseat the card.
- `slow-host`: lanes or speed are lost. It can wait for a drained host, if the link is still faster than what the job
  uses.

## False positives
GPUs lower their PCIe speed while idle; only their width counts. Hosts that are all built with fewer lanes are compared
with each other and are right.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from rules._examples import alike, finds_nic, railed, rdma, undecided
from rules._links import blind_hosts, majority
from truerail.analysis.cabling import ONE_END, Wiring, evidence_of
from truerail.analysis.rule import Case, Findings, InsufficientDataError, Round, report_not_evaluated, rule
from truerail.model import CauseKind, Finding, NetLink, PcieLink, RdmaLink, Severity, Snapshot
from truerail.model.columns import distinct, factorize, grouped
from truerail.model.names import printable, some

LEAST_PEERS = 3
"""Links of which more than half must agree to be a majority, as for MTUs (LNK002)."""
_CODING = ((5.0, 0.8), (32.0, 128 / 130), (64.0, 242 / 256))
"""Share of the raw rate that carries data, up to this speed in GT/s (PCI Express Base Specification: 8b/10b to PCIe 2,
128b/130b to PCIe 5, flits in PCIe 6).
"""
_SHOWN = 4

Link = tuple[float | None, int | None]


@rule("NIC005", Severity.WARNING, [PcieLink], cause=CauseKind.SLOW_HOST, first="where HOST")
def pcie_downtrained(round: Round) -> Findings:
    """NICs and GPUs of planned hosts whose PCIe link is worse than their peers', or than they can."""
    wiring = round.cabling
    table = round.snapshot.table(PcieLink)
    code, links = factorize(table.rows)
    if not any(link.speed_gts or link.width for link in links):
        raise InsufficientDataError("no PCIe link reports its speed or width")
    should = _should(links, np.bincount(code, minlength=len(links)).tolist(), _nics(round.snapshot))
    worse = {number: want for number, (own, want) in should.items() if any(is_ < of for is_, of in _both(own, want))}
    rows = np.flatnonzero(np.isin(code, list(worse)))
    subjects = _subjects(wiring, rows.tolist())
    by_subject = grouped((subjects[row][0], row) for row in rows.tolist() if row in subjects)
    for subject, of_subject in by_subject.items():
        expected = [worse[int(code[row])] for row in of_subject]
        yield _finding(wiring, subject, subjects[of_subject[0]][1], of_subject, expected)

    compared = np.array([any(_both(*should[number])) for number in range(len(links))], dtype=bool)[code]
    hosts = distinct(wiring.identity.devices_of(table)[compared]).tolist()
    report_not_evaluated(blind_hosts(wiring, hosts, "report no PCIe link, or nothing to compare it with"))


def _should(links: Sequence[PcieLink], count: Sequence[int], nics: set[str]) -> dict[int, tuple[Link, Link]]:
    """What each of the distinct links has and should have, by number."""
    alike: dict[tuple[str, float | None, int | None], Counter[Link]] = {}
    for link, times in zip(links, count, strict=True):
        alike.setdefault((link.pci_address, link.max_speed_gts, link.max_width), Counter())[_as_is(link, nics)] += times
    found: dict[int, tuple[Link, Link]] = {}
    for number, link in enumerate(links):
        votes = alike[link.pci_address, link.max_speed_gts, link.max_width]
        able = (link.max_speed_gts if _is_nic(link, nics) else None, link.max_width)
        found[number] = _as_is(link, nics), majority(votes, LEAST_PEERS) or able
    return found


def _both(own: Link, want: Link) -> list[tuple[float, float]]:
    """Speed and width where both are known."""
    return [(is_, of) for is_, of in zip(own, want, strict=True) if is_ is not None and of is not None]


def _as_is(link: PcieLink, nics: set[str]) -> Link:
    """Speed and width, without the speed where it says nothing."""
    return (link.speed_gts if _is_nic(link, nics) else None, link.width)


def _is_nic(link: PcieLink, nics: set[str]) -> bool:
    return not link.device.upper().startswith("GPU") if link.device else link.pci_address in nics


def _nics(snapshot: Snapshot) -> set[str]:
    """PCI addresses of NICs, on any host: equal hosts have equal addresses."""
    return {
        address for kind in (RdmaLink, NetLink) for address in snapshot.table(kind).column("pci_address") if address
    }


def _subjects(wiring: Wiring, rows: Sequence[int]) -> dict[int, tuple[str, int]]:
    """What each of these rows is about: the planned port and its code, else the planned host and -1."""
    table = wiring.seen.table(PcieLink)
    device = wiring.identity.devices_of(table)
    hosts = {int(device[row]) for row in rows if wiring.index.devices.is_host(int(device[row]))}
    port_of = _ports(wiring, hosts)
    found: dict[int, tuple[str, int]] = {}
    for row in rows:
        host, link = int(device[row]), table.rows[row]
        if host in hosts:
            port = port_of.get((host, link.device), port_of.get((host, link.pci_address), -1))
            found[row] = (str(wiring.index.spell(port)) if port >= 0 else wiring.index.devices.names[host], port)
    return found


def _ports(wiring: Wiring, hosts: set[int]) -> dict[tuple[int, str | None], int]:
    """The planned port of each RDMA device and each PCI address of these hosts."""
    identity = wiring.identity
    found: dict[tuple[int, str | None], int] = {}
    for kind, ports in ((NetLink, identity.names.link_ports), (RdmaLink, identity.names.rdma_ports)):
        table = wiring.seen.table(kind)
        device = identity.devices_of(table)
        mine = np.isin(device, list(hosts)) & (ports >= 0) & (ports < wiring.index.planned_ports)
        for row in np.flatnonzero(mine).tolist():
            link, host = table.rows[row], int(device[row])
            found[host, link.pci_address] = int(ports[row])
            if isinstance(link, RdmaLink):
                found[host, link.device] = int(ports[row])
    return {key: port for key, port in found.items() if key[1]}


def _finding(wiring: Wiring, subject: str, port: int, rows: Sequence[int], expected: Sequence[Link]) -> Finding:
    links = [wiring.seen.table(PcieLink).rows[row] for row in rows]
    reported = [
        f"{printable(link.device or link.pci_address, 40)} runs at {_words(link[1:3])} instead of {_words(want)}"
        for link, want in zip(links, expected, strict=True)
    ]
    carries, needs = min(map(_gbps, links)), _speed(wiring, port)
    slow = carries < needs
    lacks = f"; that is {carries:.0f} Gb/s for a link of {needs:g}" if slow else ""
    return pcie_downtrained.found(
        subject,
        severity=Severity.CRITICAL if slow else Severity.WARNING,
        summary=f"{subject}: {some(reported, more=', and {} more')}{lacks}",
        action=f"Reseat the card in {subject.partition('/')[0]}, and compare its slot's BIOS settings with a right "
        "host.",
        expected=_words(expected[0]),
        observed=_words(links[0][1:3]),
        rail=wiring.index.plan.rail_of(wiring.index.spell(port)) if port >= 0 else None,
        confidence=ONE_END,
        evidence=tuple(evidence_of(wiring.seen, PcieLink, row) for row in rows[:_SHOWN]),
    )


def _words(link: Link) -> str:
    speed, width = link
    return " ".join(([f"{speed:g} GT/s"] if speed else []) + ([f"x{width}"] if width else []))


def _gbps(link: PcieLink) -> float:
    """What the link carries; infinite where speed or width is not reported."""
    if not link.speed_gts or not link.width:
        return float("inf")
    coding = next((share for limit, share in _CODING if link.speed_gts <= limit), _CODING[-1][1])
    return link.speed_gts * link.width * coding


def _speed(wiring: Wiring, port: int) -> float:
    """The speed of a port's network link in Gb/s, as reported, else as planned; 0 where not known."""
    if port < 0:
        return 0.0
    reported = float(wiring.states.speed_gbps[port])
    cable = wiring.index.cable_at(port)
    return reported if reported > 0 else float(np.nan_to_num(wiring.index.speed_gbps[cable]))


PLAN = railed(4, more=" speed=400")
_HOSTS = "gpu-1 gpu-2 gpu-3 gpu-4"
_NIC = rdma(rate_gbps=400.0)
_AT = "0000:18:00.0"


def _host(speed: float, width: int) -> list[RdmaLink | PcieLink]:
    return [_NIC, PcieLink(_AT, speed, width, 32.0, 16, "mlx5_0")]


EXAMPLES = {
    "One NIC of four has eight lanes.": Case(
        alike("gpu-1 gpu-2 gpu-3", _host(32.0, 16)) | {"gpu-4": _host(32.0, 8)}, "gpu-4/nic0"
    ),
    "A NIC runs at half its speed, and there is no other to compare.": finds_nic({"gpu-1": _host(16.0, 16)}),
    "A GPU has lost lanes; it is named by its address alone.": Case(
        {"gpu-2": [_NIC, PcieLink("0000:19:00.0", 2.5, 8, 32.0, 16)]}, "gpu-2"
    ),
    # Quiet:
    "Each link is as fast and as wide as it can be.": Case(alike(_HOSTS, _host(32.0, 16))),
    "Two of four hosts report no PCIe link.": undecided(alike("gpu-1 gpu-2", _host(32.0, 16))),
    "One host reports its width, and nothing says what it should be.": undecided(
        {"gpu-1": [_NIC, PcieLink(_AT, None, 8, None, None, "mlx5_0")]}
    ),
    "All slots are PCIe 4: the hosts' design.": Case(alike(_HOSTS, _host(16.0, 16))),
    "A GPU lowers its speed while idle.": Case(alike(_HOSTS, [PcieLink("0000:19:00.0", 2.5, 16, 32.0, 16, "GPU0")])),
}
