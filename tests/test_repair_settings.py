"""Settings as text: each platform's commands end the finding and bring none; what is not known has no diff, and why."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from rules import ecmp_polarization
from tests.metrics_pages import published
from truerail.analysis.published import Published
from truerail.analysis.rule import Case
from truerail.model import Device, Finding, Neighbor, NetLink, PortQos, Role, Severity, Snapshot
from truerail.model.facts import Fact
from truerail.outputs.options import Options
from truerail.outputs.port_settings import Setting, setting_commands
from truerail.questions.answers.repair_diff import repair_diff
from truerail.questions.answers.repair_settings import setting_changes
from truerail.questions.repair_diff import SettingChange
from truerail.questions.text import answer_text
from truerail.testing.cases import scene
from truerail.views.view import view_of

SWITCHES = ("cumulus", "sonic", "eos", "nxos", "junos")
PORTS = {"sonic": "Ethernet{}", "eos": "Ethernet{}/1", "nxos": "Ethernet1/{}", "junos": "et-0/0/{}", "cumulus": "swp{}"}
READ = {
    "mtu": r"(?:mtu|link mtu) (?:dev )?(?:Ethernet\d+ )?(\d+)$",
    "trust": r"(?:--trust|qos trust) (\w+)$",
    "pause": r"(?:flowcontrol receive (\w+)|ethtool -A \S+ rx (\w+)|ether-options (no-)?flow-control)",
    "pfc": r"(?:pfc priority \S+ (\d) (on|off)|priority-flow-control priority (\d) (no-drop|drop))$",
    "bits": r"--pfc ([01,]+)$",
}


def fabric(platform: str, facts: Mapping[str, Sequence[Fact]]) -> Published:
    """Four hosts on two leaves of a platform, with these answers."""
    port = PORTS[platform].format
    plan = "\n".join(
        f"gpu-{host}/nic{rail} leaf-{rail}/{port(host)} rail={rail}" for host in range(1, 5) for rail in (0, 1)
    )
    round = scene(Case("", plan, facts))
    platforms = {Role.HOST: "linux", Role.LEAF: platform}
    devices = {name: replace(one, platform=platforms[one.role]) for name, one in round.plan.devices.items()}
    return published(replace(round.plan, devices=devices), round.snapshot)


def nics(**more: Any) -> dict[str, list[Fact]]:
    return {
        f"gpu-{host}": [PortQos(f"nic{rail}", "dscp", (3,), (3,), False) for rail in (0, 1)] for host in range(1, 5)
    }


def applied(before: Published, change: SettingChange) -> Published:
    """The fabric after the commands of a change, as a device of the platform reads them."""
    ((platform, lines),) = change.commands.items()
    readings = []
    for reading in before.snapshot.readings:
        facts = [after(fact, platform, lines) for fact in reading.facts]
        readings.append(structs.replace(reading, facts=tuple(facts)) if reading.device == change.device else reading)
    return published(before.plan, Snapshot(before.snapshot.at, readings))


def after(fact: Fact, platform: str, lines: Sequence[str]) -> Fact:
    """A port's fact once the lines for it were pasted."""
    name = fact.netdev if isinstance(fact, NetLink) else fact.port if isinstance(fact, PortQos) else ""
    at = ""
    for line in lines:
        at = line.removeprefix("interface ") if line.startswith("interface ") else at
        if name not in (at, *line.split()):
            continue
        found = {key: re.search(pattern, line) for key, pattern in READ.items()}
        if isinstance(fact, NetLink) and found["mtu"]:
            fact = fact._replace(mtu=int(found["mtu"][1]))
        elif isinstance(fact, PortQos):
            fact = qos(fact, found)
    return fact


def qos(fact: PortQos, found: Mapping[str, re.Match[str] | None]) -> PortQos:
    if match := found["trust"]:
        return fact._replace(trust="pcp" if match[1] == "cos" else match[1])
    if match := found["pause"]:
        return fact._replace(global_pause=match[3] is None and "on" in match.groups())
    if match := found["bits"]:
        return fact._replace(pfc_priorities=tuple(n for n, bit in enumerate(match[1].split(",")) if bit == "1"))
    if match := found["pfc"]:
        priority, word = (one for one in match.groups() if one is not None)
        others = {*(fact.pfc_priorities or ())} - {int(priority)}
        return fact._replace(
            pfc_priorities=tuple(sorted(others | ({int(priority)} if word in ("on", "no-drop") else set())))
        )
    return fact


def changes(before: Published, rule: str) -> list[SettingChange]:
    """What `repair-diff` has for the findings of a rule."""
    ids = {one.id for one in before.evaluation.findings if one.rule == rule}
    return [change for repair in repair_diff(before, "").repairs for change in repair.settings if change.finding in ids]


