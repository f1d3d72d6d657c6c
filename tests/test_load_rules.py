"""The load rules: chances against brute force, a confusion matrix on simulated pods, and what examples cannot show."""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations, groupby
from math import comb, log
from operator import attrgetter

import numpy as np
import numpy.typing as npt
import pytest

from rules import rules
from tests.each import each
from truerail.analysis.counters.carried import carried_of, overall
from truerail.analysis.counters.intake import Answers
from truerail.analysis.counters.window import Window
from truerail.analysis.ecmp.occupancy import classes_chance, idle_chance, joint_chance
from truerail.analysis.ecmp.siblings import polarized
from truerail.analysis.round import Round
from truerail.analysis.rule import Case, InsufficientDataError
from truerail.model import Cable, Device, NetLink, Plan, Port, Role, Severity, Snapshot
from truerail.model.facts import Counter
from truerail.model.plan import LoadBalancing
from truerail.testing.cases import AT, scene

DEVELOPMENT, HELD_OUT = 100, 900
"""Seeds on which thresholds were chosen, and seeds on which they were not."""
FANS = ((4, 4), (6, 8), (4, 16), (8, 24), (16, 16))
Numbers = npt.NDArray[np.float64]
Rates = dict[str, dict[str, float | list[float]]]


def _exactly(flows: int, members: int, idle: int) -> Fraction:
    """P(at least `idle` empty bins) by inclusion and exclusion."""
    return sum(
        (
            Fraction((-1) ** (j - idle) * comb(j - 1, idle - 1) * comb(members, j) * (members - j) ** flows)
            / members**flows
            for j in range(idle, members + 1)
        ),
        Fraction(0),
    )


@each("members", [2, 3, 8, 16, 32])
@each("flows", [1, 2, 7, 16, 31])
def test_the_chance_of_idle_members_is_exact(flows: int, members: int) -> None:
    for idle in range(1, members):
        assert idle_chance(flows, members, idle) == pytest.approx(float(_exactly(flows, members, idle)), rel=1e-9)


def test_the_chance_of_idle_members_is_an_upper_bound_for_many_flows() -> None:
    assert idle_chance(45, 8, 2) >= float(_exactly(45, 8, 2))
    assert idle_chance(44, 8, 2) == idle_chance(45, 8, 2)
    assert idle_chance(10**9, 8, 1) == 1e-300
    assert [idle_chance(5, 4, 0), idle_chance(0, 4, 4), idle_chance(3, 4, 4)] == [1.0, 1.0, 0.0]


def test_joint_chances() -> None:
    assert joint_chance([0.03]) == pytest.approx(0.03)
    assert joint_chance([0.1, 0.02]) == pytest.approx(0.002 * (1 - log(0.002)))
    assert joint_chance([1.0, 1.0]) == 1.0
    assert joint_chance([0.0] * 8) == 1e-300
    draws = np.random.default_rng(DEVELOPMENT).random((4000, 5))
    joint = np.array([joint_chance(row) for row in draws.tolist()])
    assert abs((joint < 0.05).mean() - 0.05) < 0.015


def test_the_chance_of_classes_is_that_of_all_draws() -> None:
    first, sets = frozenset({0, 1}), [frozenset(c) for c in combinations(range(6), 2)]
    good = [other for other in sets if other == first or not other & first]
    chance, classes = classes_chance(6, [first, frozenset({2, 3})])
    assert chance == pytest.approx(len(good) / len(sets))
    assert classes == 2
    assert classes_chance(6, [first, frozenset({1, 2})]) == (1.0, 0)
    assert classes_chance(6, [first, frozenset({4}), frozenset({0, 1, 4})]) == (1.0, 0)
    wider = [frozenset(c) for c in combinations(range(6), 3)]
    nested = [other for other in wider if first <= other or not other & first]
    chance, classes = classes_chance(6, [first, frozenset({0, 1, 5})])
    assert chance == pytest.approx(len(nested) / len(wider))
    assert classes == 1


