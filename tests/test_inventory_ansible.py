"""Ansible inventories, INI and YAML: the same groups in both say the same; expected values are ansible-inventory's."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.deploying import passes, tool
from truerail.inventory import Inventory, load_inventory
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