def left(one: Published) -> set[tuple[str, str]]:
    """Rule and subject of each finding."""
    return {(finding.rule, finding.subject) for finding in one.evaluation.findings}


def leaf(platform: str, odd: Mapping[str, Any]) -> dict[str, list[Fact]]:
    """The leaves, on one port of which the settings differ."""
    ports = [PORTS[platform].format(host) for host in range(1, 5)]
    right = [PortQos(port, "dscp", (3,), None, False) for port in ports]
    return {"leaf-0": [*right[:3], right[3]._replace(**odd)], "leaf-1": list(right)}


@pytest.mark.parametrize(
    ("platform", "odd"),
    [
        ("sonic", {"pfc_priorities": (4,)}),
        ("sonic", {"pfc_priorities": ()}),
        ("eos", {"pfc_priorities": (3, 4)}),
        ("eos", {"pfc_priorities": (), "trust": "pcp", "global_pause": True}),
        ("nxos", {"global_pause": True}),
        ("junos", {"global_pause": True}),
    ],
)
def test_a_switch_port_gets_the_settings_of_its_peers(platform: str, odd: Mapping[str, Any]) -> None:
    before = fabric(platform, {**nics(), **leaf(platform, odd)})
    wrong = {one for one in left(before) if one[0] == "CFG001"}
    assert wrong
    (change,) = changes(before, "CFG001")
    assert change.no_diff == ()
    assert left(applied(before, change)) == left(before) - wrong


@pytest.mark.parametrize("platform", ["cumulus", "nxos", "junos"])
def test_where_a_profile_is_needed_there_is_no_diff_and_the_reason(platform: str) -> None:
    before = fabric(platform, {**nics(), **leaf(platform, {"pfc_priorities": (4,)})})
    (change,) = changes(before, "CFG001")
    assert change.commands == {}
    (reason,) = change.no_diff
    assert reason.startswith(f"PFC of {PORTS[platform].format(4)} on {platform}: ")
    assert f"No diff for leaf-0: {reason}" in answer_text(repair_diff(before, ""), Options(200))


def test_a_host_gets_the_settings_of_its_peers() -> None:
    odd = [PortQos(f"nic{rail}", "pcp", (), (0,), True) for rail in (0, 1)]
    before = fabric("sonic", {**nics(), "gpu-4": odd})
    (change,) = changes(before, "CFG001")
    (lines,) = change.commands.values()
    assert lines[0] == 'test "$(hostname -s)" = gpu-4 && {'
    assert "sudo mlnx_qos -i nic1 --pfc 0,0,0,1,0,0,0,0" in lines
    assert "echo 1 | sudo tee /sys/class/net/nic0/ecn/roce_np/enable/3" in lines
    assert "echo 0 | sudo tee /sys/class/net/nic0/ecn/roce_rp/enable/0" in lines
    done = applied(before, change).evaluation.findings
    assert [one.observed for one in done if one.rule == "CFG001"] == ["ECN on 0"]  # sysfs is not read back here


def test_two_ends_without_a_majority_have_no_diff() -> None:
    before = fabric("sonic", {"gpu-1": [PortQos("nic0", "dscp", (3,))], "leaf-0": [PortQos("Ethernet1", "pcp", (3,))]})
    (change,) = changes(before, "CFG001")
    assert change.commands == {}
    assert change.no_diff == ("trust: the two ends differ, and no majority shows which is right",)


@pytest.mark.parametrize("platform", SWITCHES)
def test_mtu_of_nic_and_port(platform: str) -> None:
    links = {f"gpu-{host}": [NetLink("nic0", mtu=9000 if host < 4 else 1500)] for host in range(1, 5)}
    port = PORTS[platform].format
    ports = [NetLink(port(host), mtu=1500 if host == 1 else 9214) for host in range(1, 5)]
    before = fabric(platform, {**links, "leaf-0": ports})
    assert {("LNK002", "gpu-1/nic0"), ("LNK002", "gpu-4/nic0")} <= left(before)
    now = before
    for change in changes(before, "LNK002"):
        now = applied(now, change)
    assert left(now) == {one for one in left(before) if one[0] != "LNK002"}


def test_an_mtu_that_no_port_takes_has_no_diff() -> None:
    facts = {"gpu-1": [NetLink("nic0", mtu=16000)], "leaf-0": [NetLink("Ethernet1/1", mtu=9214)]}
    (change,) = changes(fabric("eos", facts), "LNK002")
    assert (change.device, change.commands) == ("leaf-0", {})
    assert change.no_diff == ("MTU of Ethernet1/1: no port takes 16000, 9214 at most",)


