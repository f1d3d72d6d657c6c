"""A text with the answers of several devices: a capture's log is split at the prompts, an answer of two is refused.

Platforms, names, prompts, order, and what else was typed are drawn. The answers are those of simulated switches, and
the recorded ones.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from benchmarks.accuracy.fabrics import draw
from collector import collectors
from tests.capture_trees import RDMA, TABLE, grow
from tests.draws import draws
from tests.each import each
from truerail.cli.app import app
from truerail.errors import CommandError, UnreadableError
from truerail.model import Device, Fact, Neighbor, Role
from truerail.model.names import answer_file
from truerail.model.session_log import by_device
from truerail.simulator import Shape, simulate
from truerail.transport.capture_files import Questions
from truerail.transport.replay import Capture, read_capture

RECORDINGS = Path(__file__).parent / "recordings"
SHELL = ("admin@{}:~$ ", "[root@{} ~]# ", "(base) root@{}:/home/x# ", "admin@{} ~> ", "{}:~$ ", "cumulus@{}:mgmt:~$ ")
CLI = ("{}# ", "{}#", "{}>", "{}(config)# ", "admin@{}# ", "{} [standalone: master] # ", "{} [x: master] (config) # ")
PROMPTS: Mapping[str, tuple[str, ...]] = {
    "cumulus": SHELL,
    "sonic": SHELL,
    "eos": CLI,
    "nxos": CLI,
    "os10": CLI,
    "aoscx": CLI,
    "junos": ("admin@{}> ", "{{master:0}}\nadmin@{}> ", "root@{}# "),
    "iosxr": ("RP/0/RP0/CPU0:{}#", "RP/0/RSP1/CPU0:{}(config)#"),
    "srlinux": ("--{{ running }}--[  ]--\nA:{}# ", "--{{ + candidate shared }}--[  ]--\nA:admin@{}# "),
}
NAMES = st.from_regex(r"[a-zA-Z][a-z0-9]{0,8}([-_.][a-z0-9]{1,6}){0,2}[0-9]", fullmatch=True)
DEVICES = st.lists(NAMES, min_size=2, max_size=4, unique_by=lambda name: name.partition(".")[0].lower())
CHATTER = ("", "exit\nConnection to it closed.\n", "uname -a\nLinux 5.10\n", "ping -c 1 spine-1\n1 received\n")
ABOVE = ("", "=~=~=~=~= PuTTY log 2026.11.29 10:00:00 =~=~=~=~=\nlogin as: admin\n", "user@jump:~$ ssh it\nWelcome\n")


@cache
def switches(platform: str) -> list[dict[str, str]]:
    """What the leaves of a small fabric answer."""
    fabric = simulate(Shape(hosts=4, rails=4, spines=2, uplinks=4, platforms=(platform,)), folders="inventory")
    return [answers for device, answers in fabric.answers() if device.startswith("leaf")]


@cache
def readers(command: str) -> list[str]:
    """The collectors that read the answer of a leaf to a command."""
    return [claim.collector.name for claim in Questions(Role.LEAF).claims(answer_file(command))]


def read(capture: Capture) -> set[tuple[str, str, tuple[Fact, ...]]]:
    return {(one.device, one.collector, tuple(one.facts)) for one in capture.readings if not one.error}


def facts(name: str, answer: str, device: str = "any", role: Role = Role.LEAF) -> tuple[Fact, ...] | None:
    """The facts, None for a refusal."""
    try:
        return collectors()[name].read(answer, Device(device, role))
    except UnreadableError:
        return None


def drawn_log(data: st.DataObject, platform: str, answers: Mapping[str, Mapping[str, str]]) -> str:
    """A terminal's log in which these commands are typed on these devices, in any order."""
    log = data.draw(st.sampled_from(ABOVE))
    for name, command in data.draw(st.permutations([(name, one) for name, of in answers.items() for one in of])):
        at = data.draw(st.sampled_from(PROMPTS[platform])).format(name)
        log += f"{at}{command}\n{answers[name][command].rstrip()}\n{at}{data.draw(st.sampled_from(CHATTER))}\n"
    return log.replace("\n", data.draw(st.sampled_from(["\n", "\r\n"])))


