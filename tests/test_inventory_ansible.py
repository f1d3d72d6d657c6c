"""Ansible inventories, INI and YAML: the same groups in both say the same; expected values are ansible-inventory's."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.deploying import passes, tool
from truerail.inventory import Inventory, InventoryError, load_inventory
from truerail.model import Role, Target

SECRET = "hunter2"
INI = (Path(__file__).parent / "inventories" / "ansible.ini").read_text()
YAML = (Path(__file__).parent / "inventories" / "ansible.yaml").read_text()


def loaded(tmp_path: Path, text: str, name: str = "hosts") -> Inventory:
    path = tmp_path / name
    path.write_text(text)
    inventory = load_inventory(path)
    assert SECRET not in repr(inventory)
    return inventory


def reported(tmp_path: Path, text: str, name: str = "hosts") -> list[str]:
    with pytest.raises(InventoryError) as caught:
        loaded(tmp_path, text, name)
    assert SECRET not in repr(caught.value) + repr(caught.value.problems)
    return [line.removeprefix(f"{tmp_path}/") for line in str(caught.value).splitlines()]


def by_name(inventory: Inventory) -> dict[str, Target]:
    return {target.name: replace(target, file="", line=0) for target in inventory.targets}


def test_ini_groups_variables_and_ranges(tmp_path: Path) -> None:
    inventory = loaded(tmp_path, INI)
    found = by_name(inventory)
    said = {name: (one.role, one.platform, one.ssh.user, one.ssh.port) for name, one in found.items()}
    assert said == {
        "bastion": (None, "", "ops", 22),
        **{f"gpu00{n}": (Role.HOST, "", "podder", 2222) for n in range(1, 5)},
        "gpu-x": (Role.HOST, "", "podder", 22),
        **{f"leaf-{n}.dc": (Role.LEAF, "cumulus", "cumulus", 830) for n in range(4)},
        **{f"t{letter}": (Role.LEAF, "", "ops", 22) for letter in "abc"},
        **{f"n{n}": (Role.LEAF, "", "ops", 22) for n in (1, 5, 9)},
        "spine-1": (Role.SPINE, "eos", "admin", 22),
        "spine-2": (Role.SPINE, "", "cumulus", 22),
    }
    assert found["bastion"].address == "10.9.9.9"
    assert found["gpu001"].address == "gpu001"
    assert (found["gpu-x"].address, found["gpu-x"].ssh.key, found["gpu-x"].ssh.jump) == (
        "10.0.0.9",
        "~/.ssh/k",
        ("ops@b",),
    )
    assert {target.name: target.line for target in inventory.targets}["gpu003"] == 7


def test_yaml_says_the_same_as_ini(tmp_path: Path) -> None:
    assert by_name(loaded(tmp_path, YAML, "hosts.yaml")) == by_name(loaded(tmp_path, INI))


@pytest.mark.parametrize(("text", "name"), [(INI, "hosts.ini"), (YAML, "hosts.yml")])
def test_the_real_ansible_reads_the_same(tmp_path: Path, text: str, name: str) -> None:
    (tmp_path / name).write_text(text.replace("!vault ", ""))
    command = ("ansible-inventory", "-i", name, "--list")
    listed = passes(tool(*command, cwd=tmp_path, HOME=str(tmp_path), ANSIBLE_HOME=str(tmp_path / "ansible")))
    real = {host: {"ansible_port": 22, **said} for host, said in json.loads(listed)["_meta"]["hostvars"].items()}
    ours = {target.name: target for target in load_inventory(tmp_path / name).targets}
    assert {
        host: (said.get("ansible_host", host), said["ansible_user"], said["ansible_port"])
        for host, said in real.items()
    } == {host: (target.address, target.ssh.user, target.ssh.port) for host, target in ours.items()}


@pytest.mark.parametrize(("text", "name"), [(INI, "hosts.ini"), (YAML, "hosts.yml")])
def test_passwords_are_never_read_and_a_note_says_so(tmp_path: Path, text: str, name: str) -> None:
    notes = "\n".join(loaded(tmp_path, text, name).notes)
    assert "ansible_password is never read (all)" in notes
    assert "ansible_become_pass is never read (switches" in notes
    assert "spine-2: ansible_network_os is oddos, which is unknown" in notes


def test_what_is_not_read_is_noted(tmp_path: Path) -> None:
    (tmp_path / "group_vars").mkdir()
    text = "[gpus]\na ansible_user={{me}} ansible_ssh_common_args='-o ProxyCommand=\"sshpass -p hunter2 ssh\"'\n"
    inventory = loaded(tmp_path, text + "b\n[leaves]\nb\n")
    assert inventory.notes == (
        "a: the user is a template and is not read",
        "a: ansible_ssh_common_args is not read, but for a plain ProxyJump",
        "b: its groups gpus, leaves disagree about the role",
        "group_vars beside the file is not read",
    )
    assert by_name(inventory)["b"].role is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[gpus]\ngpu[3:1]\n", "hosts:2: the range [3:1] runs backwards (value 'gpu[3:1]')"),
        ("[gpus]\ngpu[01:100]\n", "hosts:2: [01:100]: both ends of a padded range need as many digits (value 'gpu[01:100]')"),  # noqa: E501 - one case a line
        ("[gpus]\ngpu[1-3]\n", "hosts:2: expected a range such as [01:64] or [a:f] (value 'gpu[1-3]')"),
        ("[gpus]\ngpu[1:999999999]\n", "hosts:2: expands to more names than a file may hold (1,000,000 in all) (value 'gpu[1:999999999]')"),  # noqa: E501 - one case a line
        ("[gpus]\na hunter2\n", "hosts:2: expected key=value after the host's name"),
        ("[gpus]\na ansible_password='hunter2\n", "hosts:2: a quote is not closed"),
        ("[gpus:vars]\nansible_password hunter2\n[gpus]\na\n", "hosts:2: expected key=value"),
        ("[gpus:vasr]\nx=1\n[gpus]\na\n", "hosts:1: expected [group], [group:vars] or [group:children] (value 'vasr')"),
        ("[gpus]\na\n[leafs:vars]\nx=1\n", "hosts:3: variables for a group that no section declares (value 'leafs')"),
        ("[gpus]\na\n[pod:children]\ngpu\n", "hosts:4: no group of this name, did you mean 'gpus'? (value 'gpu')"),
        ("[a:children]\nb\n[b:children]\na\n", "hosts:1: the group contains itself (value 'a')"),
        ("[gpus]\na ansible_port=70000\n", "hosts:2: expected a port from 1 to 65535 (value '70000')"),
        ("[gpus]\na ansible_host={{x}}\n", "hosts:2: a template as address of a; plain values only are read"),
        ("[gpus]\na ansible_host=ops:hunter2@h\n", "hosts:2: expected a host name or an IP address"),
        ("[gpus]\na ansible_user=ops:hunter2\n", "hosts:2: expected a login name, without a password"),
        ("[gpus]\n../a\n", "hosts:2: a device's name must not be a path (value '../a')"),
        ("[gpus]\n", "hosts: no host"),
    ],
)  # fmt: skip
def test_ini_fault(tmp_path: Path, text: str, expected: str) -> None:
    assert expected in reported(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gpus: {hosts: [a]}\n", "h.yaml:1: expected a mapping of hosts, found a list"),
        ("gpus: {hosts: {a: hunter2}}\n", "h.yaml:1: expected a mapping of variables, found a value"),
        ("gpus: {hosts: {a: }, host: x}\n", "h.yaml:1: expected one of hosts, children, vars in the group gpus (value 'host')"),  # noqa: E501 - one case a line
        ("gpus: {hosts: {a: {ansible_password: !hunter2 x}}}\n", "h.yaml:1: a tag; plain values only are read"),
    ],
)  # fmt: skip
def test_yaml_fault(tmp_path: Path, text: str, expected: str) -> None:
    assert reported(tmp_path, text, "h.yaml") == [expected]


def test_the_variable_of_truerails_own_role_goes_before_ansibles(tmp_path: Path) -> None:
    text = """\
[compute]
gpu-[1:2]
[switches]
leaf-1 ansible_network_os=arista.eos.eos
leaf-2
leaf-3 truerail_device_platform=toaster
[switches:vars]
truerail_device_platform=sonic
[compute_managers]
ufm-1
[compute_managers:vars]
truerail_device_platform=infiniband
"""
    inventory = loaded(tmp_path, text)
    platforms = {name: target.platform for name, target in by_name(inventory).items()}
    assert platforms == {
        "gpu-1": "",
        "gpu-2": "",
        "leaf-1": "sonic",
        "leaf-2": "sonic",
        "leaf-3": "",
        "ufm-1": "infiniband",
    }
    assert by_name(inventory)["ufm-1"].tells_fabric
    summary = "leaf-3: truerail_device_platform is toaster, which is unknown; the platform is probed instead"
    assert summary in inventory.notes
