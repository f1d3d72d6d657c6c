"""Evaluations made by hand for the tests of reports: 64 hosts, 8 rails, and every kind of cause there is."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from truerail.model import (
    Alternative,
    Cable,
    CableState,
    Cause,
    CauseKind,
    Device,
    Evaluation,
    Evidence,
    Finding,
    Move,
    Neighbor,
    Plan,
    Port,
    Rail,
    Reading,
    Role,
    Severity,
    Status,
    Summary,
    Verdict,
)

AT = datetime(2026, 11, 20, 14, 0, 5, tzinfo=UTC)
NICS = tuple(f"enp{bus}s0f0np0" for bus in (26, 60, 77, 94, 156, 188, 204, 220))


def host_port(host: int, rail: int) -> Port:
    return Port(f"gpu-{host:03d}", NICS[rail])


def leaf_port(rail: int, host: int) -> Port:
    return Port(f"leaf-{rail}", f"swp{host}")


def plan(hosts: int = 64, rails: int = 8) -> Plan:
    devices = [
        Device(f"gpu-{h:03d}", Role.HOST, "p1", rack=f"A{(h - 1) // 4 + 1:02d}", unit=4 + 8 * ((h - 1) % 4), gpus=8)
        for h in range(1, hosts + 1)
    ]
    devices += [Device(f"leaf-{r}", Role.LEAF, "p1", rack="N01", unit=30 + r) for r in range(rails)]
    devices += [Device(f"spine-{s}", Role.SPINE, rack="N02", unit=40 + s) for s in (1, 2)]
    cables = [
        Cable(host_port(h, r), leaf_port(r, h), r, None, 400.0, f"P1-{h:03d}-{r}")
        for h in range(1, hosts + 1)
        for r in range(rails)
    ]
    cables += [
        Cable(Port(f"leaf-{r}", f"swp{100 + s}"), Port(f"spine-{s}", f"swp{r + 1}"), None, None, 400.0)
        for r in range(rails)
        for s in (1, 2)
    ]
    return Plan(
        {d.name: d for d in devices},
        tuple(cables),
        name="pod-1",
        rails={r: Rail(r) for r in range(rails)},
        source="pod-1.yaml",
    )


class Maker:
    """Collects faults and gives the evaluation that names them."""

    def __init__(self, hosts: int = 64, rails: int = 8) -> None:
        self.plan = plan(hosts, rails)
        self.states = {c.a: CableState.RIGHT for c in self.plan.cables}
        self.findings: list[Finding] = []
        self.causes: list[Cause] = []
        self.unread: list[Reading] = []
        self.verdicts = [Verdict("CAB001", Status.PASS), Verdict("NIC001", Status.PASS)]

    def find(self, cable: Port, state: CableState, observed: Port | None = None, **more: object) -> Finding:
        expected = self.plan.peer_of(cable)
        wrong = state is CableState.WRONG
        heard = Neighbor(str(observed and observed.name), system_name=cable.device, port_id=cable.name, ttl_seconds=120)
        values: dict[str, object] = {
            "rule": "CAB001" if wrong else "CAB003",
            "name": "nic_on_wrong_rail" if wrong else "cable_missing",
            "severity": Severity.CRITICAL,
            "subject": str(cable),
            "summary": f"{cable} is in {observed}, the plan puts it into {expected}"
            if wrong
            else f"nothing seen on {cable}",
            "action": f"move it to {expected}" if wrong else "reseat both ends",
            "expected": str(expected),
            "observed": str(observed) if observed else None,
            "rail": self.plan.rail_of(cable),
            "confidence": 0.99,
            "evidence": (Evidence(observed.device, "lldp_switch", AT, heard),) if observed else (),
        }
        finding = Finding(**(values | more))  # type: ignore[arg-type]
        self.states[cable] = state
        self.findings.append(finding)
        return finding

    def wrong(self, cables: Sequence[Port], places: Sequence[Port]) -> list[Finding]:
        return [self.find(c, CableState.WRONG, p) for c, p in zip(cables, places, strict=True)]

    def because(
        self,
        kind: CauseKind,
        subjects: Sequence[object],
        findings: Iterable[Finding],
        *,
        moves: Iterable[Move] = (),
        alternatives: tuple[Alternative, ...] = (),
        to_confirm: str = "",
        summary: str = "",
        action: str = "",
        confidence: float = 0.98,
    ) -> None:
        self.causes.append(
            Cause(
                f"C{len(self.causes) + 1}",
                kind,
                tuple(map(str, subjects)),
                summary or f"{kind.value} of {', '.join(map(str, subjects))}.",
                action or "Put it right.",
                tuple(f.id for f in findings),
                tuple(moves),
                confidence,
                alternatives,
                to_confirm,
            )
        )

    def rearranged(self, kind: CauseKind, cables: Sequence[Port], places: Sequence[Port], **more: object) -> None:
        """Cables in each other's places: findings, the cause and its moves."""
        found = self.wrong(cables, places)
        moves = [Move(c, p, self.plan.peer_of(c) or p) for c, p in zip(cables, places, strict=True)]
        self.because(kind, cables, found, moves=moves, **more)  # type: ignore[arg-type]

    def evaluation(self, **more: object) -> Evaluation:
        states = list(self.states.values())
        severities = [f.severity.value for f in self.findings]
        summary = Summary(
            len(states),
            states.count(CableState.RIGHT),
            states.count(CableState.WRONG),
            states.count(CableState.MISSING),
            states.count(CableState.UNKNOWN),
            len(self.plan.of_role(Role.HOST)),
            len(self.plan.of_role(Role.HOST)) - len({r.device for r in self.unread}),
            {severity: severities.count(severity) for severity in sorted(set(severities))},
        )
        values: dict[str, object] = {
            "at": AT,
            "plan": self.plan,
            "findings": tuple(self.findings),
            "causes": tuple(self.causes),
            "verdicts": tuple(self.verdicts),
            "collection_errors": tuple(self.unread),
            "summary": summary,
            "cable_states": self.states,
        }
        return Evaluation(**(values | more))  # type: ignore[arg-type]