@settings(max_examples=draws(20, 600), deadline=None)
@given(data=st.data(), platform=st.sampled_from(sorted(PROMPTS)), names=DEVICES, planned=st.booleans())
def test_a_log_of_several_devices_reads_as_their_folders_do(
    data: st.DataObject, platform: str, names: list[str], planned: bool
) -> None:
    answers = dict(zip(names, switches(platform), strict=False))
    plan = {name: Device(name, Role.LEAF) for name in names} if planned else {}
    file = data.draw(st.sampled_from(["putty.log", "notes.txt", f"{names[0]}.log", "show_lldp_neighbors.txt"]))
    with TemporaryDirectory() as folder:
        log = {file: drawn_log(data, platform, answers)}
        of_log = read_capture(grow(Path(folder) / "log", log), devices=plan)
        separate = {f"{name}/{answer_file(one)}": text for name in names for one, text in answers[name].items()}
        of_folders = read_capture(grow(Path(folder) / "folders", separate), devices=plan)
    assert set(of_log.devices_seen) == set(names)
    assert read(of_log) == read(of_folders)


@settings(max_examples=draws(20, 600), deadline=None)
@given(data=st.data(), platform=st.sampled_from(sorted(PROMPTS)), names=DEVICES)
def test_an_answer_of_several_devices_is_refused_by_their_names_or_is_that_of_the_one_asked(
    data: st.DataObject, platform: str, names: list[str]
) -> None:
    answers = dict(zip(names, switches(platform), strict=False))
    log = drawn_log(data, platform, answers)
    for command, text in answers[names[0]].items():
        for name in readers(command):
            if alone := facts(name, text):
                with pytest.raises(UnreadableError, match=f"^the answers of {len(names)} devices, ") as refused:
                    collectors()[name].read(log, Device("device", Role.LEAF))
                assert set(names) == set(str(refused.value).partition("devices, ")[2].split(", "))
                assert facts(name, log, names[0]) == alone


@settings(max_examples=draws(20, 600), deadline=None)
@given(data=st.data(), platform=st.sampled_from(sorted(PROMPTS)), name=NAMES)
def test_of_several_commands_the_one_that_is_asked_is_found(data: st.DataObject, platform: str, name: str) -> None:
    answers = switches(platform)[0]
    log = drawn_log(data, platform, {name: answers})
    for command, text in answers.items():
        for reader in readers(command):
            assert facts(reader, log) == facts(reader, text), command


CASES = [
    path.parent
    for name in ("lldp_switch", "lldp_host", "lldp_local")
    for path in sorted((RECORDINGS / name).glob("*/facts.json"))
    if not path.parent.name.startswith("odd-")  # one row, mostly: nothing of it is of two devices
]


def test_answers_of_two_devices_without_a_prompt_are_refused() -> None:
    """Each recorded form, with another device's answer below the first's, about the same ports."""
    refused = 0
    for case in CASES:
        name = case.parent.name
        answer = re.sub(r"(?m)^(?=\S*@|\S+[#>$]).*\n?", "", recorded(name, case.name))
        other = re.sub(r"gpu|spine|swp|Ethernet1/|\b51(?=\d\b)", lambda word: word[0][::-1], answer)
        one, two = facts(name, answer), facts(name, other)
        if one and two and len({fact[0] for fact in set(one) - set(two)} & {fact[0] for fact in two}) > 1:
            assert facts(name, answer.rstrip("\n") + "\n" + other) is None, case
            refused += 1
    assert refused > len(CASES) // 4


OF_DEVICE = r"(?:[0-9a-f]{2,4}[:.-]){2,5}[0-9a-f]{2,4}"
"""MACs and IPv6 addresses."""
OTHER_DIGITS = str.maketrans("0123456789abcdef", "9876543210fedcba")
NO_HEADING = {"bridge-text-no-line-feed"}
"""Nothing in it shows where another device's begins: the bridge's own MACs are missing."""


@each("name", ["mac_table", "neigh_table"])
def test_tables_of_two_devices_without_a_prompt_are_refused(name: str) -> None:
    """Each recorded form, with a table of other machines below it."""
    refused, cases = set(), {case.parent.name for case in (RECORDINGS / name).glob("*/facts.json")} - NO_HEADING
    for case in cases:
        answer = re.sub(r"(?m)^(?=\S*@|\S+[#>$]).*\n?", "", recorded(name, case)).rstrip("\n") + "\n"
        other = re.sub(OF_DEVICE, lambda word: word[0].translate(OTHER_DIGITS), answer)
        if facts(name, answer) and facts(name, other) != facts(name, answer):
            assert facts(name, answer + other) is None, case
            refused.add(case)
    assert 2 * len(refused) > len(cases)


