"""What probes add to other findings: a second witness of swapped cables, and recordings that can be shared."""

import json
from pathlib import Path

from rules._examples import heard, hears, sent
from truerail.analysis.probes.reached import reached
from truerail.analysis.round import Round
from truerail.analysis.rule import Case
from truerail.model import CauseKind, Evaluation, Fact, NetAddress, ProbeHop
from truerail.rounds import evaluate
from truerail.scrub import scrub_round
from truerail.testing.cases import scene
from truerail.transport.replay import read_capture

NICS = ("enp1s0", "enp2s0")
"""Names that follow from the place in the host: a swap is one of cables, not of names."""
PLAN = "\n".join(f"h{host}/{NICS[rail]} leaf-{rail}/p{host} rail={rail}" for host in (1, 2, 3, 4) for rail in (0, 1))


LOST = (("h1", NICS[0]), ("h2", NICS[1]))
"""The ends of the swapped cables, which are on two rails of two hosts."""


def _neighbors(swapped: bool) -> dict[str, list[Fact]]:
    """What leaves hear, and what hosts hear where the cables are right: else one end alone shows the swap."""
    facts: dict[str, list[Fact]] = {name: [] for name in ("h1", "h2", "h3", "h4", "leaf-0", "leaf-1")}
    ends = {(f"h{host}", NICS[rail]): (f"leaf-{rail}", f"p{host}") for host in (1, 2, 3, 4) for rail in (0, 1)}
    if swapped:
        ends[LOST[0]], ends[LOST[1]] = ends[LOST[1]], ends[LOST[0]]
    for (host, nic), (leaf, port) in ends.items():
        if not swapped:
            facts[host].append(hears(nic, f"{leaf}/{port}"))
        facts[leaf].append(hears(port, f"{host}/{nic}"))
    return facts


def _probes() -> dict[str, list[Fact]]:
    """Each NIC to each of its rail; what those of `LOST` send or receive is lost."""
    facts: dict[str, list[Fact]] = {f"h{host}": [] for host in (1, 2, 3, 4)}
    ends = [(a, b, nic) for nic in NICS for a in facts for b in facts if a != b]
    for flow, (a, b, nic) in enumerate(ends):
        facts[a].append(sent(flow, nic, b, nic))
        facts[b].append(heard(flow, nic, a, nic, 0 if (a, nic) in LOST or (b, nic) in LOST else 3))
    return facts


def _evaluated(swapped: bool, *, probed: bool) -> Evaluation:
    facts = _neighbors(swapped)
    for host, of in _probes().items() if probed else ():
        facts[host] += of
    return evaluate(scene(Case(facts, plan=PLAN)))


def test_swapped_cables_explain_what_does_not_arrive_and_are_surer_by_it() -> None:
    before, after = _evaluated(True, probed=False), _evaluated(True, probed=True)
    lost = {finding.id for finding in after.findings if finding.rule == "PRB001"}
    assert len(lost) == 2
    (cause,) = (one for one in after.causes if one.kind is CauseKind.CABLE_SWAP)
    (alone,) = (one for one in before.causes if one.kind is CauseKind.CABLE_SWAP)
    assert lost <= set(cause.explains)
    assert cause.moves == alone.moves
    assert cause.confidence > alone.confidence


def _with_first_hops(neighbors: dict[str, list[Fact]], of: tuple[tuple[str, str], ...]) -> Evaluation:
    """NICs are answered one hop away by the leaf of the other rail; the leaves report whose addresses these are."""
    facts = {name: list(found) for name, found in neighbors.items()}
    for rail in (0, 1):
        facts.setdefault(f"leaf-{rail}", []).append(NetAddress("p1", f"10.9.{rail}.1", 31))
    for flow, (host, nic) in enumerate(of, 90):
        other = f"10.9.{1 - NICS.index(nic)}.1"
        facts[host].append(sent(flow, nic, "h3", nic, mode="wired"))
        facts[host].append(ProbeHop(nic, "h3", nic, "r", flow, 50000, 1, 64, 1, other, 1, "time exceeded"))
    return evaluate(scene(Case(facts, plan=PLAN)))


def test_first_hops_are_a_second_witness_of_swapped_cables() -> None:
    evaluation, without = _with_first_hops(_neighbors(True), LOST), _evaluated(True, probed=False)
    reported = {finding.id for finding in evaluation.findings if finding.rule == "PRB002"}
    assert len(reported) == 2
    (swap,) = (cause for cause in evaluation.causes if cause.kind is CauseKind.CABLE_SWAP)
    (alone,) = (cause for cause in without.causes if cause.kind is CauseKind.CABLE_SWAP)
    assert reported <= set(swap.explains)
    assert swap.confidence > alone.confidence
    assert swap.moves == alone.moves


def test_crossed_first_hops_without_lldp_are_one_cause_that_moves_nothing() -> None:
    evaluation = _with_first_hops({f"h{host}": [] for host in (1, 2, 3, 4)}, (("h1", NICS[0]), ("h1", NICS[1])))
    reported = {finding.id for finding in evaluation.findings if finding.rule == "PRB002"}
    (cause,) = (one for one in evaluation.causes if reported & set(one.explains))
    assert reported == set(cause.explains)
    assert len(reported) == 2
    assert not cause.moves
    assert set(cause.subjects) == {f"h1/{nic}" for nic in NICS}
    assert "LLDP" in cause.action


def test_a_right_cable_is_not_moved_because_nothing_arrives() -> None:
    evaluation = _evaluated(False, probed=True)
    assert {finding.rule for finding in evaluation.findings} == {"PRB001"}
    assert {cause.kind for cause in evaluation.causes} == {CauseKind.CONFIGURATION}
    assert not any(cause.moves for cause in evaluation.causes)
    assert all("No cable has to move" in finding.action for finding in evaluation.findings)


def test_a_recording_that_is_scrubbed_shows_the_same(tmp_path: Path) -> None:
    plan = scene(Case(plan=PLAN)).plan
    flow = {
        "flow": 1,
        "port": "enp1s0",
        "mode": "routed",
        "tos": 104,
        "address": "10.0.0.1",
        "peer_address": "10.0.0.2",
    }
    rows = {name: [] for name in ("sends", "hears", "sent", "heard", "hops", "trouble")}
    of_h1 = {"sends": [{**flow, "peer": "h2", "peer_port": "enp1s0"}], "sent": [[1, 50000, 64, 64, 3]]}
    of_h2 = {"hears": [{**flow, "peer": "h1", "peer_port": "enp1s0"}], "heard": [[1, 50000, 64, 64, 104, "enp1s0", 2]]}
    for host, more in (("h1", of_h1), ("h2", of_h2)):
        folder = tmp_path / "round" / host
        folder.mkdir(parents=True)
        found = {"truerail_probe": 1, "run": "20261120T140000Z-5f2c", "host": host, **rows, **more}
        (folder / "truerail-probe").write_text(json.dumps(found))
    scrubbed = scrub_round(tmp_path / "round", tmp_path / "scrubbed", plan, {})
    assert scrubbed
    text = "".join(path.read_text() for path in (tmp_path / "scrubbed").rglob("truerail-probe"))
    assert '"h1"' not in text
    assert "10.0.0.1" not in text
    flows = reached(Round(scrubbed, read_capture(tmp_path / "scrubbed", devices=scrubbed.devices).snapshot()))
    assert (flows.sent.tolist(), flows.heard.tolist(), flows.witnessed.tolist()) == ([[3]], [[2]], [True])
