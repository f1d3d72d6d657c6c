"""Captures to be shared: no one is recognised in them, and they evaluate the same up to names."""

import re
from collections import Counter
from ipaddress import ip_network
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.draws import draws
from tests.each import each
from truerail.analysis.round import Round
from truerail.errors import ScrubError
from truerail.model import CauseKind, Evaluation, Plan, Role
from truerail.rounds import evaluate
from truerail.scrub import scrub_round
from truerail.scrub.pseudonyms import Keyed, Names
from truerail.scrub.scrubbed_round import Text, scrubbed_walk
from truerail.simulator import Fault, Noise, Shape, Simulation, simulate
from truerail.transport.replay import read_capture
from truerail.transport.round_files import UNANSWERED, Unanswered, load_unanswered

KEY = b"k" * 32
PLATFORMS = ("cumulus", "eos", "nxos", "junos", "sonic", "snmp")
SHAPE = Shape(hosts=16, rails=12, spines=2, uplinks=4, platforms=PLATFORMS, subnets=True)
NOISE = Noise(labels=True, management=True, forms=True, mixed=True, strange_files=True)
FAULTS = (
    Fault(CauseKind.CABLE_SWAP, "one-host"),
    Fault(CauseKind.LEAF_SWAP, "labels"),
    Fault(CauseKind.HOST_SWAP, "labels"),
    Fault(CauseKind.LINK_DOWN, "host"),
)


def scrubbed(simulation: Simulation, root: Path) -> tuple[Path, Path, Plan]:
    """A capture, the same scrubbed, and the scrubbed plan."""
    source = simulation.write(root / "made")
    names = {name: device.role for name, device in simulation.plan.devices.items()}
    plan = scrub_round(source, root / "scrubbed", simulation.plan, names, key=KEY)
    assert plan is not None
    return source, root / "scrubbed", plan


def replayed(path: Path, plan: Plan) -> Evaluation:
    seen = read_capture(path, devices=plan.devices)
    return evaluate(Round(plan, seen.snapshot()), notes=seen.notes)


def kinds(evaluation: Evaluation) -> Counter[tuple[str, int, int]]:
    return Counter((str(c.kind), len(c.moves), len(c.explains)) for c in evaluation.causes)


@pytest.mark.parametrize("seed", range(draws(1, 4)))
def test_a_scrubbed_capture_evaluates_the_same_up_to_names(tmp_path: Path, seed: int) -> None:
    simulation = simulate(SHAPE, FAULTS, NOISE, seed=seed, folders="inventory")
    source, out, plan = scrubbed(simulation, tmp_path)
    before, after = replayed(source, simulation.plan), replayed(out, plan)
    assert kinds(after) == kinds(before)
    assert len(before.causes) >= 4
    assert Counter(f.rule for f in after.findings) == Counter(f.rule for f in before.findings)
    assert after.summary == before.summary
    assert [(v.rule, v.status) for v in after.verdicts] == [(v.rule, v.status) for v in before.verdicts]


def test_nobody_is_recognised(tmp_path: Path) -> None:
    simulation = simulate(SHAPE, FAULTS, NOISE, seed=1, folders="inventory")
    source, out, plan = scrubbed(simulation, tmp_path)
    everything = "\n".join(p.read_text() for p in out.rglob("*") if p.is_file())
    everything += "\n".join(str(p.relative_to(out)) for p in out.rglob("*")) + repr(plan)
    low, bare = everything.lower(), everything.lower().replace(".", "")
    for name in simulation.plan.devices:
        assert name.lower() not in low or not re.search(rf"(?<![a-z0-9]){re.escape(name.lower())}(?![0-9])", low), name
    assert "example.net" not in everything
    world = simulation.world
    macs = [world.host_mac(h, slot) for h in world.fabric.models for slot in range(-1, 12)]
    macs += [world.switch_mac(s, n) for s in world.fabric.ports for n in range(4)]
    for mac in macs:
        assert mac not in low
        assert mac.replace(":", " ") not in low
        assert mac.replace(":", "") not in bare
    for name in simulation.plan.devices:
        assert not re.search(rf"(?<![\d.]){re.escape(world.address(name))}(?!\.?\d)", everything)
    for device in simulation.plan.devices.values():
        assert not device.rack or f"'{device.rack}'" not in repr(plan)
    assert not list(out.rglob("uptime"))
    assert len(list(out.iterdir())) == len(list(source.iterdir()))


def test_another_key_gives_other_names(tmp_path: Path) -> None:
    simulation = simulate(Shape(hosts=16, rails=2, spines=0), folders="inventory")
    source = simulation.write(tmp_path / "made")
    files = []
    for number in range(2):
        out = tmp_path / str(number)
        scrub_round(source, out, simulation.plan, {})
        files.append({str(p.relative_to(out)): p.read_bytes() for p in out.rglob("*") if p.is_file()})
    assert files[0].keys() == files[1].keys()
    assert files[0] != files[1]