@settings(max_examples=draws(30, 1000), deadline=None)
@given(data=st.data(), ports=st.lists(st.integers(1, 64), min_size=2, max_size=6, unique=True))
def test_rows_of_another_kernel_are_refused_where_they_show_it(data: st.DataObject, ports: list[int]) -> None:
    """A bridge has one MAC of its own at a port; an address of an interface has one row, and each family its place."""

    def mac(switch: int, port: int) -> str:
        return f"0{2 * switch}:00:00:00:00:{port:02x}"

    def bridge(switch: int) -> str:
        return "".join(
            f"{mac(switch + 2, port)} dev swp{port} vlan 9 master br0\n"
            f"{mac(switch, port)} dev swp{port} master br0 permanent\n"
            for port in ports
        )

    alone = bridge(0)
    assert facts("mac_table", alone * 2) is not None
    assert facts("mac_table", alone + bridge(1)) is None
    old = data.draw(st.booleans())  # kernels before 3.19 print IPv6 first

    def neighbours(switch: int, families: int) -> str:
        four = "".join(f"10.{switch}.0.{p} dev swp{p} lladdr {mac(switch, p)} REACHABLE\n" for p in ports)
        six = "".join(f"fe80::{switch}:{p} dev swp{p} lladdr {mac(switch, p)} router STALE\n" for p in ports)
        return "".join(([six, four] if old else [four, six])[:families])

    assert facts("neigh_table", neighbours(0, 2)) is not None
    assert facts("neigh_table", neighbours(0, 2) + neighbours(1, 2)) is None
    again = neighbours(0, 1).replace(mac(0, ports[0]), mac(3, ports[0]))
    assert facts("neigh_table", neighbours(0, 1) + again) is None


def of_others(value: re.Match[str]) -> str:
    """A value of a walk with other short numbers."""
    return re.sub(r"(?<!\d)\d{1,9}(?!\d)", lambda digits: digits[0].translate(OTHER_DIGITS), value[0])


@each("name", ["lldp_snmp", "if_snmp", "if_counters_snmp"])
def test_a_walk_that_begins_again_with_other_values_is_refused(name: str) -> None:
    refused, cases = 0, [path.parent.name for path in sorted((RECORDINGS / name).glob("*/facts.json"))]
    for case in cases:
        answer = recorded(name, case).rstrip("\n") + "\n"
        other = re.sub(r"(?m)(?<=: )\S.*|(?<=\|)[^|\n]*$", of_others, answer)
        one, two = facts(name, answer), facts(name, other)
        assert facts(name, answer * 2) == one, case
        if one and two and len(set(one) - set(two)) > 1:
            assert facts(name, answer + other) is None, case
            refused += 1
    assert refused, name


@settings(max_examples=draws(20, 600), deadline=None)
@given(parts=st.lists(st.from_regex(r"VRF: [a-z]{1,8}[0-9]", fullmatch=True), min_size=2, max_size=4))
def test_a_heading_comes_again_for_each_part_of_one_table(parts: list[str]) -> None:
    head = "Address         Age (sec)  Hardware Addr   Interface"
    text = "".join(
        f"{part}\n{head}\n10.0.{n}.1       0:00:26  1c34.da00.000{n}  Ethernet1/{n}\n\n" for n, part in enumerate(parts)
    )
    read = facts("neigh_table", text)
    assert len(read or ()) == (len(parts) if len(set(parts)) == len(parts) else 0)


@settings(max_examples=draws(20, 600), deadline=None)
@given(st.lists(st.integers(1000, 10**15), min_size=2, max_size=6), st.lists(st.integers(1000, 10**15), min_size=6))
def test_counters_of_two_devices_without_a_prompt_are_refused(one: list[int], other: list[int]) -> None:
    head = "  IFACE    STATE    RX_OK    RX_ERR    TX_OK\n-------  -------  -------  --------  -------\n"

    def table(values: list[int]) -> str:
        return head + "".join(f"Ethernet{8 * n}        U  {v}         0  {v}\n" for n, v in enumerate(values))

    alone = facts("port_counters", table(one))
    assert alone is not None
    assert facts("port_counters", table(one) * 2) == alone
    again = sum(a != b for a, b in zip(one, other, strict=False))
    assert (facts("port_counters", table(one) + table(other)) is None) == (again > 1)


def nxos(hears: str, ports: int = 2) -> str:
    """`show lldp neighbors` of NX-OS with a total below."""
    rows = "".join(f"{f'{hears}-{n}':<21}Eth1/{n:<11}120                    eth{n}\n" for n in range(1, 1 + ports))
    labels = "Device ID            Local Intf      Hold-time  Capability  Port ID  \n"
    return f"{labels}{rows}Total entries displayed: {ports}\n"


LLDP = "show lldp neighbors"
VIEWS = ("<{}>", "[{}]", "[~{}]", "[*{}]", "[{}-bgp]", "[~{}-diagnose]")


