"""Native YAML inventories: what they say, what is wrong with them, and that no secret is ever shown."""

from dataclasses import replace
from pathlib import Path

import pytest

from truerail.inventory import Inventory, InventoryError, dump_yaml, load_inventory
from truerail.model import Target

SECRET = "hunter2"
EXAMPLE = (Path(__file__).parent / "inventories" / "native.yaml").read_text()


def loaded(tmp_path: Path, text: str, name: str = "inventory.yaml") -> Inventory:
    path = tmp_path / name
    path.write_text(text)
    return load_inventory(path)


def reported(tmp_path: Path, text: str, name: str = "inventory.yaml") -> list[str]:
    with pytest.raises(InventoryError) as caught:
        loaded(tmp_path, text, name)
    assert SECRET not in repr(caught.value) + repr(caught.value.problems)
    return [line.removeprefix(f"{tmp_path}/") for line in str(caught.value).splitlines()]


def values(inventory: Inventory) -> list[Target]:
    return [replace(target, file="", line=0) for target in inventory.targets]


def test_what_is_dumped_loads_to_the_same_targets(tmp_path: Path) -> None:
    inventory = loaded(tmp_path, EXAMPLE)
    text = dump_yaml(inventory)
    assert '{name: "gpu-[001-064]"' not in text, "units differ: an entry each"
    assert '{name: "leaf-[0-7]", address: "10.0.2.[1-8]"' in text
    assert values(loaded(tmp_path, text, "again.yaml")) == values(inventory)


def test_a_rack_that_would_read_as_a_node_set_is_not_dumped() -> None:
    targets = (Target("a", "10.0.0.1", rack="row [1, 2]"), Target("b", "10.0.0.2", rack="r,1"))
    assert "rack" not in dump_yaml(Inventory(targets))


def test_the_transport_of_the_defaults_is_for_switches(tmp_path: Path) -> None:
    text = (
        "defaults: {transport: gnmi, gnmi: {ca: c}}\ndevices:\n  - {name: h, role: host}\n  - {name: l, role: leaf}\n"
    )
    text += "  - {name: s, role: spine, transport: ssh}\n  - {name: u, platform: infiniband}\n"
    assert [(target.name, target.by_gnmi, bool(target.gnmi)) for target in loaded(tmp_path, text).targets] == [
        ("h", False, False),
        ("l", True, True),
        ("s", False, False),
        ("u", False, False),
    ]


def test_devices_are_chosen_by_name(tmp_path: Path) -> None:
    path = tmp_path / "inventory.yaml"
    path.write_text(EXAMPLE)
    assert [target.name for target in load_inventory(path, ["leaf-3", "gpu-001"]).targets] == ["leaf-3", "gpu-001"]
    with pytest.raises(InventoryError, match=r"no such device, did you mean 'leaf-3'\? \(value 'leaf3'\)"):
        load_inventory(path, ["leaf3"])


def test_two_devices_with_one_address_are_noted(tmp_path: Path) -> None:
    text = 'devices:\n  - {name: "a[1-5]", address: 10.0.0.[1-4,1]}\n'
    notes = loaded(tmp_path, text.replace("10.0.0.[1-4,1]", '"10.0.0.[1-4,1]"')).notes
    assert notes == ("a1, a5 have the same address, 10.0.0.1",)


def test_a_secret_is_read_when_used_and_shown_by_no_repr_or_dump(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRIV", SECRET)
    inventory = loaded(tmp_path, EXAMPLE)
    snmp = next(target.snmp for target in inventory.targets if target.snmp)
    assert snmp
    assert snmp.privacy
    assert snmp.privacy.read() == SECRET
    assert SECRET not in repr(inventory) + str(inventory) + dump_yaml(inventory)


def test_all_faults_are_reported_at_once_those_of_defaults_once(tmp_path: Path) -> None:
    entries = "  - {name: a, role: x}\n  - {name: b, port: y}\n  - {name: a}\n"
    lines = reported(tmp_path, f"defaults: {{port: 99999, colour: red}}\ndevices:\n{entries}")
    assert [line.split(": ")[0] for line in lines] == [f"inventory.yaml:{n}" for n in (1, 1, 3, 4, 5)]
    assert lines[-1] == "inventory.yaml:5: a duplicate device, first in line 3 (value 'a')"


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InventoryError, match=r"none\.yaml: cannot be read: No such file or directory"):
        load_inventory(tmp_path / "none.yaml")


def test_a_host_that_tells_its_fabric_stands_there_twice_and_no_address_is_doubted(tmp_path: Path) -> None:
    text = """\
defaults: {role: host, user: truerail}
devices:
  - {name: "gpu-[1-2]", address: "10.0.0.[1-2]"}
  - {name: gpu-1-fabric, address: 10.0.0.1, platform: infiniband, user: truerail-fabric}
"""
    inventory = loaded(tmp_path, text)
    assert not inventory.notes
    assert [target.name for target in inventory.targets if target.tells_fabric] == ["gpu-1-fabric"]
    assert values(loaded(tmp_path, dump_yaml(inventory))) == values(inventory)
    again = text.replace("gpu-1-fabric, address", "ufm-1, platform: infiniband}\n  - {name: ufm-2, address")
    twice = again.replace("ufm-1,", "ufm-1, address: 10.0.0.1,")
    assert loaded(tmp_path, twice).notes == ("ufm-1, ufm-2 have the same address, 10.0.0.1",)
