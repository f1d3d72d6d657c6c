"""Ports without link: which were switched off by their operator, and which miss a cable, a module or light.

What each driver reports is from the Linux kernel's query_port functions (mlx5/main.c, bnxt_re/ib_verbs.c,
ionic_ibdev.c, rxe_verbs.c, efa_verbs.c); what each switch prints from genieparser, ntc-templates and RFC 2863.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from collector.formats.port_words import of_snmp, of_word, of_words
from rules import rules
from rules._examples import hears
from tests.each import each
from tests.test_cli import run
from tests.test_identity import evaluated, fabric
from truerail.analysis.cabling import State, Why
from truerail.analysis.rule import Case
from truerail.model import CauseKind, Device, Fact, LinkSpeed, NetLink, RdmaLink, Role, Severity, Status, Transport
from truerail.rounds import evaluate
from truerail.simulator import Fault, Shape, simulate
from truerail.testing.cases import scene

LEAF = Device("leaf-0", Role.LEAF)
UP = NetLink("nic0", operstate="UP", flags=("BROADCAST", "UP", "LOWER_UP"))
NO_CARRIER = NetLink("nic0", operstate="DOWN", flags=("NO-CARRIER", "BROADCAST", "UP"))
OFF = NetLink("nic0", operstate="DOWN", flags=("BROADCAST",))


def rdma(device: str, state: str, physical: str, layer: str | None = None) -> RdmaLink:
    return RdmaLink(device, 1, state, physical, "nic0", link_layer=layer)


@each("link", [NO_CARRIER, None])
@each(
    "device, physical",
    [
        ("mlx5_0", "DISABLED"), ("mlx4_0", "DISABLED"), ("bnxt_re0", "DISABLED"), ("irdma0", "DISABLED"),
        ("erdma_0", "DISABLED"), ("mana_0", "DISABLED"), ("hns_0", "DISABLED"), ("ionic_0", "POLLING"),
        ("rxe0", "POLLING"),
    ],
)  # fmt: skip
def test_a_roce_port_without_carrier_misses_its_cable(device: str, physical: str, link: NetLink | None) -> None:
    facts: list[Fact] = [rdma(device, "DOWN", physical), *([link] if link else [])]
    wiring = evaluated(fabric("nic0"), {"gpu-1": facts})
    assert (wiring.state.tolist(), wiring.why.tolist()) == ([State.MISSING], [Why.LINK_DOWN])


@pytest.mark.parametrize("device", ["mlx5_0", "bnxt_re0", "ionic_0"])
def test_an_interface_without_its_up_flag_is_switched_off(device: str) -> None:
    wiring = evaluated(fabric("nic0"), {"gpu-1": [rdma(device, "DOWN", "DISABLED"), OFF]})
    assert wiring.why.tolist() == [Why.DISABLED]


@pytest.mark.parametrize(
    ("host", "leaf", "why"),
    [
        (NO_CARRIER, ("DOWN", ("NO-CARRIER",), "switched off"), Why.DISABLED),
        (NO_CARRIER, ("DOWN", ("NO-CARRIER", "UP"), None), Why.LINK_DOWN),
        (NO_CARRIER, ("DOWN", (), None), Why.LINK_DOWN),
        (NO_CARRIER, ("DOWN", ("NO-CARRIER",), "no module"), Why.DISABLED),
        (OFF, ("UP", ("UP", "LOWER_UP"), None), Why.DISABLED),  # KEEP_ETH_LINK_UP: light without an interface
        (OFF, ("DOWN", ("NO-CARRIER",), "switched off"), Why.DISABLED),
        (OFF, ("DOWN", ("NO-CARRIER", "UP"), "no module"), Why.LINK_DOWN),
        (NO_CARRIER, ("DOWN", ("NO-CARRIER", "UP"), "error-disabled"), Why.LINK_DOWN),
    ],
)
def test_both_ends_decide_together(host: NetLink, leaf: tuple[str, tuple[str, ...], object], why: Why) -> None:
    at_leaf = NetLink("swp1", operstate=leaf[0], flags=leaf[1], down_reason=leaf[2])  # type: ignore[arg-type]
    seen = evaluated(fabric("nic0"), {"gpu-1": [host], "leaf-0": [at_leaf]})
    assert seen.why.tolist() == [why]


@pytest.mark.parametrize(
    ("layer", "transport", "why"),
    [
        ("InfiniBand", Transport.ROCE, Why.DISABLED),
        (None, Transport.INFINIBAND, Why.DISABLED),
        ("Ethernet", Transport.INFINIBAND, Why.LINK_DOWN),
        (None, Transport.ROCE, Why.LINK_DOWN),
    ],
)
def test_disabled_is_the_operators_word_on_infiniband_only(layer: str | None, transport: Transport, why: Why) -> None:
    case = Case(
        {"gpu-1": [RdmaLink("mlx5_0", 1, "DOWN", "DISABLED", link_layer=layer)]},
        plan="gpu-1/mlx5_0 leaf-0/1 rail=0",
        transport=transport,
    )
    assert scene(case).cabling.why.tolist() == [why]
    (finding,) = rules()["NIC002"].findings(scene(case))
    assert finding.severity is (Severity.INFO if why is Why.DISABLED else Severity.WARNING)


@pytest.mark.parametrize("device", ["rdmap0s6", "efa_0"])
def test_efa_is_always_active_which_says_nothing(device: str) -> None:
    reported = [RdmaLink(device, 1, "ACTIVE", "LINK_UP", rate_gbps=100.0), LinkSpeed(device, 100.0)]
    facts: dict[str, Sequence[Fact]] = {"gpu-1": reported}
    case = Case(facts, plan=f"gpu-1/{device} leaf-0/swp1 rail=0 speed=400", transport=Transport.EFA)
    made = scene(case)
    wiring = made.cabling
    assert not wiring.states.up(wiring.index.a).any()
    assert wiring.state.tolist() == [State.UNKNOWN]
    verdicts = {verdict.rule: verdict.status for verdict in evaluate(made).verdicts}
    assert verdicts["NIC002"] is Status.NOT_APPLICABLE
    assert verdicts["LNK001"] is Status.UNKNOWN


def test_the_speed_of_a_port_without_link_is_never_compared() -> None:
    plan = "gpu-1/nic0 leaf-0/swp1 rail=0 speed=400"
    down = rdma("mlx5_0", "DOWN", "DISABLED")._replace(rate_gbps=40.0)
    for leaf in (NetLink("swp1", speed_gbps=100.0), LinkSpeed("swp1", 100.0)):
        assert not [*rules()["LNK001"].findings(scene(Case({"gpu-1": [down], "leaf-0": [leaf]}, plan=plan)))]
    lit = NetLink("swp1", operstate="UP", flags=("UP", "LOWER_UP"), speed_gbps=100.0)
    assert [*rules()["LNK001"].findings(scene(Case({"gpu-1": [down], "leaf-0": [lit]}, plan=plan)))]


@each(
    "word, module, state",
    [
        ("connected", None, (True, True, None)),
        ("disabled", None, (False, False, "switched off")),
        ("Administratively down", None, (False, False, "switched off")),
        ("Channel admin down", None, (False, False, "switched off")),
        ("xcvrAbsent", None, (False, None, "no module")),
        ("xcvrAbsen", None, (False, None, "no module")),
        ("sfpAbsent", "--", (False, None, "no module")),
        ("SFP not inserted", None, (False, None, "no module")),
        ("SFP not present", None, (False, None, "no module")),
        ("notconnect", "Not Present", (False, True, "no module")),
        ("notconnect", "400GBASE-DR4", (False, True, "no light")),
        ("notconnec", "--", (False, True, None)),
        ("notconnect", None, (False, True, None)),
        ("Link not connected", None, (False, True, "no light")),
        ("Link failure: loss of signal", None, (False, True, "no light")),
        ("linkFlapErrDisabled, port:error", None, (False, True, "error-disabled")),
        ("linkFlapE", None, (False, True, "error-disabled")),
        ("bpduGuardErrDisabled", None, (False, True, "error-disabled")),
        ("err-disabled", None, (False, True, "error-disabled")),
        ("SFP validation failed", None, (False, True, "module not accepted")),
        ("Transceiver validation failed", None, (False, True, "module not accepted")),
        ("hpoXcvrUnsupported", None, (False, True, "module not accepted")),
        ("Hardware failure", None, (False, True, "hardware failure")),
        ("inactive", None, (None, True, None)),
        ("suspended(no LACP PDUs", None, (None, True, None)),
        ("noOperMem", None, (None, True, None)),
        ("VLAN/BD is down", None, (None, True, None)),
        ("DCX-No ACK in 100 PDUs", None, (None, True, None)),
        ("", None, (None, None, None)),
        (None, None, (None, None, None)),
        ("monitoring", None, (None, None, None)),
    ],
)
def test_a_switchs_word_for_a_port(word: object, module: object, state: tuple[object, ...]) -> None:
    assert tuple(of_word(word, module)) == state


@pytest.mark.parametrize(
    ("words", "state"),
    [
        (("up", "up"), (True, True, None)),
        (("down", "up"), (False, True, None)),
        (("down", "down"), (False, False, "switched off")),
        (("down", "down", "XCVR not inserted"), (False, False, "switched off")),
        (("down", "up", "XCVR not inserted"), (False, True, "no module")),
        (("up", "up", "XCVR not inserted"), (False, True, "no module")),
        (("down", None, "Link not connected"), (False, True, "no light")),
        (("down", "up", "suspended"), (None, True, None)),
        (("up", "down"), (True, False, None)),
        (("?", "?"), (None, None, None)),
    ],
)
def test_two_words_for_a_port(words: tuple[str, ...], state: tuple[object, ...]) -> None:
    assert tuple(of_words(*words)) == state


def test_the_states_of_snmp() -> None:
    assert tuple(of_snmp(2, 1)) == (False, True, None)
    assert tuple(of_snmp(2, 2)) == (False, False, "switched off")
    assert tuple(of_snmp(6, 1)) == (False, True, "no module")
    assert tuple(of_snmp(6, 2)) == (False, False, "switched off")
    assert tuple(of_snmp(7, None)) == (False, None, None)
    assert tuple(of_snmp(None, None)) == (None, None, None)


@pytest.mark.parametrize(
    ("reason", "summary", "action"),
    [
        ("no module", "leaf-0/swp1 has no module", "Put a module into leaf-0/swp1"),
        ("no light", "leaf-0/swp1 receives no light", "Reseat the cable at leaf-0/swp1 and at gpu-1/nic0"),
        ("error-disabled", "leaf-0 shut leaf-0/swp1 after an error", "Check the log of leaf-0"),
        ("module not accepted", "leaf-0 does not accept the module in leaf-0/swp1", "Replace the module"),
        ("hardware failure", "leaf-0 reports a hardware failure at leaf-0/swp1", "Replace the module"),
        (None, "leaf-0/swp1 report", "Reseat the cable at gpu-1/nic0 and at leaf-0/swp1"),
    ],
)
def test_the_reason_and_its_repair_stand_in_the_finding_and_in_its_cause(
    reason: str | None, summary: str, action: str
) -> None:
    leaf = NetLink("swp1", operstate="DOWN", flags=("NO-CARRIER", "UP"), down_reason=reason)  # type: ignore[arg-type]
    neighbor = hears("swp2", "gpu-2/nic0")
    plan = "gpu-1/nic0 leaf-0/swp1 rail=0\ngpu-2/nic0 leaf-0/swp2 rail=0"
    evaluation = evaluate(scene(Case({"gpu-1": [NO_CARRIER], "leaf-0": [leaf, neighbor]}, plan=plan)))
    (cause,) = [cause for cause in evaluation.causes if cause.kind is CauseKind.LINK_DOWN]
    (finding,) = [finding for finding in evaluation.findings if finding.rule == "CAB003"]
    assert finding.id in cause.explains
    assert finding.summary.endswith(summary)
    assert finding.action.startswith(action)
    assert cause.action == finding.action
    assert not cause.moves
    if reason:
        assert cause.summary.endswith(summary)


def test_where_the_interface_was_not_read_the_step_says_so() -> None:
    facts: dict[str, Sequence[Fact]] = {"gpu-1": [rdma("mlx5_0", "DOWN", "DISABLED")], "leaf-0": []}
    (cause,) = evaluate(scene(Case(facts, plan="gpu-1/nic0 leaf-0/swp1 rail=0"))).causes
    assert cause.kind is CauseKind.LINK_DOWN
    assert "check with `ip link` on gpu-1 whether the interface is switched off" in cause.action


@pytest.fixture(scope="module")
def unplugged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A fabric of 64 hosts with one unplugged cable, whose mlx5 port says `DOWN`, `DISABLED`; and that port."""
    root = tmp_path_factory.mktemp("unplugged")
    simulation = simulate(Shape(hosts=64, rails=8, spines=4), [Fault(CauseKind.LINK_DOWN, "host")], seed=7)
    simulation.write(root)
    port = simulation.truth.causes[0].cables[0]
    for path in root.rglob(f"{port.device}/rdma_link"):
        path.write_text(path.read_text().replace("physical_state POLLING", "physical_state DISABLED"))
        assert "state DOWN physical_state DISABLED" in path.read_text()
    return root, str(port)


def given(root: Path) -> list[str]:
    plan, capture = root / "plan.csv", next(path.parent.parent for path in root.rglob("rdma_link"))
    return ["--plan", str(plan), "--from", str(capture)]


def test_one_unplugged_cable_fails_the_check_and_is_in_every_answer(unplugged: tuple[Path, str]) -> None:
    root, port = unplugged
    options = given(root)
    done = run("check", *options, "--format", "json")
    assert done.returncode == 1, done.stderr
    report = json.loads(done.stdout)
    assert report["summary"]["cables_missing"] == 1
    (cause,) = [cause for cause in report["causes"] if port in cause["subjects"]]
    assert (cause["kind"], cause["moves"]) == ("link-down", [])
    named = {finding["rule"]: finding["severity"] for finding in report["findings"] if finding["subject"] == port}
    assert named == {"CAB003": "critical", "NIC002": "warning"}
    text = run("check", *options).stdout
    assert "link-down" in text
    assert f"Reseat the cable at {port}" in " ".join(text.split())
    assert "no link" in run("where", port, *options).stdout
    job = run("job", port.partition("/")[0], *options)
    assert job.returncode == 1
    assert "link" in job.stdout