@settings(max_examples=draws(15, 400), deadline=None)
@given(data=st.data(), names=DEVICES, form=st.sampled_from(["vrp-brief", "comware-text", "comware-list"]))
def test_the_views_of_vrp_and_comware_are_no_devices(data: st.DataObject, names: list[str], form: str) -> None:
    table = recorded("lldp_switch", form).rstrip() + "\n"
    log = "".join(f"<{name}>system-view\n" for name in names)
    for name in data.draw(st.permutations(names)):
        log += data.draw(st.sampled_from(VIEWS)).format(name) + f"display lldp neighbor brief\n{table}"
    assert [name for name in by_device(log) if name] == names
    assert facts("lldp_switch", log) is None
    for name in names:
        assert facts("lldp_switch", log, name) == facts("lldp_switch", table)


@settings(max_examples=draws(15, 400), deadline=None)
@given(names=DEVICES, commands=st.permutations([LLDP, "show version", "show clock"]), spelled=st.booleans())
def test_the_switches_of_a_controller_are_devices(names: list[str], commands: list[str], spelled: bool) -> None:
    nodes = ",".join(str(235 + number) for number in range(len(names)))
    log = ""
    for command in commands:
        log += f"apic1# fabric {nodes} {command}\n"
        for number, name in enumerate(names):
            rule = "-" * 64
            log += f"{rule}\n Node {235 + number} ({name})\n{rule}\n{nxos(name) if command == LLDP else 'text'}\n"
    with TemporaryDirectory() as folder:
        capture = read_capture(grow(Path(folder), {"apic.log": log if spelled else log.partition("\n")[2]}))
    assert {(one.device, tuple(one.facts)) for one in capture.readings if one.collector == "lldp_switch"} == {
        (name, facts("lldp_switch", nxos(name))) for name in names
    }
    assert facts("lldp_switch", log) is None


def recorded(name: str, case: str) -> str:
    return (RECORDINGS / name / case / "answer.txt").read_bytes().decode()


@each("command, form", [("rdma link", "lines"), ("nvidia-smi topo -m", "tabs_with_legend")])
def test_hosts_are_devices_as_switches_are(command: str, form: str) -> None:
    name = {"rdma link": "rdma_link"}.get(command, "gpu_nic_topology")
    text = RDMA if name == "rdma_link" else recorded(name, form)
    log = "".join(f"root@gpu-{n}:~# {command}\n{text}" for n in (1, 2))
    assert facts(name, log) is None
    assert facts(name, log, "gpu-2.cluster.local", Role.HOST) == facts(name, text)


def test_parse_says_whose_answers_are_in_a_file(tmp_path: Path) -> None:
    log = grow(tmp_path, {"log": f"leaf-1# sh lldp nei\n{nxos('a')}leaf-2# show lldp neighbors\n{nxos('b')}"}) / "log"
    found = CliRunner().invoke(app, ["parse", "lldp_switch", str(log)])
    assert isinstance(found.exception, CommandError)
    assert str(found.exception).endswith("can read: the answers of 2 devices, leaf-1, leaf-2")
    assert '"a-1"' in CliRunner().invoke(app, ["parse", "lldp_switch", str(log), "--device", "leaf-1"]).stdout


@each(
    "text, why",
    [
        (recorded("lldp_switch", "nxos-detail-text") * 2, "2 totals: the answers of several devices"),
        (nxos("a", 1) + nxos("b", 1), "a second table"),
        (
            nxos("a") + "leaf-1#\n" + nxos("b").partition("Total")[0],
            "a second table below the first: the answers of two",
        ),
        (
            f"{nxos('a')}leaf-2# show lldp neighbors\n{nxos('b')}leaf-2# ",
            "a second table",
        ),  # of leaf-1 whose prompt is lost
        (RDMA, "not an answer about LLDP neighbours"),
    ],
)
def test_what_stands_below_a_total_is_not_dropped(text: str, why: str) -> None:
    with pytest.raises(UnreadableError, match=why):
        collectors()["lldp_switch"].read(text, Device("any", Role.LEAF))


def test_the_last_of_several_answers_may_be_cut() -> None:
    """A log that ends within the answer that is asked for: what comes before it changes nothing."""
    for answer in (nxos("a"), TABLE):
        command = LLDP if answer != TABLE else "show lldp table"
        for end in range(1, len(answer)):
            cut = answer[:end]
            log = f"leaf-1# show version\n1.0\nleaf-1# {command}\n{cut}"
            assert facts("lldp_switch", log) in (None, facts("lldp_switch", cut)), cut


NX = f"{LLDP}\n{nxos('a')}"
PLANNED = {"leaf-1": Device("leaf-1", Role.LEAF), "leaf-2": Device("leaf-2", Role.LEAF, aliases=("sw2",))}


