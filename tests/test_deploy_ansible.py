"""The playbook and its roles, as ansible-lint and ansible-playbook evaluate them."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploying import DEPLOY, document, passes, tool
from tests.each import each

FOLDER = DEPLOY / "ansible"
ROLES = sorted(path for path in (FOLDER / "roles").iterdir())


def ansible(name: str, *arguments: object, home: Path, cwd: Path = FOLDER) -> Any:
    """Runs a tool of Ansible with a home of its own, so that neither settings nor caches of this machine count."""
    return tool(name, *arguments, cwd=cwd, HOME=str(home), ANSIBLE_HOME=str(home / "ansible"), NO_COLOR="1")


def test_ansible_lint_finds_nothing_in_its_strictest_profile_but_in_a_bad_task_beside(tmp_path: Path) -> None:
    copy = tmp_path / "ansible"
    shutil.copytree(FOLDER, copy)
    bad = "roles/truerail_bus/tasks/bad.yml"  # a playbook would be checked by a process of its own
    (copy / bad).write_text("---\n- command: ls\n")
    strictly = ("--offline", "--strict", "--profile", "production", "-f", "json")
    done = ansible("ansible-lint", *strictly, home=tmp_path, cwd=copy)
    assert done.returncode == 2, done.stderr
    found = json.loads(done.stdout)
    assert {one["location"]["path"] for one in found} == {bad}, found
    (processed,) = re.findall(r"in (\d+) files processed", done.stderr)
    assert int(processed) > len(list(FOLDER.rglob("*.yml")))


@each(
    "inventory, hosts",
    [
        ("inventory.example.yml", ["74", "64", "0", "1", "0", "0"]),
        ("inventory.bus.example.yml", ["0", "0", "3", "2", "2", "4"]),
    ],
)
def test_the_playbook_is_understood_with_the_examples_of_inventories(
    inventory: str, hosts: list[str], tmp_path: Path
) -> None:
    """To list hosts, all plays, roles and tasks are read, as by --syntax-check."""
    listed = passes(ansible("ansible-playbook", "-i", inventory, "site.yml", "--list-hosts", home=tmp_path))
    assert re.findall(r"hosts \((\d+)\):", listed) == hosts


def test_each_role_of_a_bus_runs_its_own_unit_with_all_servers(tmp_path: Path) -> None:
    """The role's defaults, with the variables of the example's hosts."""
    units = {
        "judge-1.example.net": "truerail-judge.service",
        "front-2.example.net": "truerail-front.service",
        "poller-dc2-1.example.net": "truerail-poller@dc2.service",
    }
    defaults = tmp_path / "roles" / "truerail_service" / "defaults"
    defaults.mkdir(parents=True)
    shutil.copy(FOLDER / "roles" / "truerail_service" / "defaults" / "main.yml", defaults)
    names = ("inventory_hostname", "truerail_service_file", "truerail_service_name")
    shown = " ".join(f"{{{{ {name} }}}}" for name in (*names, "truerail_service_bus | join(',')"))
    task = {"ansible.builtin.debug": {"msg": shown}}
    play = {"hosts": ":".join(units), "gather_facts": False, "roles": ["truerail_service"], "tasks": [task]}
    (tmp_path / "show.yml").write_text(yaml.safe_dump([play]))
    show = ("ansible-playbook", "-i", FOLDER / "inventory.bus.example.yml", "show.yml")
    found = re.findall(r'"msg": "(\S+) (\S+) (\S+) (\S+)"', passes(ansible(*show, home=tmp_path, cwd=tmp_path)))
    assert {host: name for host, _, name, _ in found} == units
    assert all((DEPLOY / "systemd" / file).exists() for _, file, _, _ in found)
    assert {bus for *_, bus in found} == {",".join(f"tls://bus-{number}.example.net:4222" for number in (1, 2, 3))}


@pytest.mark.parametrize("role", ROLES, ids=lambda path: path.name)
def test_every_variable_of_a_role_is_declared_with_its_type(role: Path) -> None:
    declared = set(document(role / "meta" / "argument_specs.yml")["argument_specs"]["main"]["options"])
    defaults = set(document(role / "defaults" / "main.yml"))
    assert declared == defaults
    example = "".join(path.read_text() for path in FOLDER.glob("inventory*.example.yml"))
    assert set(re.findall(rf"({role.name}_\w+):", example)) <= declared


@pytest.mark.parametrize("role", ROLES, ids=lambda path: path.name)
def test_every_file_that_a_role_copies_is_there(role: Path) -> None:
    text = "".join(path.read_text() for path in (role / "tasks").glob("*.yml"))
    for source in re.findall(r"^ +src: (\S+)$", text, re.MULTILINE):
        assert list((role / "files").glob(source)) or list((role / "templates").glob(source)), source
    for source in re.findall(r'src: "\{\{ role_path \}\}/(.+)"', text):
        wanted = re.sub(r"\{\{.*?\}\}", "*", source)
        assert list((role / "tasks").glob(f"../{wanted}")) or (role / source).exists(), source


def test_secrets_are_not_logged() -> None:
    tasks = document(FOLDER / "roles" / "truerail_service" / "tasks" / "configure.yml")
    reported = [task for task in tasks if "truerail_service_credentials" in str(task)]
    assert [task.get("no_log") for task in reported] == [True]
