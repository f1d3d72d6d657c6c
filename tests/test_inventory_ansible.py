"""Ansible inventories, INI and YAML: the same groups in both say the same; expected values are ansible-inventory's."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.deploying import passes, tool
from truerail.inventory import Inventory, load_inventory
from truerail.model import Target

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