def text(*names: str, **planned: Role) -> Text:
    keyed = Keyed(KEY)
    return Text(keyed, Names(keyed, {**dict.fromkeys(names, Role.HOST), **planned}, ()))


@pytest.mark.parametrize(
    "spelling",
    [
        "GPU-012",
        "gpu-012.dc1.example.net",
        "to-gpu-012-nic3",
        '"gpu-012"',
        "gpu-012_mlx5_0",
        "[gpu-012]",
        "gpu-012/eth0",
    ],
)
def test_a_name_counts_by_any_spelling(spelling: str) -> None:
    made = text("gpu-012", "gpu-013")(spelling)
    assert "gpu-012" not in made.lower()
    assert re.search(r"(?i)host-000[12]", made)
    assert text("gpu-012.dc1.example.net")("gpu-012").startswith("host-0001")


@pytest.mark.parametrize(
    "same", ["gpu-0121", "xgpu-012x", "enp26s0f0np0", "Ethernet1/1", "0000:1a:00.0", "mlx5_0", "5.15.0-91"]
)
def test_what_names_nobody_stays(same: str) -> None:
    assert text("gpu-012")(same) == same


def test_names_with_blanks_are_found() -> None:
    assert text("leaf 1", "leaf 12")("to LEAF 12, leaf 1.") in ("to host-0001, host-0002.", "to host-0002, host-0001.")


@pytest.mark.parametrize("name", ["bridge", "7", "42", "x", "Ethernet"])
def test_names_that_cannot_be_replaced_safely_are_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    with pytest.raises(ScrubError, match=f"device '{name}'"):
        scrub_round(tmp_path / "in", tmp_path / "out", None, {name: None})
    assert not (tmp_path / "out").exists()