@each(
    "files, devices",
    [
        ({"putty.log": f"leaf-1# {NX}"}, ["leaf-1"]),
        ({"putty.log": f"leaf-9# {NX}"}, ["leaf-9"]),
        ({"putty.log": f"sw2# {NX}"}, ["leaf-2"]),
        ({"leaf-2.log": f"leaf-1# {NX}"}, ["leaf-1"]),
        ({"leaf-2.log": f"leaf-9# {NX}"}, ["leaf-2"]),
        ({"leaf-9.log": f"switch# {NX}"}, ["leaf-9"]),  # a default name
        ({"leaf-9.log": f"bash-5.1# {NX}"}, ["leaf-9"]),
        ({"leaf-2.log": f"$ {NX}"}, ["leaf-2"]),
        ({"leaf-2-1.txt": nxos("a")}, ["leaf-2"]),
        ({"putty.log": f"user@jump:~$ ssh leaf-1\nleaf-1> {NX}leaf-1> exit\nuser@jump:~$ ls\n"}, ["leaf-1"]),
        ({"putty.log": f"leaf-1.dc1# {NX}leaf-1# show version\n1.0\n"}, ["leaf-1"]),
        ({"leaf-2/putty.log": f"user@jump:~$ ssh leaf-2\nsw2> {NX}user@jump:~$ ls\n"}, ["leaf-2"]),
        ({"leaf-2/x.log": f"leaf-1# {NX}\nsw2# {NX}"}, ["leaf-2"]),
        ({"leaf-2/show_lldp_neighbors": f"leaf-1# {NX}\nsw2# {NX}"}, ["leaf-2"]),
        ({"leaf-2/x.log": f"leaf-1# {NX}\nleaf-9# {NX}"}, []),
        ({"leaf-2/x.log": f"leaf-1# {NX}\nleaf-2# show clock\n10:00\n"}, []),
        ({"leaf-2/show_lldp_neighbors": f"leaf-1# {NX}\nleaf-9# {NX}"}, []),
    ],
)
def test_a_log_is_of_the_device_at_its_prompt(files: dict[str, str], devices: list[str]) -> None:
    with TemporaryDirectory() as folder:
        capture = read_capture(grow(Path(folder), files), devices=PLANNED)
    assert read(capture) == {(name, "lldp_switch", facts("lldp_switch", nxos("a"))) for name in devices}


def test_what_a_folder_s_log_has_of_other_devices_is_named(tmp_path: Path) -> None:
    text, both = f"leaf-1# {NX}\nleaf-9# {NX}", "the answers of 2 devices, leaf-1, leaf-9"
    capture = read_capture(grow(tmp_path, {"leaf-2/x.log": text, "leaf-1/x.log": text}), devices=PLANNED)
    assert capture.notes == (
        "session logs, read by the commands in them: 1 (leaf-1/x.log: 1 answers)",
        f"session logs of other devices than their folder's, not read: 1 (leaf-2/x.log: {both})",
    )


MATRIX = "\tGPU0\tGPU1\tNIC0\nGPU0\t X \tNV1\tPIX\nGPU1\tNV1\t X \tSYS\nNIC0\tPIX\tSYS\t X \n"
PAIRS = " \tGPU0\tGPU1\n GPU0\tX\tOK\n GPU1\tOK\tX\n"


@each("legend", ["", "\nLegend:\n\n  X    = Self\n\nNIC Legend:\n\n  NIC0: mlx5_0\n\n"])
@each("meaning", ["", "\nLegend:\n\n  X    = Self\n  OK   = Status Ok\n  CNS  = Chipset not supported\n\n"])
def test_the_matrix_of_paths_is_found_beside_those_of_pairs(legend: str, meaning: str) -> None:
    paths, pairs = MATRIX + legend, PAIRS + meaning
    for text in (paths + pairs, pairs + paths, pairs + paths + pairs, paths + pairs + pairs, paths + paths):
        assert facts("gpu_nic_topology", text) == facts("gpu_nic_topology", paths), text
    assert facts("gpu_nic_topology", paths + paths.replace("PIX", "PHB")) is None


def test_a_walk_with_old_neighbours_beside_new_ones_is_one_device() -> None:
    """They come in the order of their times, so that ports begin again."""
    readings = draw(43).simulation.snapshot().readings
    again = [
        one for one in readings if len({fact.port for fact in one.facts if isinstance(fact, Neighbor)}) < len(one.facts)
    ]
    assert any(one.collector == "lldp_snmp" for one in again)
    assert not [one.error for one in readings if one.collector == "lldp_snmp" and one.error]
