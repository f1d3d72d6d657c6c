"""Numbers and texts that no device has, in any answer: they cost the device that gave them, and no other.

Each recorded answer with its numbers replaced one by one, through its collector; and each answer of one host and one
leaf of a simulated fabric with all of its numbers replaced, through reading, evaluating and reporting.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from collector import collectors
from collector._questions import naming
from rules import rules
from tests.draws import draws
from tests.each import each
from tests.live_site import runner
from truerail.analysis.round import Round
from truerail.analysis.rule import InsufficientDataError, Rule
from truerail.errors import OutOfBoundsError, ReaderFaultError, UnreadableError
from truerail.model import Device, NetLink, Status
from truerail.model.bounds import LONGEST_TEXT, bounded
from truerail.model.facts import Fact, LinkSpeed, Optic, PortCounters, PortQos
from truerail.outputs.report import Options, render
from truerail.plans import load
from truerail.rounds import evaluate
from truerail.simulator import Shape, simulate
from truerail.transport.replay import read_capture

_Done = tuple[int, str, str]
RECORDINGS = Path(__file__).parent / "recordings"
HOSTILE = (
    *("9" * 20, "9" * 320, "9" * 5000, "-1", "-" + "9" * 30, "1e400", "-1e400", "1e5", "NaN", "Infinity", "-inf"),
    *("0x" + "f" * 40, "18446744073709551616", "1.7976931348623157e308", "\u0663", "", "null", "true", "{}", "[]"),
)
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.:])")
_POSITIONS, _TURNS = draws(5, 6), draws(2, 4)
"""How many numbers of an answer are replaced, and how often each."""


def _spoiled(answer: str, first: int = 0) -> Iterator[str]:
    """The answer with one number after the other replaced; which hostile one is chosen in turn."""
    spots = list(_NUMBER.finditer(answer))
    step = max(1, len(spots) // _POSITIONS)
    for number, spot in enumerate(spots[::step]):
        for turn in range(_TURNS):
            word = HOSTILE[(first + 5 * number + 7 * turn) % len(HOSTILE)]
            yield answer[: spot.start()] + word + answer[spot.end() :]


def _cases(name: str) -> list[str]:
    return [path.with_name("answer.txt").read_text() for path in sorted((RECORDINGS / name).glob("*/facts.json"))]


def _numbers(fact: Fact) -> Iterator[float]:
    for value in fact:
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, (int, float)):
                yield one


@pytest.mark.parametrize("name", sorted(collectors()))
def test_hostile_numbers_are_refused_or_within_bounds(name: str) -> None:
    device, tried = Device("gpu-001"), 0
    for first, case in enumerate(_cases(name)):
        for answer in _spoiled(case, first):
            tried += 1
            try:
                facts = collectors()[name].read(answer, device)
            except UnreadableError:
                continue
            for fact in facts:
                assert all(-1e6 <= number < 2**64 for number in _numbers(fact)), fact
    assert tried


@each("name", sorted(collectors()))
@pytest.mark.parametrize(
    "answer",
    [
        "[" * 200_000,
        '{"a":' * 100_000,
        "[" * 200_000 + "]" * 200_000,
        '{"ifname": "' + "x" * 300_000 + '"}',
        "<a>" * 99_999,
    ],
    ids=["brackets", "objects", "closed brackets", "a long text", "elements"],
)
def test_depth_and_length_are_refused_by_every_collector(name: str, answer: str) -> None:
    try:
        facts = collectors()[name].read(answer, Device("gpu-001"))
    except UnreadableError:
        return
    assert not [text for fact in facts for text in fact if isinstance(text, str) and len(text) > LONGEST_TEXT]


@each(
    "name, answer, why",
    [
        (
            "lldp_snmp",
            "1.0.8802.1.1.2.1.4.1.1.7.0.1.1|4|a\n1.0.8802.1.1.2.1.4.1.1.x.0.1.1|4|y\n",
            "not a column of a table",
        ),
        ("lldp_snmp", '.1.0.8802.1.1.2.1.4.1.1.7.0.1.1 = STRING: "' + "a\n" * 9_000, "a string without its end"),
        ("slurm_topology", "---\n- topology: " + "{a: " * 30, "nested more than 16 deep"),
        ("gpu_nic_topology", "\tGPU0\tGPU1\nGPU0\tX\tOK\nGPU1\tOK\tX\n" * 9, "more than 8 matrices"),
        ("net_link", '[{"ifname": "eth0", "flags": [], "port": ' + "[" * 90_000, "not JSON"),
        ("net_link", '[{"ifname": "eth0", "flags": [], "port": ' + "9" * 5_000 + "}]", "not JSON"),
        ("net_link", '[{"ifname": "eth0", "flags": [], "mtu": [1]}]', "not understood (TypeError"),
        ("port_qos_profile", '{"DSCP_TO_TC_MAP|AZURE": {"type": "hash", "value": ' + "9" * 5_000 + "}}", "not JSON"),
    ],
)
def test_what_is_refused_for_its_length_or_type(name: str, answer: str, why: str) -> None:
    with pytest.raises(UnreadableError, match=re.escape(why)):
        collectors()[name].read(answer, Device("gpu-001"))


def test_what_breaks_a_reader_is_said_to_be_a_bug() -> None:
    def broken(answer: str, device: Device) -> tuple[Fact, ...]:
        raise KeyError("a slip")

    with pytest.raises(ReaderFaultError, match=r"its reader failed: a bug of truerail \(KeyError: 'a slip'\)"):
        naming(replace(collectors()["net_link"], parse=broken)).read("1: eth0", Device("gpu-001"))


@pytest.mark.parametrize("master", ["x" * (LONGEST_TEXT + 1), 'x"' * LONGEST_TEXT, "x" * 3 * LONGEST_TEXT])
@pytest.mark.parametrize("before", [0, 1, 3000, 5000])
def test_a_long_text_is_refused_wherever_it_stands(master: str, before: int) -> None:
    links = [{"ifname": "eth0", "ifalias": "y" * before}, {"ifname": "eth1", "master": master}, {"ifname": "eth2"}]
    with pytest.raises(UnreadableError, match=r"master of .* characters"):
        collectors()["net_link"].read(json.dumps(links), Device("gpu-001"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    simulate(Shape(hosts=6, rails=2, spines=2, uplinks=2), [], seed=3).write(folder)
    return folder


def _capture(site: Path) -> Path:
    return next(path.parent for path in sorted(site.rglob("*")) if path.is_dir() and path.name.startswith("gpu-001"))


_SHARES = draws(3, 1)
"""Each file of an answer gets one share of the hostile words, and the next file the next one."""


@pytest.mark.parametrize("who", ["gpu-001", "leaf"])
def test_one_device_full_of_hostile_numbers_spoils_no_other(site: Path, who: str) -> None:
    plan = load(site / "plan.csv")
    capture = _capture(site)
    folder = next(path for path in sorted(capture.iterdir()) if path.name.startswith(who))
    before = evaluate(Round(plan, read_capture(capture, devices=plan.devices).snapshot()))
    device = next(name for name in plan.devices if folder.name.startswith(name))
    others = {
        cable.a: before.cable_states[cable.a] for cable in plan.cables if device not in (cable.a.device, cable.b.device)
    }
    assert others
    for number, file in enumerate(sorted(folder.iterdir())):
        text = file.read_text()
        for word in HOSTILE[number % _SHARES :: _SHARES]:
            file.write_text(_NUMBER.sub(word.replace("\\", ""), text))
            after = evaluate(Round(plan, read_capture(capture, devices=plan.devices).snapshot()))
            assert {port: after.cable_states[port] for port in others} == others, (file.name, word[:30])
            broken = [(verdict.rule, verdict.error) for verdict in after.verdicts if verdict.status is Status.ERROR]
            assert not broken, (file.name, word[:30])
            strange = {finding.device for finding in after.findings} - {device}
            peers = {
                end.device
                for cable in plan.cables
                for end in (cable.a, cable.b)
                if device in (cable.a.device, cable.b.device)
            }
            assert strange <= peers, (file.name, word[:30])
            for fmt in ("text", "json"):
                assert render(after, fmt, Options())
        file.write_text(text)


@pytest.fixture
def check(site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[[Path], _Done]:
    """Exit code, report and errors of `truerail check` of a capture."""
    run = runner(monkeypatch, capsys)
    return lambda capture: run("check", "--plan", site / "plan.csv", "--from", capture, "--format", "json")


def test_an_mtu_of_twenty_digits_does_not_turn_the_rule_off(site: Path, check: Callable[[Path], _Done]) -> None:
    capture = _capture(site)
    links = sorted(capture.glob("gpu-00[12]*/ip*link*"))
    assert len(links) == 2
    whole = [path.read_text() for path in links]
    try:
        links[0].write_text(re.sub(r'("mtu": ?|mtu )\d+', r"\g<1>99999999999999999999", whole[0]))
        links[1].write_text(re.sub(r'("mtu": ?|mtu )\d+', r"\g<1>1280", whole[1]))
        code, out, err = check(capture)
    finally:
        for path, text in zip(links, whole, strict=True):
            path.write_text(text)
    report = json.loads(out)
    assert code == 1, err
    assert {verdict["rule"]: verdict["status"] for verdict in report["verdicts"]}["LNK002"] == "fail"
    assert {finding["subject"].partition("/")[0] for finding in report["findings"]} == {"gpu-002"}


def test_a_module_with_320_digits_costs_its_own_answer(site: Path, check: Callable[[Path], _Done]) -> None:
    capture = _capture(site)
    case = next(path for path in _cases("optics") if path.lstrip().startswith(("[", "{")))
    file = next(capture.glob("gpu-001*")) / "ethtool_--json_-m_eth0"
    file.write_text(_NUMBER.sub("9" * 320, case))
    try:
        code, out, err = check(capture)
    finally:
        file.unlink()
    assert code == 0, err
    assert json.loads(out)["summary"]["cables_right"] > 0


def test_what_is_out_of_bounds_is_unknown_or_refused() -> None:
    lossy = [
        NetLink("eth0", mtu=10**20),
        Optic("eth0", rx_power_dbm=float("nan")),
        Optic("eth0", lane=0, bias_ma=1e300),
    ]
    assert list(bounded(lossy)) == [NetLink("eth0"), Optic("eth0"), Optic("eth0", lane=0)]
    for fact in (
        LinkSpeed("eth0", float("inf")),
        LinkSpeed("eth0", -(10**400)),
        PortCounters("eth0", (), (2**64,)),
        PortCounters("eth0", (), (-1,)),
        PortQos("eth0", pfc_priorities=(10**30,)),
        NetLink("x" * (LONGEST_TEXT + 1)),
    ):
        with pytest.raises(OutOfBoundsError):
            list(bounded([fact]))
    with pytest.raises(TypeError):
        list(bounded([LinkSpeed("eth0", "400")]))  # type: ignore[arg-type]  # a parser's mistake
    assert list(bounded([PortQos("eth0"), PortCounters("eth0", (), ())])) == [
        PortQos("eth0"),
        PortCounters("eth0", (), ()),
    ]


@pytest.mark.parametrize("odd", [("gpu-003",), ("gpu-001", "gpu-005")])
def test_a_rule_that_breaks_on_one_device_evaluates_the_others(
    site: Path, odd: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = load(site / "plan.csv")
    whole = all_of(rules()["LLDP002"] if "LLDP002" in rules() else next(iter(rules().values())))

    def breaking(round: Round) -> list[object]:
        if set(round.snapshot.table(NetLink).devices) >= set(odd):
            raise OverflowError("Python int too large to convert to C long")
        return []

    table = {whole.code: replace(whole, evaluate=breaking)}
    monkeypatch.setattr("truerail.rounds.all_rules", lambda: table)
    snapshot = read_capture(_capture(site), devices=plan.devices).snapshot()
    (verdict,) = evaluate(Round(plan, snapshot)).verdicts
    assert verdict.status is Status.ERROR
    assert verdict.error.startswith("OverflowError")
    assert (f"{odd[0]} causes it" in verdict.error) == (len(odd) == 1)


def all_of(rule: Rule) -> Rule:
    """The rule, whatever facts there are."""
    return replace(rule, needs=())


def test_a_rule_that_cannot_decide_without_the_odd_device_says_nothing_more(site: Path) -> None:
    from truerail.rounds import without_culprit

    plan = load(site / "plan.csv")
    snapshot = read_capture(_capture(site), devices=plan.devices).snapshot()

    def breaking(round: Round) -> list[object]:
        if any(reading.device == "gpu-002" for reading in round.snapshot.readings):
            raise ValueError("odd")
        raise InsufficientDataError("too few")

    rule = replace(next(iter(rules().values())), evaluate=breaking)
    assert without_culprit(rule, Round(plan, snapshot)) == ("gpu-002", ())
    assert without_culprit(rule, Round(plan, replace(snapshot, readings=[]))) == ("", ())


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("operstate", ["UP"], "operstate that is no text: no device has that"),
        ("operstate", 7, "operstate that is no text: no device has that"),
        ("flags", [["UP"]], "a list or a mapping where none belongs: unhashable type: 'list'"),
        ("altnames", [{"a": 1}], "a list or a mapping where none belongs: unhashable type: 'dict'"),
    ],
)
def test_what_is_no_text_is_refused_with_its_answer(field: str, value: object, why: str) -> None:
    """Columns of it are counted by value: one device's list broke the evaluation of all."""
    answer = json.dumps([{"ifname": "eth0", "flags": ["UP"], field: value}])
    with pytest.raises(UnreadableError, match=re.escape(why)):
        collectors()["net_link"].read(answer, Device("gpu-001"))