def _mixed(key: npt.NDArray[np.int64], seed: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Another hash of the same flows, its own on every switch (the finaliser of MurmurHash3)."""
    mixed = (key ^ (seed + 1) * 0x9E3779B9).astype(np.uint64)
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        mixed = (mixed ^ (mixed >> np.uint64(33))) * np.uint64(factor)
    return (mixed >> np.uint64(33)).astype(np.int64)


class Pod:
    """Leaves with `below` uplinks, one to each spine, and spines with `above`, as often as it takes for the siblings.

    Only the siblings are of one pod; all others are pods of their own.
    """

    leaves = 8

    def __init__(self, below: int, above: int, siblings: int) -> None:
        self.below, self.above, self.blocks, self.hosts = below, above, -(-siblings // below), max(below, 8)
        devices: dict[str, Device] = {}
        cables = []

        def add(a: str, b: str, port: str, roles: tuple[Role, Role], rail: int | None = None, pod: str = "") -> None:
            devices.setdefault(a, Device(a, roles[0], pod=pod))
            devices.setdefault(b, Device(b, roles[1], pod=pod))
            cables.append(Cable(Port(a, port), Port(b, f"{a}.{port}"), rail=rail, speed_gbps=400.0))

        for block in range(self.blocks):
            for n in range(block * self.below, (block + 1) * self.below):
                devices[f"spine-{n}"] = Device(f"spine-{n}", Role.SPINE, pod="A" if n < siblings else f"other-{n}")
            for leaf in range(block * self.leaves, (block + 1) * self.leaves):
                for host in range(self.hosts):
                    add(f"h{leaf}-{host}", f"leaf-{leaf}", "nic0", (Role.HOST, Role.LEAF), rail=0)
        self.hosted = len(cables)
        for leaf in range(self.blocks * self.leaves):
            for up in range(below):
                add(f"leaf-{leaf}", f"spine-{leaf // self.leaves * below + up}", f"up{up}", (Role.LEAF, Role.SPINE))
        self.uplinks = len(cables)
        for spine in range(self.blocks * below):
            for up in range(above):
                add(f"spine-{spine}", f"superspine-{up}", f"up{up}", (Role.SPINE, Role.SUPERSPINE))
        self.plan = Plan(devices, tuple(cables))

    def traffic(self, kind: str, seed: int, local: float = 0.0, pairs: bool = False) -> tuple[Plan, Snapshot]:
        """Four flows from every host, hashed by `kind`; a share stays in the pod."""
        rng = np.random.default_rng(seed)
        leaf, host, _ = (x.ravel() for x in np.indices((self.blocks * self.leaves, self.hosts, 4)))
        sender = leaf * self.hosts + host
        rate = rng.lognormal(0.0, 0.3, len(leaf))
        rate *= 3.6e10 / np.bincount(sender, weights=rate)[sender]
        key = rng.integers(0, 2**40, len(leaf))
        of_pair = rng.integers(0, 2**40, self.blocks * self.leaves * self.hosts)[sender]
        up = (of_pair if kind == "low entropy" else key) % self.below
        spine = leaf // self.leaves * self.below + up
        member = (key if kind == "polarized" else _mixed(of_pair if "low" in kind else key, spine)) % self.above
        if kind == "dead":
            member = (_mixed(key, spine) % (self.above - 1) + spine + 1) % self.above
        leaves = rng.random(len(leaf)) >= local
        top = np.zeros((self.blocks * self.below, self.above))
        np.add.at(top, (spine[leaves], member[leaves]), rate[leaves])
        if kind == "steered":
            top[:] = top.mean(axis=1, keepdims=True)
        middle = np.zeros((self.blocks * self.leaves, self.below))
        np.add.at(middle, (leaf, up), rate)
        sends = np.concatenate([np.bincount(sender, weights=rate), middle.ravel(), top.ravel()])
        sends *= 4.8e10 / sends.max()
        flows = np.full(self.hosted, 8 + 4) if pairs else None
        return Round(self.plan, Snapshot(AT, ()), self.window(sends, flows).view())

    def window(self, sends: Numbers, flows: Numbers | None) -> Window:
        """The lower ends' bytes sent, and the hosts' queue pairs, in twelve samples."""
        window, names = Window(12), (Counter("tx_bytes"), Counter("flows"))
        hosts, switches = (self._devices(of) for of in (slice(self.hosted), slice(self.hosted, None)))
        for sample in range(13):
            sent = (sends * sample * 10).astype(np.uint64)[:, None] + np.uint64(1)
            of_hosts, at = sent[: self.hosted], 1e6 + sample * 10
            if flows is not None:
                of_hosts = np.hstack([of_hosts, flows.astype(np.uint64)[:, None]])
            counters = names[: of_hosts.shape[1]]
            window.put_answers(
                [
                    Answers("nic_counters", counters, hosts, np.full(len(hosts), at), of_hosts),
                    Answers("port_counters", names[:1], switches, np.full(len(switches), at), sent[self.hosted :]),
                ]
            )
        return window

    def _devices(self, cables: slice) -> list[tuple[str, tuple[str, ...]]]:
        """The devices at the lower ends of some cables, which follow one another, and their ports."""
        by_device = groupby((cable.a for cable in self.plan.cables[cables]), key=attrgetter("device"))
        return [(device, tuple(port.name for port in ports)) for device, ports in by_device]


@cache
def pod(below: int, above: int, siblings: int) -> Pod:
    return Pod(below, above, siblings)


def found(made: Round, code: str = "LBL001") -> set[str]:
    """What a rule finds; nothing where it cannot say."""
    try:
        return {finding.subject for finding in rules()[code].findings(made)}
    except InsufficientDataError:
        return set()


@pytest.mark.parametrize("fan", FANS)
def test_polarization_is_found_on_eight_siblings_where_all_traffic_leaves(fan: tuple[int, int]) -> None:
    for seed in range(HELD_OUT, HELD_OUT + 3):
        assert found(pod(*fan, 8).traffic("polarized", seed)) == {f"spine-{n}" for n in range(8)}


@pytest.mark.parametrize(("pairs", "least"), [(False, 16), (True, 19)])
def test_polarization_is_mostly_found_where_half_of_the_traffic_is_local(pairs: bool, least: int) -> None:
    runs = [(fan, seed) for fan in FANS for seed in range(HELD_OUT, HELD_OUT + 4)]
    assert sum(bool(found(pod(*fan, 8).traffic("polarized", seed, 0.5, pairs))) for fan, seed in runs) >= least


@pytest.mark.parametrize("fan", [fan for fan in FANS if fan != (6, 8)])
def test_polarization_is_found_on_four_siblings_where_all_traffic_leaves(fan: tuple[int, int]) -> None:
    assert found(pod(*fan, 4).traffic("polarized", HELD_OUT)) == {f"spine-{n}" for n in range(4)}


@each("fan", FANS)
@each("kind", ["random", "low entropy", "low entropy above", "steered", "dead"])
def test_nothing_else_is_taken_for_polarization(fan: tuple[int, int], kind: str) -> None:
    for number, local in enumerate((0.0, 0.5)):
        assert found(pod(*fan, 8).traffic(kind, HELD_OUT + number, local, pairs=bool(number))) == set()


def test_queue_pairs_cap_what_the_scatter_below_says() -> None:
    bounds = []
    for pairs in (False, True):
        made = pod(8, 24, 8).traffic("polarized", DEVELOPMENT, pairs=pairs)
        b = made.balance
        spines = [n for n, name in enumerate(b.names(np.arange(len(b.switch)))) if name.startswith("spine")]
        assert len(polarized(made.siblings)) == 1
        bounds.append(made.flow_bounds.from_below[spines])
    flows = 8 * 4  # of eight leaves, to each spine
    assert (bounds[0] > 0).all()
    assert (bounds[0] <= 1.6 * flows).all()
    assert (bounds[1] >= bounds[0]).any()
    assert (bounds[1] <= 1.5 * 8 * 6).all()


_SPINES = "\n".join(
    [f"h{n}/nic0 leaf-{n // 8}/p{n} rail=0 speed=400" for n in range(16)]
    + [f"leaf-{n}/up{s} spine-{s}/down{n} speed=400" for n in range(2) for s in range(2)]
    + [f"spine-{s}/up{t} superspine-{t}/down{s} speed=400" for s in range(2) for t in range(2)]
)


def test_queue_pairs_alone_are_believed_to_a_quarter() -> None:
    rates = {f"h{n}/nic0": {"tx_bytes": 5e9, "flows": 40.0} for n in range(16)}
    rates |= {f"leaf-{n}/up{s}": {"tx_bytes": 2e10} for n in range(2) for s in range(2)}
    rates |= {f"spine-{s}/up{t}": {"tx_bytes": 4e10 * (s == t)} for s in range(2) for t in range(2)}
    case = Case(plan=_SPINES, rates=rates)
    assert scene(case).flow_bounds.claimed.tolist()[2:] == [40, 40]
    without = {name: {key: of[key] for key in of if key != "flows"} for name, of in rates.items()}
    assert scene(replace(case, rates=without)).flow_bounds.claimed.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("code", ["LBL001", "LBL002", "LBL003", "RAL001", "RAL002", "INC001"])
def test_too_few_samples_are_no_verdict(code: str) -> None:
    made = scene(replace(rules()[code].fires[0], rates={}))
    with pytest.raises(InsufficientDataError, match="fewer than"):
        list(rules()[code].findings(made))


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("LBL001", "no switch whose uplinks"),
        ("LBL002", "no switch whose uplinks"),
        ("LBL003", "no switch whose uplinks"),
        ("RAL001", "no host whose NICs"),
        ("RAL002", "no rail with 8 NICs"),
        ("INC001", "no switch reports"),
    ],
)
def test_nothing_to_evaluate_is_no_verdict(code: str, why: str) -> None:
    case = rules()[code].fires[0]
    quiet = {port: {"tx_bytes": 1e3, "rx_bytes": 1e3} for port in case.rates}
    with pytest.raises(InsufficientDataError, match=why):
        list(rules()[code].findings(scene(replace(case, rates=quiet))))


def test_without_uplinks_capacity_is_no_verdict() -> None:
    with pytest.raises(InsufficientDataError, match="no uplinks"):
        list(rules()["CAP001"].findings(scene(Case({"h1": [NetLink("nic0")]}, plan="h1/nic0 leaf-0/p1"))))


def test_a_member_of_which_nobody_tells_leaves_its_switch_not_evaluated_unless_it_is_down() -> None:
    case = rules()["LBL002"].fires[0]
    silent = {port: of for port, of in case.rates.items() if port != "leaf-0/up3"}
    with pytest.raises(InsufficientDataError):
        list(rules()["LBL002"].findings(scene(replace(case, rates=silent))))
    down = {"leaf-0": [NetLink("up3", operstate="DOWN")]}
    assert found(scene(replace(case, rates=silent, facts=down)), "LBL002") == {"leaf-0"}
    far = {"spine-3": [NetLink("p0", operstate="DOWN")]}
    assert found(scene(replace(case, rates=silent, facts=far)), "LBL002") == {"leaf-0"}


def test_what_the_other_end_counts_and_priorities_fill_in() -> None:
    plan = "h1/nic0 leaf-0/p1 rail=0 speed=400\nh2/nic0 leaf-0/p2 rail=0 speed=400"
    rates = {
        "leaf-0/p1": {"rx_bytes": 3e9},
        "h1/nic0": {"tx_bytes": 1e3},
        "h2/nic0": {"tx_bytes:0": 1e9, "tx_bytes:3": 2e9},
    }
    telemetry = scene(Case(plan=plan, rates=rates)).telemetry
    sent = overall(carried_of(telemetry).tx[telemetry.wiring.index.a])
    assert sent == pytest.approx([3e9, 3e9], rel=1e-4)


def test_a_window_with_gaps_is_not_reported() -> None:
    plan = "h1/nic0 leaf-0/p1 rail=0 speed=400"
    rates: Rates = {"h1/nic0": {"tx_bytes": [1e9] * 5 + [float("nan")] * 4 + [1e9] * 3}, "leaf-0/p1": {"tx_bytes": 1e9}}
    telemetry = scene(Case(plan=plan, rates=rates)).telemetry
    sent = carried_of(telemetry).tx[telemetry.wiring.index.a][0]
    assert np.isnan(sent).tolist() == [False, True, True, False]
    assert np.isnan(overall(sent[None])).all()


def test_steered_traffic_leaves_no_member_out_by_chance() -> None:
    rates = {f"leaf-0/up{s}": {"tx_bytes": 1e10 if s else 0.0} for s in range(4)}
    plan = rules()["LBL002"].fires[0].plan
    for balancing, subjects in ((LoadBalancing.ADAPTIVE, {"leaf-0/up0"}), (LoadBalancing.ECMP, set())):
        case = Case(plan=plan, rates=rates, load_balancing=balancing)
        assert found(scene(case), "LBL003") == subjects


def test_polarized_switches_have_no_dead_member_and_no_other_imbalance() -> None:
    made = scene(rules()["LBL001"].fires[0])
    assert found(made, "LBL002") == set()
    assert found(made, "LBL003") == set()


def test_how_loud_a_low_rail_is() -> None:
    case = rules()["RAL001"].fires[0]
    for share, severity in ((0.75, Severity.WARNING), (0.5, Severity.CRITICAL), (0.0, Severity.CRITICAL)):
        rates = dict(case.rates) | {"h1/nic3": dict.fromkeys(("tx_bytes", "rx_bytes"), 2e10 * share)}
        (finding,) = rules()["RAL001"].findings(scene(replace(case, rates=rates)))
        assert (finding.severity, finding.rail, dict(finding.detail)["port"]) == (severity, 3, "h1/nic3")


def test_stragglers_are_found_in_noise_and_nobody_else() -> None:
    rng = np.random.default_rng(HELD_OUT)
    case = rules()["RAL002"].fires[0]
    rates = {
        port: {
            way: (2.5e10 * (0.75 if port == "h4/nic2" else 1) * (1 + 0.05 * rng.standard_normal(12))).tolist()
            for way in of
        }
        for port, of in case.rates.items()
    }
    assert found(scene(replace(case, rates=rates)), "RAL002") == {"h4/nic2"}
    without = case.plan.replace("rail=2", "")
    with pytest.raises(InsufficientDataError):
        list(rules()["RAL002"].findings(scene(replace(case, plan="\n".join(without.splitlines()[:8])))))


def test_which_of_two_egress_ports_the_pauses_are_for_is_reported_with_less_confidence() -> None:
    case = rules()["INC001"].fires[0]
    rates = dict(case.rates) | {"leaf-0/p1": case.rates["leaf-0/p0"]}
    sure = {f.subject: f.confidence for f in rules()["INC001"].findings(scene(replace(case, rates=rates)))}
    assert sure == {"leaf-0/p0": 0.5, "leaf-0/p1": 0.5}
    assert {f.confidence for f in rules()["INC001"].findings(scene(case))} == {0.8}


def test_one_full_port_is_reported_in_the_singular() -> None:
    case = next(one for one in rules()["INC001"].quiet if one.summary.startswith("Three senders"))
    (part,) = rules()["INC001"].look(scene(case)).not_evaluated
    assert part.why == "1 port to a host is full in one direction, with fewer marks and pauses than incast makes"