@each(
    "before, shape",
    [
        ("b8:3f:d2:00:00:01", r"(?:[0-9a-f]{2}:){5}01"),
        ("B8-3F-D2-00-00-01", r"(?:[0-9A-F]{2}-){5}01"),
        ("b83f.d200.0001", r"[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{2}01"),
        ("b83fd2000001", r"[0-9a-f]{10}01"),
        ("0xb83fd2000001", r"0x[0-9a-f]{10}01"),
        ("10.0.1.7", r"\d+\.\d+\.\d+\.\d+"),
        ("2001:db8::7", r"[0-9a-f:]+"),
        ("fe80::ba3f:d2ff:fe00:1", r"fe80::[0-9a-f:]+"),
        ("946d:ae03:00d0:1234", r"(?:[0-9a-f]{4}:){3}[0-9a-f]{4}"),
        ("0x946dae0300d01234", r"0x[0-9a-f]{16}"),
        ("00:00:10:49:fe:80:00:00:00:00:00:00:94:6d:ae:03:00:d0:12:34", r"00:00:10:49:fe:80(?::[0-9a-f]{2}){14}"),
        ('"serial-number": "MT2245X0001"', r'"serial-number": "SN\d{10}"'),
        ("Serial Number: FDO22190ABC", r"Serial Number: SN\d{10}"),
        ("leaf-x(SSI184606FC)", r"leaf-x\(SN\d{10}\)"),
        ("GPU-5f2b1c4e-0000-1111-2222-333344445555", r"GPU-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    ],
)
def test_what_identifies_is_replaced_in_its_own_shape(before: str, shape: str) -> None:
    made = text()(before)
    assert re.fullmatch(shape, made), made
    assert made != before
    assert text()(f"x {before} y {before}") == f"x {made} y {made}"


@each(
    "same",
    [
        *("01:80:c2:00:00:0e", "ff:ff:ff:ff:ff:ff", "00:00:00:00:00:00", "127.0.0.1", "0.0.0.0", "255.255.255.255"),
        *("::1", "224.0.0.1", "14:00:00", "2026-11-20T14:00:00", "123456789012", "999.1.1.1", "0000:1a:00.0"),
        "1.3.6.1.2.1.2.2.1.6.12",
    ],
)
def test_what_belongs_to_nobody_stays(same: str) -> None:
    assert text()(same) == same


@given(st.binary(min_size=6, max_size=6), st.binary(min_size=6, max_size=6))
def test_macs_are_permuted(one: bytes, other: bytes) -> None:
    keyed = Keyed(KEY)
    assert (keyed.mac(one) == keyed.mac(other)) == (one == other)
    assert keyed.mac(one)[0] & 3 == one[0] & 3
    assert keyed.mac(one)[5] == one[5]


@given(st.ip_addresses(v=4), st.ip_addresses(v=4), st.integers(min_value=0, max_value=32))
def test_addresses_keep_their_subnets(one: object, other: object, bits: int) -> None:
    keyed = Keyed(KEY)
    if any(a.is_multicast or a.is_loopback or a.is_link_local or int(a) in (0, 2**32 - 1) for a in (one, other)):  # type: ignore[attr-defined]
        return
    made, made_other = keyed.address(one), keyed.address(other)  # type: ignore[arg-type]
    net = ip_network(f"{one}/{bits}", strict=False)
    base = keyed.address(one, bits)  # type: ignore[arg-type]
    assert (made_other in ip_network(f"{base}/{bits}")) == (other in net)
    assert (made == made_other) == (one == other)


def test_a_walk_keeps_cables_and_nothing_else() -> None:
    scrub = text("gpu-001")
    walk = (
        '.1.3.6.1.2.1.1.4.0 = STRING: "alice@example.org"\n'
        '.1.3.6.1.2.1.1.6.0 = STRING: "hall 3\nrow 4"\n'
        ".1.3.6.1.2.1.2.2.1.6.1 = Hex-STRING: B8 3F D2 00 00 01 \n"
        '.1.3.6.1.2.1.31.1.1.1.1.1 = STRING: "swp1"\n'
        '.1.0.8802.1.1.2.1.4.1.1.9.0.1.1 = STRING: "gpu-001"\n'
        ".1.0.8802.1.1.2.1.4.1.1.10.0.1.1 = Hex-STRING: 4C 69 6E 75 78 20 67 70 75 2D 30 30 31 0A \n"
        ".1.0.8802.1.1.2.1.4.2.1.3.0.1.1.1.4.10.0.1.7 = INTEGER: 2\n"
        ".1.0.8802.1.1.2.1.4.2.1.3.0.1.1.2.16.254.128.0.0.0.0.0.0.0.0.0.0.0.0.0.1 = INTEGER: 2\n"
        ".1.0.8802.1.1.2.1.3.8.1.3.1.4.10.0.1.9 = INTEGER: 2\n"
    )
    made = scrubbed_walk(walk, scrub).splitlines()
    assert [line.partition(" = ")[0] for line in made[:4]] == [
        ".1.3.6.1.2.1.2.2.1.6.1",
        ".1.3.6.1.2.1.31.1.1.1.1.1",
        ".1.0.8802.1.1.2.1.4.1.1.9.0.1.1",
        ".1.0.8802.1.1.2.1.4.1.1.10.0.1.1",
    ]
    assert len(made) == 5
    assert made[1].endswith('"swp1"')
    assert made[2].endswith('"host-0001"')
    assert bytes.fromhex(made[3].partition("Hex-STRING: ")[2]) == b"Linux host-0001\n"
    assert made[4] == f".1.0.8802.1.1.2.1.4.2.1.3.0.1.1.1.4.{scrub.address('10.0.1.7')} = INTEGER: 2"
    assert "B8 3F D2" not in made[0]


def test_a_mac_that_happens_to_be_printable_is_a_mac() -> None:
    rem = ".1.0.8802.1.1.2.1.4.1.1"
    walk = (
        f"{rem}.4.0.1.1 = INTEGER: 4\n"
        f'{rem}.5.0.1.1 = STRING: "0:\\"abc"\n'
        f"{rem}.6.0.1.1 = INTEGER: 5\n"
        f'{rem}.7.0.1.1 = STRING: "swp123"\n'
        '.1.3.6.1.2.1.2.2.1.6.7 = STRING: "0:\\"abc"\n'
    )
    made = scrubbed_walk(walk, text()).splitlines()
    expected = bytes.fromhex(text().mac(b'0:"abc'.hex())).hex(" ").upper()
    assert made[1] == f"{rem}.5.0.1.1 = Hex-STRING: {expected} "
    assert made[3] == f'{rem}.7.0.1.1 = STRING: "swp123"'
    assert made[4] == f".1.3.6.1.2.1.2.2.1.6.7 = Hex-STRING: {expected} "


def test_errors_do_not_tell_the_way_in(tmp_path: Path) -> None:
    why = (
        "10.0.1.3 port 22: login of user alice refused (tried key ~/.ssh/alice_ed25519, ssh-agent); "
        "host key of gpu-001 has changed: now ssh-ed25519 SHA256:abcDEF, /home/alice/known_hosts has ssh-ed25519 "
        "SHA256:ghi; jump host ops@bastion"
    )
    folder = tmp_path / "in" / "gpu-001"
    folder.mkdir(parents=True)
    (folder / UNANSWERED).write_bytes(Unanswered(why, ("rdma_link",), {"rdma link": why}).dump())
    scrub_round(tmp_path / "in", tmp_path / "out", None, {"gpu-001": Role.HOST}, key=KEY)
    (made,) = (tmp_path / "out").rglob(UNANSWERED)
    assert made.parent.name == "host-0001"
    content = made.read_text()
    for word in ("alice", "abcDEF", "ghi", "bastion", "ops", "gpu-001", "10.0.1.3"):
        assert word not in content
    reported = load_unanswered(made.read_bytes())
    assert reported.collectors == ("rdma_link",)
    assert "login of user ... refused (tried key ..., ssh-agent); host key of host-0001 has changed" in reported.device
    assert reported.commands == {"rdma link": reported.device}