def clean() -> Evaluation:
    """Nothing is wrong and everything was read."""
    return Maker().evaluation()


def every_cause() -> Evaluation:
    """One cause of each kind in a fabric of 64 hosts and 8 rails."""
    m = Maker()
    m.verdicts = [
        Verdict("CAB001", Status.FAIL),
        Verdict("CAB002", Status.FAIL),
        Verdict("CAB003", Status.FAIL),
        Verdict("CAB005", Status.PASS),
        Verdict("LNK001", Status.UNKNOWN, ("NetLink",)),
        Verdict("NIC003", Status.ERROR, error="KeyError: 'mlx5_9'"),
        Verdict("CFG002", Status.NOT_APPLICABLE),
    ]
    swap = [host_port(12, 1), host_port(12, 3)]
    m.rearranged(
        CauseKind.CABLE_SWAP,
        swap,
        [leaf_port(3, 12), leaf_port(1, 12)],
        summary="The cables of rails 1 and 3 of gpu-012 are swapped.",
        action="Swap the two plugs at the leaves.",
        alternatives=(Alternative(CauseKind.GPU_NIC_ORDER, "gpu-012 names two of its NICs in another order"),),
        to_confirm="nvidia-smi topo -m on gpu-012: is enp60s0f0np0 the NIC nearest GPU 1?",
        confidence=0.999,
    )
    turn = [host_port(20, r) for r in (0, 1, 2)]
    m.rearranged(CauseKind.CABLE_ROTATION, turn, [leaf_port(r, 20) for r in (1, 2, 0)])
    m.rearranged(CauseKind.CABLE_MOVE, [host_port(25, 0)], [Port("leaf-0", "swp90")])
    _port_shift(m)
    _relabelled(m)
    _silent(m)
    _counted(m)
    for kind in (CauseKind.TRUNK_SWAP, CauseKind.PANEL_SHIFT):
        m.because(kind, ["leaf-1"], [], summary="Cables of leaf-1 are exchanged at a patch panel.")
    return m.evaluation(notes=("3 files of the capture were not asked for and were left alone.",))


def _port_shift(m: Maker) -> None:
    shifted = [host_port(h, 1) for h in range(40, 48)]
    places = [leaf_port(1, h + 1) for h in range(40, 47)] + [leaf_port(1, 40)]
    found = m.wrong(shifted, places)
    moves = [Move(c, p, leaf_port(1, h)) for h, c, p in zip(range(40, 48), shifted, places, strict=True)]
    m.because(CauseKind.PORT_SHIFT, ["leaf-1"], found, moves=moves, summary="Ports 40 to 47 of leaf-1 are off by one.")


def _relabelled(m: Maker) -> None:
    pair = [host_port(h, r) for h in (33, 34) for r in (0, 1, 2, 3)]
    found = m.wrong(pair, [leaf_port(r, h) for h in (34, 33) for r in (0, 1, 2, 3)])
    m.because(CauseKind.HOST_SWAP, ["gpu-033", "gpu-034"], found, action="Swap the names of the two hosts.")
    leaves = [host_port(h, r) for h in range(1, 65) for r in (4, 7)]
    found = m.wrong(leaves, [leaf_port(r, h) for h in range(1, 65) for r in (7, 4)])
    m.because(
        CauseKind.LEAF_SWAP,
        ["leaf-4", "leaf-7"],
        found,
        summary="leaf-4 and leaf-7 carry each other's name: the spines see the swap too.",
        action="Swap the names of the two switches; move no cable.",
        alternatives=(
            Alternative(
                CauseKind.BUNDLE_SWAP,
                "all cables of the two leaves are crossed",
                tuple(
                    Move(c, leaf_port(11 - r, h), leaf_port(r, h))
                    for h in range(1, 65)
                    for r in (4,)
                    for c in [host_port(h, r)]
                ),
            ),
        ),
        to_confirm="chassis MAC of leaf-4 against the inventory",
        confidence=0.93,
    )
    crossed = [host_port(h, r) for h in range(1, 17) for r in (5, 6)]
    places = [leaf_port(r, h) for h in range(1, 17) for r in (6, 5)]
    found = m.wrong(crossed, places)
    moves = [Move(c, p, m.plan.peer_of(c) or p) for c, p in zip(crossed, places, strict=True)]
    m.because(CauseKind.BUNDLE_SWAP, ["leaf-5", "leaf-6"], found, moves=moves)
    order = [host_port(50, r) for r in (2, 3)]
    found = m.wrong(order, [leaf_port(r, 50) for r in (3, 2)])
    m.because(CauseKind.GPU_NIC_ORDER, ["gpu-050"], found, action="Renumber the NICs; move no cable.")