@pytest.mark.parametrize("platform", SWITCHES)
def test_descriptions_name_the_planned_ends(platform: str) -> None:
    """Descriptions of an earlier plan, one port off, and what each platform's commands make of them."""
    port = PORTS[platform].format

    def heard(texts: Mapping[str, str]) -> Published:
        facts = {
            f"gpu-{n}": [Neighbor("nic0", None, None, "leaf-0", port(n), "ifname", port_description=texts[port(n)])]
            for n in range(1, 5)
        }
        return fabric(platform, facts)

    before = heard({port(n): f"gpu-{n % 4 + 1}:nic0" for n in range(1, 5)})
    assert {("CAB010", "leaf-0")} <= left(before)
    (change,) = changes(before, "CAB010")
    ((named, lines),) = change.commands.items()
    assert (named, change.no_diff) == (platform, ())
    form = r"(?:interface|interfaces|'PORT\|)\s*([\w/-]+)'?\s+description ['\"]?([\w:-]+)"
    done = heard(dict(re.findall(form, "\n".join(lines))))
    assert left(done) == left(before) - {("CAB010", "leaf-0")}


def finding(rule: str, subject: str, **detail: Any) -> Finding:
    return Finding(rule, "name", Severity.WARNING, subject, "summary", "action", detail=tuple(detail.items()))


def test_each_tier_has_a_hash_seed_of_its_own() -> None:
    plan = "gpu-1/nic0 leaf-0/p1 rail=0\nleaf-0/p9 spine-0/p1\nspine-0/p9 superspine-0/p1"
    view = view_of(published(scene(Case("", plan, {})).plan, Snapshot(scene(Case("", plan, {})).snapshot.at, [])))
    devices = ("leaf-0", "spine-0", "superspine-0")
    found = [setting_changes(view, [finding("LBL001", device)])[0] for device in devices]
    assert all(set(one.commands) == {"cumulus", "nxos", "junos"} for one in found)
    seeds = [
        {re.findall(r"(?:hash-seed|universal-id) (\d+)", "\n".join(lines))[0] for lines in one.commands.values()}
        for one in found
    ]
    assert all(len(one) == 1 for one in seeds)
    assert len(set.union(*seeds)) == 3
    assert "maintenance window" in found[0].warning
    assert [reason.partition(":")[0] for reason in found[0].no_diff] == ["hash seed on sonic", "hash seed on eos"]
    (host,) = setting_changes(view, [finding("LBL001", "gpu-1")])
    assert (dict(host.commands), host.warning) == ({}, "")


def test_the_cause_of_polarization_has_the_seed_of_each_of_its_switches() -> None:
    round = scene(ecmp_polarization.FIRES[0])
    before = published(round.plan, round.snapshot, round.counters)
    (repair,) = [one for one in repair_diff(before, "").repairs if one.kind == "ecmp-polarization"]
    assert {change.device for change in repair.settings} == {f"spine-{n}" for n in range(4)}
    text = answer_text(repair_diff(before, repair.id), Options(100))
    assert text.count("nv set system forwarding hash-seed 202") == 4
    assert "All flows are rehashed" in text


def test_other_findings_say_what_is_missing() -> None:
    view = view_of(fabric("eos", {}))
    (pause,) = setting_changes(view, [finding("PFC005", "leaf-0/Ethernet1/1", priorities=[4], global_pause=True)])
    assert "flowcontrol send off" in pause.commands["eos"]
    assert pause.no_diff[0].startswith("PFC priorities: ")
    (address,) = setting_changes(view, [finding("CFG002", "gpu-1/nic0")])
    assert address.no_diff[0].startswith("address: the plan has the subnet")
    (strange,) = setting_changes(view, [finding("LBL001", "leaf-9")])
    assert strange.no_diff[-1] == "the plan does not have this device"


@pytest.mark.parametrize(
    ("platform", "setting"),
    [
        ("eos", Setting("mtu", 9000, port="Ethernet1\nreload")),
        ("linux", Setting("mtu", 9000, port="eth0; reboot")),
        ("sonic", Setting("mtu", 9000, port="etp1")),
        ("eos", Setting("description", "to leaf-1\nreload", port="Ethernet1")),
        ("cumulus", Setting("description", 'x" && reboot "', port="swp1")),
        ("sonic", Setting("watchdog", "drop", port="Ethernet0")),
    ],
)
def test_a_foreign_text_is_in_no_command(platform: str, setting: Setting) -> None:
    role = Role.HOST if platform == "linux" else Role.LEAF
    made = setting_commands(Device("one", role, platform=platform), [setting])
    assert made.lines == {}
    assert len(made.no_diff) == 1
    assert "\n" not in made.no_diff[0]