def _silent(m: Maker) -> None:
    down = m.find(host_port(55, 2), CableState.MISSING, detail=(("reason", "link down"),))
    m.because(CauseKind.LINK_DOWN, [host_port(55, 2)], [down], action="Reseat the transceiver at both ends.")
    gone = [host_port(60, r) for r in range(4)]
    for cable in gone:
        m.states[cable] = CableState.UNKNOWN
    finding = m.find(
        gone[0],
        CableState.UNKNOWN,
        rule="TEL001",
        name="device_unreachable",
        subject="gpu-060",
        expected=None,
        rail=None,
    )
    m.because(CauseKind.UNREACHABLE, ["gpu-060"], [finding], action="Power the host, or mark it as not yet installed.")
    m.unread += [
        Reading("gpu-060", collector, AT, error="ssh: connect to host 10.0.1.60 port 22: No route to host")
        for collector in ("gpu_nic_topology", "lldp_host", "rdma_link")
    ]
    odd = m.find(host_port(61, 3), CableState.WRONG, Port("leaf-6", "swp99"), severity=Severity.WARNING)
    m.because(CauseKind.UNKNOWN, [host_port(61, 3)], [odd], confidence=0.4)
    m.findings.append(
        Finding(
            "LNK002", "mtu_mismatch", Severity.INFO, "gpu-002/enp26s0f0np0", "MTU 1500 and 9216", "Set both to 9216"
        )
    )


def _counted(m: Maker) -> None:
    """Causes that counters tell: no cable moves, each has one finding."""
    for number, (kind, rule, name) in enumerate(
        (
            (CauseKind.DEGRADED_LINK, "LNK004", "signal_degraded"),
            (CauseKind.FLAPPING_LINK, "LNK003", "link_flapping"),
            (CauseKind.SLOW_HOST, "NIC005", "pcie_downtrained"),
            (CauseKind.SILENT_LINK, "PRB005", "silent_link"),
            (CauseKind.PFC_DEADLOCK, "PFC003", "pfc_deadlock"),
            (CauseKind.PFC_STORM, "PFC001", "pfc_storm"),
            (CauseKind.CONFIGURATION, "CFG001", "qos_mismatch"),
            (CauseKind.ECMP_POLARIZATION, "LBL001", "ecmp_polarization"),
            (CauseKind.DEAD_MEMBER, "LBL003", "dead_member"),
            (CauseKind.OVERLOAD, "INC001", "incast"),
            (CauseKind.MAINTENANCE, "CAP001", "oversubscribed"),
        )
    ):
        subject = str(host_port(3, number % 8))
        found = Finding(rule, name, Severity.WARNING, subject, f"{name} at {subject}", f"Look at {subject}")
        m.findings.append(found)
        m.because(kind, [subject], [found], summary=f"{name} at {subject}", action=f"Look at {subject}")


HOSTILE = (
    '\x1b[31mred\x1b[0m <script>alert(1)</script> =HYPERLINK("http://x") [bold]b[/] '
    "\u202e\u0007 \x9b2J \ud800 ' \" & \n\r\t"
)


def hostile() -> Evaluation:
    """Every foreign string is an attack."""
    m = Maker(4, 2)
    cable = host_port(2, 1)
    heard = Neighbor(HOSTILE, system_name=HOSTILE, port_id="=cmd|'/c calc'!A0", management_addresses=(HOSTILE,))
    found = m.find(
        cable,
        CableState.WRONG,
        Port(HOSTILE, HOSTILE),
        summary=HOSTILE,
        action="+" + HOSTILE,
        evidence=(Evidence(HOSTILE, "lldp_switch", AT, heard),),
        detail=(("reason", HOSTILE),),
    )
    m.because(
        CauseKind.UNKNOWN,
        [cable, HOSTILE],
        [found],
        moves=[Move(cable, Port(HOSTILE, HOSTILE), leaf_port(1, 2))],
        summary=HOSTILE,
        action="@" + HOSTILE,
        alternatives=(Alternative(CauseKind.CABLE_SWAP, HOSTILE),),
        to_confirm=HOSTILE,
    )
    m.unread.append(Reading(HOSTILE, HOSTILE, AT, error=HOSTILE))
    m.verdicts.append(Verdict("PFC001", Status.ERROR, error=HOSTILE))
    return m.evaluation(notes=(HOSTILE,))
